/**
 * Sums to which many agents add, each of two words: `low`, the sum modulo 2^32,
 * and `high`, the sum divided by 2^28. Bits 28 to 31 of `low` are the low bits
 * of the true `high`, so a carry may be late.
 *
 * C twin: `_stripes.h`, function by function.
 *
 * @module
 */

type Words = Int32Array<SharedArrayBuffer>;

/** The words of a sum. */
const LOW = 0;
export const HIGH = 1;

/** `high` counts these; the top 4 bits of `low` are its lowest ones. */
const SECTOR_BITS = 28;
/** The largest number that is added in one step. */
export const SECTOR = 0x1000_0000; // 2^SECTOR_BITS

/** Adds `n`, at most `SECTOR` in either direction, to the sum at `at`. */
export function addTo(words: Words, at: number, n: number): void {
  const low = Atomics.add(words, at + LOW, n) + n | 0;
  // The plain read may be stale: then a later `addTo`, or `sumAt`, corrects it.
  if (lag(words[at + HIGH]!, low) !== 0) carry(words, at);
}

/** Brings `high` up to date, unless another agent is faster. */
function carry(words: Words, at: number): void {
  const high = Atomics.load(words, at + HIGH);
  const late = lag(high, Atomics.load(words, at + LOW));
  Atomics.compareExchange(words, at + HIGH, high, high + late | 0);
}

/** What was added to the sum at `at`. */
export function sumAt(words: Words, at: number): number {
  let high = Atomics.load(words, at + HIGH);
  for (;;) {
    const low = Atomics.load(words, at + LOW);
    const seen = Atomics.load(words, at + HIGH);
    if (seen === high) {
      return (high + lag(high, low)) * SECTOR + (low & SECTOR - 1);
    }
    high = seen; // `low` may be far ahead of the old one by now
  }
}

/** Whether the words at `at` can be those of a sum. */
export function isSum(words: Int32Array, at: number): boolean {
  const high = Atomics.load(words, at + HIGH);
  return lag(high, Atomics.load(words, at + LOW)) !== -8;
}

/** How far `high` lags behind, from -8 to 7. */
function lag(high: number, low: number): number {
  return ((low >>> SECTOR_BITS) - high) << SECTOR_BITS >> SECTOR_BITS;
}
