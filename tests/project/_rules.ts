/**
 * What the words of a primitive never say, wherever agents are terminated: the
 * rules by which `inspect` finds problems. `deno task layout` writes them in
 * both languages: `primitives/tools/_rules.ts`, `wasm/weft/_inspect_rules.h`.
 * What lies behind the words is looked at by hand.
 *
 * A rule is an expression that both languages understand. A name is a word, a
 * value that was defined before the rules, or bits in `layout.ts`, whose name
 * is their mask: `OWNER`, or `MUTEX.OWNER` if another primitive has them. Then
 * there are:
 *
 * - `part(state, PARTIES)`: the number that these bits of a word are;
 * - `one(PARTIES)`: the lowest of the bits; `most(PARTIES)`: the most they
 *   hold;
 * - `minus(tail, head)`: the difference of two positions, which wrap around.
 *
 * @module
 */

import type { Stem } from "../../primitives/_memory/layout.ts";

/** The word that is told, when it is wrong, and what is wrong with it. */
export type Rule = readonly [word: string, wrong: string, text: string];

/** The rules of a primitive, in the order in which they are told. */
export interface Rules {
  /** Values by name; one may use those before it. */
  readonly values?: Readonly<Record<string, string>>;
  readonly rules: readonly Rule[];
}

/** A word that is 0 or 1. */
const flag = (word: string): Rule => //
[word, `(${word} & ~1) != 0`, "It must be 0 or 1."];

/** A word that is an agent id or 0, perhaps with a bit. */
const agent = (word: string, bits = "MUTEX.OWNER"): Rule => //
[word, `(${word} & ~${bits}) != 0`, "No agent has this id."];

/** The words of the lock that a mutex is, or that writers have. */
const lock = (state: string, starving: string): Rule[] => [
  [state, `${state} < 0`, "Bit 31 is never set."],
  [
    state,
    // What is offered is contended.
    `(${state} & MUTEX.OWNER) != 0 && ((${state} & MUTEX.ABANDONED) != 0 || ` +
    `(${state} & (MUTEX.HANDOFF | MUTEX.CONTENDED)) == MUTEX.HANDOFF)`,
    "It names an owner, but also says that there is none.",
  ],
  flag(starving),
];

/** That agents are tracked, and how many of them. */
const tracking: Rule = [
  "tracked",
  "tracked != 0 && (agents == 0 || " +
  "tracked != (agents | (agents ^ 255) << 8 | 0x57650000))",
  "It must be 0, or agents with their complement.",
];

const beyond = (tail: string) =>
  `It is beyond \`${tail}\`, or further behind it than the capacity.`;

/** That `size`, how far a head is behind `tail`, is no more than `capacity`. */
const behind = (size: string, capacity: string): Rule => //
["head", `${size} < 0 || ${size} > ${capacity}`, beyond("tail")];

/**
 * Positions that are in order: head_cache, head, tail_cache, tail, and
 * head_cache at most a lap behind tail.
 */
const order: Pick<Required<Rules>, "values" | "rules"> = {
  values: {
    used: "minus(end, begin)",
    since: "minus(end, head_cache)",
    passed: "minus(begin, head_cache)",
    seen: "minus(tail_cache, begin)",
    unseen: "minus(end, tail_cache)",
  },
  rules: [
    behind("used", "lap"),
    [
      "head_cache",
      "since < 0 || since > lap || passed < 0",
      "It is not a recent value of the other word.",
    ],
    [
      "tail_cache",
      "seen < 0 || seen > lap || unseen < 0",
      "It is not a recent value of the other word.",
    ],
  ],
};

const PERMITS = "A semaphore never has this number of permits.";

