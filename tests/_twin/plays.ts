/**
 * The orders of an agent in a twin test, as words in shared memory. They are
 * the same for threads of C (`twin.c`) and of JavaScript (`roles.ts`).
 *
 * @module
 */

/** The words of a play, as `play` in `twin.c`. */
export const PLAY = {
  state: 0,
  role: 1,
  at: 2,
  extra: 3,
  count: 4,
  seed: 5,
  number: 6,
  result: 7,
  failed: 8,
  id: 9,
  length: 10,
} as const;

/** `state` while a play goes on, and when it is over. */
export const BEGUN = 1, OVER = 2;

/** The roles, in the order of `twin.c`. */
export const ROLES = [
  "mutex add",
  "mutex keep",
  "mutex inherit",
  "semaphore use",
  "spsc produce",
  "spsc consume",
  "mpmc produce",
  "mpmc consume",
  "spsc sleep pop",
  "spsc sleep push",
  "mpmc sleep pop",
  "mpmc sleep push",
  "work",
  "work wait",
  "synchronizers use",
  "select consume",
] as const;

/** The part that an agent plays. */
export type Role = (typeof ROLES)[number];

/** Results as `error_number` in `twin.c` lists them. */
export const ERRORS = [
  "EBUSY",
  "ETIMEDOUT",
  "EINVAL",
  "EPIPE",
  "EOWNERDEAD",
  "EDEADLK",
  "EPERM",
  "EOVERFLOW",
] as const;

/** The name of a result that is not 0. */
export type ErrorName = (typeof ERRORS)[number];

/** Emscripten's error numbers; JavaScript answers with them, as C does. */
export const NUMBERS: Record<ErrorName, number> = {
  EBUSY: 10,
  ETIMEDOUT: 73,
  EINVAL: 28,
  EPIPE: 64,
  EOWNERDEAD: 62,
  EDEADLK: 16,
  EPERM: 63,
  EOVERFLOW: 61,
};
