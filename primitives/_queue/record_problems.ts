/**
 * What can be wrong with the words and the records of a `RecordRing`.
 *
 * @module
 */

import {
  NO_AGENT,
  NOT_BEHIND,
  NOT_RECENT,
  type WordsProblems,
} from "../_memory/problems.ts";
import {
  bytesFor,
  CAPACITY,
  CLAIMANT,
  CLOSED_BIT,
  CONSUMER,
  CONTENDED_BIT,
  DATA,
  HEAD,
  HEAD_CACHE,
  MANY_CONSUMERS,
  ONE_PRODUCER,
  OWNER_MASK,
  POSITION_MASK,
  ROLES,
  spaceFor,
  TAIL,
  TAIL_CACHE,
} from "./record_core.ts";

/** The most records that `inspect` looks at. */
const MOST_RECORDS = 4096;

/** The facts by which `inspect` finds problems. */
export const RECORD_PROBLEMS: WordsProblems = {
  byteLength: (capacity, roles) => bytesFor(capacity, roles),
  problems: (words, tell) => {
    const tail = words[TAIL]! & ~CLOSED_BIT;
    const head = words[HEAD]!;
    const most = words[CAPACITY]!;
    const isIn = (used: number) => used >= 0 && used <= most;
    tell((tail & 7) !== 0, TAIL, "It must be a multiple of 8.");
    tell((head & 7) !== 0, HEAD, "It must be a multiple of 8.");
    tell(!isIn(tail - head | 0), HEAD, NOT_BEHIND);
    const { [HEAD_CACHE]: earlier = 0, [TAIL_CACHE]: later = 0 } = words;
    tell(
      !isIn(tail - earlier | 0) || (head - earlier | 0) < 0,
      HEAD_CACHE,
      NOT_RECENT,
    );
    tell(
      !isIn(later - head | 0) || (tail - later | 0) < 0,
      TAIL_CACHE,
      NOT_RECENT,
    );
    const known = OWNER_MASK | CONTENDED_BIT;
    tell((words[CLAIMANT]! & ~known) !== 0, CLAIMANT, NO_AGENT);
    tell((words[CONSUMER]! & ~known) !== 0, CONSUMER, NO_AGENT);
  },
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
