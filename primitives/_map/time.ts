/**
 * The clock by which the entries of a cache expire.
 *
 * A value counts until the word `expires` that lies behind its copy. It is the
 * time of day in milliseconds, modulo 2^32, which all agents of one machine
 * read alike: threads begin to count `performance.now()` at different times,
 * and `Date.now()` at the same one.
 *
 * An operation reads the clock before it looks at an entry. So a value that
 * counted at that time, and that it finds afterwards, was there at that time or
 * came later.
 *
 * @module
 */

/** The clocks of two agents differ by less, in milliseconds. */
const LATE = 1000;

/** The clock in milliseconds. Tests set it. */
export const time = { now: (): number => Date.now() };

/** The clock as a word. */
export const timeNow = (): number => time.now() | 0;

/**
 * Whether a value with this word `expires` counts no longer at `now`. A value
 * cannot count for longer than `ttl`: if it seems so, 25 days have passed, and
 * the difference has wrapped, or the machine's clock was set back.
 */
export function isOver(expires: number, now: number, ttl: number): boolean {
  const left = expires - now | 0;
  return left <= 0 || left > ttl + LATE;
}
