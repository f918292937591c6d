import { mutants } from "../_run/mutant.ts";

/** Mutants of `StripedCounter`. */
export const striped_counter = mutants(
  "striped_counter.ts",
  [
    "adds by a load and a store",
    "const low = Atomics.add(words, at + LOW, n) + n | 0;",
    "const low = Atomics.load(words, at + LOW) + n | 0;\n" +
    "Atomics.store(words, at + LOW, low);",
  ],
  [
    "never carries",
    "if (lag(words[at + HIGH]!, low) !== 0) this.#carry();",
    "",
  ],
  [
    "carries by a store",
    "Atomics.compareExchange(words, at + HIGH, high, high + late | 0);",
    "Atomics.store(words, at + HIGH, high + late | 0);",
  ],
  [
    "carries one, however late it is",
    "Atomics.compareExchange(words, at + HIGH, high, high + late | 0);",
    "Atomics.compareExchange(words, at + HIGH, high, high + 1 | 0);",
  ],
  [
    "adds much at a time",
    "for (; n > SECTOR; n -= SECTOR) this.#step(SECTOR);",
    "",
  ],
  [
    "adds much at a time, below 0",
    "for (; n < -SECTOR; n += SECTOR) this.#step(-SECTOR);",
    "",
  ],
  [
    "a carry is never early",
    "return ((low >>> SECTOR_BITS) - high) << SECTOR_BITS >> SECTOR_BITS;",
    "return ((low >>> SECTOR_BITS) - high) << SECTOR_BITS >>> SECTOR_BITS;",
  ],
  [
    "the low word is signed",
    "return ((low >>> SECTOR_BITS) - high) << SECTOR_BITS >> SECTOR_BITS;",
    "return (low >> SECTOR_BITS) - high;",
  ],
  [
    "knows of no late carries",
    "sum += (high + lag(high, low)) * SECTOR + (low & SECTOR - 1);",
    "sum += high * SECTOR + (low & SECTOR - 1);",
  ],
  [
    "a sum takes what moved meanwhile",
    "if (seen === high) {",
    "if (seen !== undefined) {",
  ],
  [
    "claims are signed",
    "const claims = Atomics.add(words, CLAIMS, 1) >>> 0;",
    "const claims = Atomics.add(words, CLAIMS, 1);",
  ],
);