/** By the primitive; one without rules has only what lies behind its words. */
export const RULES: Readonly<Partial<Record<Stem, Rules>>> = {
  mutex: { rules: lock("state", "starving") },
  rw_lock: {
    values: {
      writes: "(state & WRITING) != 0",
      agents: "tracked & 255",
    },
    rules: [
      [
        "state",
        "writes && (state & READING) != 0",
        "An agent writes while others read.",
      ],
      [
        "state",
        "writes && (writer & MUTEX.OWNER) == 0",
        "An agent writes, but `writer` names none.",
      ],
      ...lock("writer", "writer_starving"),
      tracking,
      [
        "state",
        "tracked != 0 && (state & (READING | PENDING)) != 0",
        "It counts readers, which are tracked.",
      ],
    ],
  },
  condition: {
    values: { second: "(turn & 2) != 0" },
    rules: [
      [
        "even",
        "(turn & 1) == 0 && (even < 0) != second",
        "Its phase differs from the phase in `turn`.",
      ],
      [
        "odd",
        "(turn & 1) != 0 && (odd < 0) == second",
        "Its phase differs from the phase in `turn`.",
      ],
    ],
  },
  semaphore: {
    // If agents are tracked, `permits` has other parts.
    values: {
      left: "part(permits, FREE)",
      counts: "tracked == 0",
      owes: "(permits & WHO) == 3",
    },
    rules: [
      ["permits", "counts && !owes && left > max", PERMITS],
      [
        "permits",
        "counts && owes && left > 0 && claimant == 0",
        "`claimant` names nobody.",
      ],
      ["bulk", "bulk < 0", "There are fewer than 0 waiters."],
      agent("claimant"),
      ["claim", "claim < 0 || claim > most(FREE)", PERMITS],
      [
        "claim",
        "counts && claim > 0 && claimant == 0",
        "`claimant` names nobody.",
      ],
    ],
  },
  event: {
    rules: [[
      "state",
      "(state & AUTO) != 0 && state < 0",
      "Bit 31 is never set if it resets automatically.",
    ]],
  },
  latch: {
    rules: [
      ["state", "state < 0", "Bit 31 is never set."],
      ["state", "state == WAITING", "It is open, but agents still wait."],
    ],
  },
  wait_group: {
    rules: [[
      "state",
      "(state & (WAITING | COUNT)) == WAITING",
      "The count is 0, but agents still wait.",
    ]],
  },
  barrier: {
    // If parties are tracked, `state` has other parts.
    values: {
      counts: "tracked == 0",
      arrived: "state & ARRIVED",
      left: "part(state, PARTIES)",
    },
    rules: [
      [
        "state",
        "counts && left > parties",
        "There are more parties than `parties`.",
      ],
      [
        "state",
        "counts && arrived > 0 && arrived >= left",
        "All parties have arrived, but they do not go on.",
      ],
    ],
  },
  once: {
    rules: [
      [
        "state",
        "(state & ~(RUNNER | DONE | WAITING)) != 0",
        "Bits 29 and 31 are never set.",
      ],
      [
        "state",
        "(state & DONE) != 0 && (state & RUNNER) != 0",
        "The function was run to its end, but an agent runs it.",
      ],
    ],
  },
  snapshot: {
    values: {
      middle: "state & MIDDLE",
      front: "part(state, FRONT)",
    },
    rules: [
      [
        "state",
        "single_reader == 1 && (middle == front || middle > 2 || front > 2)",
        "It does not name two different copies.",
      ],
      agent("writer"),
      agent("reader"),
    ],
  },
  spsc_queue: {
    values: {
      end: "tail & INDEX",
      begin: "head & INDEX",
      lap: "capacity * one(INDEX)",
      ...order.values,
    },
    rules: [...order.rules, agent("producer"), agent("consumer")],
  },
  mpmc_queue: {
    values: {
      end: "tail & ~CLOSED",
      used: "minus(end, head)",
      lap: "capacity * one(TICKET)",
    },
    rules: [
      ["head", "(head & 1) != 0", "It must be even."],
      behind("used", "lap"),
    ],
  },
  record_ring: {
    values: {
      end: "tail & ~CLOSED",
      begin: "head",
      lap: "capacity",
      ...order.values,
    },
    rules: [
      ["tail", "(end & 7) != 0", "It must be a multiple of 8."],
      ["head", "(head & 7) != 0", "It must be a multiple of 8."],
      ...order.rules,
      agent("claimant", "(OWNER | CONTENDED)"),
      agent("consumer", "(OWNER | CONTENDED)"),
    ],
  },
  broadcast: { rules: [agent("producer")] },
  channel: {
    rules: [
      ["codec", "codec < 1 || codec > 9", "There is no such codec."],
      ["place", "place < 0 || place % 4 != 0", "It must be a multiple of 4."],
      ["handoff", "(handoff & PHASE) > 2", "There is no such phase."],
    ],
  },
  call_ring: { rules: [flag("closed")] },
  work_counter: {
    values: { agents: "tracked & 255" },
    rules: [
      tracking,
      ["done", "done < 0 || done > total", "It must be 0 to `total`."],
      ["target", "target < 0 || target > total", "It must be 0 to `total`."],
      ["finished", "finished < 0 || finished > 2", "It must be 0, 1 or 2."],
      [
        "finished",
        "finished == 2 && done < target && tracked == 0",
        "It is over, but tasks are not done.",
      ],
    ],
  },
  work_deque: {
    values: { size: "minus(bottom, top)" },
    rules: [
      // -1 while the owner pops.
      ["top", "size < -1 || size > capacity", beyond("bottom")],
      [
        "owner",
        "owner != LEFT && (owner & ~OWNER) != 0",
        "No agent has this id.",
      ],
    ],
  },
};
