/**
 * What the words of a primitive never say. `deno task layout` writes it from
 * `tests/project/_rules.ts`, as it writes the C twin.
 * C twin: `_inspect_rules.h`.
 *
 * @module
 */

import type { Stem } from "../_memory/layout.ts";
import type { Check } from "../_memory/problems.ts";

/** By the primitive. */
export const RULES: Readonly<Partial<Record<Stem, Check>>> = {
  mutex: (words, tell) => {
    const state = words[0]!;
    const starving = words[1]!;
    tell(state < 0, 0, "Bit 31 is never set.");
    tell(
      (state & 0x0fff_ffff) !== 0 &&
        ((state & 0x1000_0000) !== 0 ||
          (state & (0x2000_0000 | 0x4000_0000)) === 0x2000_0000),
      0,
      "It names an owner, but also says that there is none.",
    );
    tell((starving & ~1) !== 0, 1, "It must be 0 or 1.");
  },
  rw_lock: (words, tell) => {
    const state = words[0]!;
    const writer = words[2]!;
    const writerStarving = words[3]!;
    const tracked = words[4]!;
    const writes = (state & 0x0400_0000) !== 0;
    const agents = tracked & 255;
    tell(
      writes && (state & 0x1fff) !== 0,
      0,
      "An agent writes while others read.",
    );
    tell(
      writes && (writer & 0x0fff_ffff) === 0,
      0,
      "An agent writes, but `writer` names none.",
    );
    tell(writer < 0, 2, "Bit 31 is never set.");
    tell(
      (writer & 0x0fff_ffff) !== 0 &&
        ((writer & 0x1000_0000) !== 0 ||
          (writer & (0x2000_0000 | 0x4000_0000)) === 0x2000_0000),
      2,
      "It names an owner, but also says that there is none.",
    );
    tell((writerStarving & ~1) !== 0, 3, "It must be 0 or 1.");
    tell(
      tracked !== 0 &&
        (agents === 0 ||
          tracked !== (agents | (agents ^ 255) << 8 | 0x57650000)),
      4,
      "It must be 0, or agents with their complement.",
    );
    tell(
      tracked !== 0 && (state & (0x1fff | 0x03ff_e000)) !== 0,
      0,
      "It counts readers, which are tracked.",
    );
  },
  condition: (words, tell) => {
    const turn = words[0]!;
    const even = words[1]!;
    const odd = words[2]!;
    const second = (turn & 2) !== 0;
    tell(
      (turn & 1) === 0 && (even < 0) !== second,
      1,
      "Its phase differs from the phase in `turn`.",
    );
    tell(
      (turn & 1) !== 0 && (odd < 0) === second,
      2,
      "Its phase differs from the phase in `turn`.",
    );
  },
  semaphore: (words, tell) => {
    const tracked = words[1]!;
    const max = words[2]!;
    const permits = words[4]!;
    const bulk = words[6]!;
    const claimant = words[7]!;
    const claim = words[8]!;
    const left = (permits & -4) >>> 2;
    const counts = tracked === 0;
    const owes = (permits & 3) === 3;
    tell(
      counts && !owes && left > max,
      4,
      "A semaphore never has this number of permits.",
    );
    tell(
      counts && owes && left > 0 && claimant === 0,
      4,
      "`claimant` names nobody.",
    );
    tell(bulk < 0, 6, "There are fewer than 0 waiters.");
    tell((claimant & ~0x0fff_ffff) !== 0, 7, "No agent has this id.");
    tell(
      claim < 0 || claim > 0x3fff_ffff,
      8,
      "A semaphore never has this number of permits.",
    );
    tell(counts && claim > 0 && claimant === 0, 8, "`claimant` names nobody.");
  },
  event: (words, tell) => {
    const state = words[0]!;
    tell(
      (state & 1) !== 0 && state < 0,
      0,
      "Bit 31 is never set if it resets automatically.",
    );
  },
  latch: (words, tell) => {
    const state = words[2]!;
    tell(state < 0, 2, "Bit 31 is never set.");
    tell(state === 1, 2, "It is open, but agents still wait.");
  },
  wait_group: (words, tell) => {
    const state = words[0]!;
    tell(
      (state & (1 | 0x0007_fffe)) === 1,
      0,
      "The count is 0, but agents still wait.",
    );
  },
  barrier: (words, tell) => {
    const parties = words[1]!;
    const tracked = words[2]!;
    const state = words[4]!;
    const counts = tracked === 0;
    const arrived = state & 0xfff;
    const left = (state & 0x00ff_f000) >>> 12;
    tell(counts && left > parties, 4, "There are more parties than `parties`.");
    tell(
      counts && arrived > 0 && arrived >= left,
      4,
      "All parties have arrived, but they do not go on.",
    );
  },
  once: (words, tell) => {
    const state = words[0]!;
    tell(
      (state & ~(0x0fff_ffff | 0x1000_0000 | 0x4000_0000)) !== 0,
      0,
      "Bits 29 and 31 are never set.",
    );
    tell(
      (state & 0x1000_0000) !== 0 && (state & 0x0fff_ffff) !== 0,
      0,
      "The function was run to its end, but an agent runs it.",
    );
  },
  snapshot: (words, tell) => {
    const singleReader = words[2]!;
    const state = words[32]!;
    const writer = words[33]!;
    const reader = words[34]!;
    const middle = state & 3;
    const front = (state & 12) >>> 2;
    tell(
      singleReader === 1 && (middle === front || middle > 2 || front > 2),
      32,
      "It does not name two different copies.",
    );
    tell((writer & ~0x0fff_ffff) !== 0, 33, "No agent has this id.");
    tell((reader & ~0x0fff_ffff) !== 0, 34, "No agent has this id.");
  },
  spsc_queue: (words, tell) => {
    const capacity = words[1]!;
    const tail = words[32]!;
    const headCache = words[33]!;
    const producer = words[34]!;
    const head = words[64]!;
    const tailCache = words[65]!;
    const consumer = words[66]!;
    const end = tail & -4;
    const begin = head & -4;
    const lap = capacity * 4;
    const used = end - begin | 0;
    const since = end - headCache | 0;
    const passed = begin - headCache | 0;
    const seen = tailCache - begin | 0;
    const unseen = end - tailCache | 0;
    tell(
      used < 0 || used > lap,
      64,
      "It is beyond `tail`, or further behind it than the capacity.",
    );
    tell(
      since < 0 || since > lap || passed < 0,
      33,
      "It is not a recent value of the other word.",
    );
    tell(
      seen < 0 || seen > lap || unseen < 0,
      65,
      "It is not a recent value of the other word.",
    );
    tell((producer & ~0x0fff_ffff) !== 0, 34, "No agent has this id.");
    tell((consumer & ~0x0fff_ffff) !== 0, 66, "No agent has this id.");
  },
  mpmc_queue: (words, tell) => {
    const capacity = words[1]!;
    const tail = words[32]!;
    const head = words[64]!;
    const end = tail & ~1;
    const used = end - head | 0;
    const lap = capacity * 2;
    tell((head & 1) !== 0, 64, "It must be even.");
    tell(
      used < 0 || used > lap,
      64,
      "It is beyond `tail`, or further behind it than the capacity.",
    );
  },
  record_ring: (words, tell) => {
    const capacity = words[1]!;
    const tail = words[32]!;
    const claimant = words[33]!;
    const headCache = words[34]!;
    const head = words[64]!;
    const tailCache = words[65]!;
    const consumer = words[66]!;
    const end = tail & ~1;
    const begin = head;
    const lap = capacity;
    const used = end - begin | 0;
    const since = end - headCache | 0;
    const passed = begin - headCache | 0;
    const seen = tailCache - begin | 0;
    const unseen = end - tailCache | 0;
    tell((end & 7) !== 0, 32, "It must be a multiple of 8.");
    tell((head & 7) !== 0, 64, "It must be a multiple of 8.");
    tell(
      used < 0 || used > lap,
      64,
      "It is beyond `tail`, or further behind it than the capacity.",
    );
    tell(
      since < 0 || since > lap || passed < 0,
      34,
      "It is not a recent value of the other word.",
    );
    tell(
      seen < 0 || seen > lap || unseen < 0,
      65,
      "It is not a recent value of the other word.",
    );
    tell(
      (claimant & ~(0x0fff_ffff | 0x1000_0000)) !== 0,
      33,
      "No agent has this id.",
    );
    tell(
      (consumer & ~(0x0fff_ffff | 0x1000_0000)) !== 0,
      66,
      "No agent has this id.",
    );
  },
  broadcast: (words, tell) => {
    const producer = words[34]!;
    tell((producer & ~0x0fff_ffff) !== 0, 34, "No agent has this id.");
  },
  channel: (words, tell) => {
    const codec = words[1]!;
    const place = words[9]!;
    const handoff = words[10]!;
    tell(codec < 1 || codec > 9, 1, "There is no such codec.");
    tell(place < 0 || place % 4 !== 0, 9, "It must be a multiple of 4.");
    tell((handoff & 3) > 2, 10, "There is no such phase.");
  },
  call_ring: (words, tell) => {
    const closed = words[4]!;
    tell((closed & ~1) !== 0, 4, "It must be 0 or 1.");
  },
  work_counter: (words, tell) => {
    const total = words[1]!;
    const tracked = words[4]!;
    const done = words[64]!;
    const target = words[65]!;
    const finished = words[66]!;
    const agents = tracked & 255;
    tell(
      tracked !== 0 &&
        (agents === 0 ||
          tracked !== (agents | (agents ^ 255) << 8 | 0x57650000)),
      4,
      "It must be 0, or agents with their complement.",
    );
    tell(done < 0 || done > total, 64, "It must be 0 to `total`.");
    tell(target < 0 || target > total, 65, "It must be 0 to `total`.");
    tell(finished < 0 || finished > 2, 66, "It must be 0, 1 or 2.");
    tell(
      finished === 2 && done < target && tracked === 0,
      66,
      "It is over, but tasks are not done.",
    );
  },
  work_deque: (words, tell) => {
    const capacity = words[1]!;
    const bottom = words[32]!;
    const owner = words[33]!;
    const top = words[64]!;
    const size = bottom - top | 0;
    tell(
      size < -1 || size > capacity,
      64,
      "It is beyond `bottom`, or further behind it than the capacity.",
    );
    tell(
      owner !== 0x1000_0000 && (owner & ~0x0fff_ffff) !== 0,
      33,
      "No agent has this id.",
    );
  },
};
