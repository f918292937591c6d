/**
 * What can be wrong with the words and the records of a `RecordRing`.
 *
 * @module
 */

import type { WordsProblems } from "../_memory/problems.ts";
import {
  bytesFor,
  CAPACITY,
  CLAIMANT,
  CONSUMER,
  DATA,
  HEAD,
  MANY_CONSUMERS,
  ONE_PRODUCER,
  OWNER_MASK,
  POSITION_MASK,
  ROLES,
  spaceFor,
  TAIL,
} from "./record_core.ts";

/** The most records that `inspect` looks at. */
const MOST_RECORDS = 4096;

/** The facts by which `inspect` finds problems. */
export const RECORD_PROBLEMS: WordsProblems = {
  byteLength: (capacity, roles) => bytesFor(capacity, roles),
  behind: (region, tell) => {
    const roles = region[ROLES]!;
    const claimant = Atomics.load(region, CLAIMANT);
    if ((claimant & OWNER_MASK) !== 0 && (roles & ONE_PRODUCER) === 0) {
      const text = "This agent makes room for a record, and has not ended.";
      tell(CLAIMANT, "claimant", claimant, text, "claimed");
    }
    const consumer = Atomics.load(region, CONSUMER);
    if ((consumer & OWNER_MASK) !== 0 && (roles & MANY_CONSUMERS) !== 0) {
      const text = "This agent reads a record, and has not ended.";
      tell(CONSUMER, "consumer", consumer, text, "claimed");
    }
    const capacity = region[CAPACITY]!;
    let at = Atomics.load(region, HEAD);
    const tail = Atomics.load(region, TAIL) & POSITION_MASK;
    for (let i = 0; i < MOST_RECORDS; i++) {
      const used = tail - at | 0;
      if (used <= 0 || used > capacity || (at & 7) !== 0) return;
      const place = at & capacity - 1;
      const first = Atomics.load(region, DATA + (place >> 2));
      const space = spaceFor(first >>> 2);
      if ((first & 3) === 0 || space > Math.min(used, capacity - place)) {
        const text = "This length or this state is impossible.";
        return tell(DATA + (place >> 2), `record at ${place}`, first, text);
      }
      at = at + space | 0;
    }
  },
};
