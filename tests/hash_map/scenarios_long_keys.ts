/**
 * Race scenarios of a `HashMap` whose keys may lie in its heap.
 *
 * @module
 */
import { heapFor, planFor } from "../../primitives/_map/plan.ts";
import type { Scenario, Weft } from "../_run/scenario.ts";
import {
  B,
  BLOCK,
  DEAD,
  HEAD,
  LONG_A,
  LONG_B,
  LONG_OTHER,
  SAME_HASH,
  sharing,
} from "./sharing.ts";

/** The scenarios of keys that lie in the heap. */
export function longKeysOf(weft: Weft): Scenario[] {
  const keys = { longKeys: true, shortValues: true } as const;
  const first = { [LONG_A]: 1 };
  const [SAME, AS] = SAME_HASH;
  return [
    {
      name: "a reader beside a long key whose blocks get another key",
      spec: sharing(weft, { ...keys, blocks: 2, first }),
      agents: [
        [["delete", LONG_A], ["set", [LONG_OTHER, 2]]],
        [["get", LONG_A], ["get", LONG_OTHER]],
      ],
    },
    {
      name: "a reader beside a long key whose entry gets another key",
      spec: sharing(weft, { ...keys, blocks: 2, capacity: 1, first }),
      agents: [
        [["take", LONG_A], ["set", [LONG_B, 2]]],
        [["get", LONG_A], ["get", LONG_B]],
      ],
    },
    {
      name: "a reader of a long key whose entry and blocks are used again",
      spec: sharing(weft, { ...keys, blocks: 2, capacity: 1, first }),
      agents: [
        [["delete", LONG_A], ["set", [LONG_B, 2]]],
        [["get", LONG_B]],
      ],
    },
    {
      name: "an iterator beside a long key whose blocks get another key",
      spec: sharing(weft, { ...keys, blocks: 2, first }),
      agents: [
        [["delete", LONG_A], ["set", [LONG_OTHER, 2]]],
        [["found", LONG_A]],
      ],
    },
    {
      name: "a long key beside a reader, and one that takes the blocks",
      spec: sharing(weft, { ...keys, blocks: 2, first }),
      agents: [
        [["delete", LONG_A]],
        [["set", [LONG_OTHER, 2]]],
        [["get", LONG_A]],
      ],
    },
    {
      name: "two long keys with the same hash",
      spec: sharing(weft, { ...keys, blocks: 4, first: { [SAME]: 1 } }),
      agents: [
        [["set", [AS, 2]], ["get", SAME]],
        [["get", AS], ["delete", SAME]],
      ],
    },
    {
      name: "two long keys, room for one",
      spec: sharing(weft, { ...keys, blocks: 2 }),
      agents: [
        [["set", [LONG_A, 1]], ["delete", LONG_A]],
        [["set", [LONG_OTHER, 2]]],
      ],
    },
    {
      name: "a long key, and no entry for it",
      spec: sharing(weft, {
        ...keys,
        blocks: 2,
        capacity: 1,
        first: { [B]: 1 },
      }),
      agents: [[["set", [LONG_B, 2]], ["delete", B]], [["get", LONG_B]]],
    },
    {
      name: "a long key, and no room for its value",
      spec: sharing(weft, { longKeys: true, blocks: 4, first }),
      agents: [
        [["set", [LONG_B, 200]], ["set", [LONG_B, 2]]],
        [["get", LONG_B]],
      ],
    },
    {
      name: "a long key with a long value beside its delete",
      spec: sharing(weft, {
        longKeys: true,
        blocks: 4,
        capacity: 1,
        first: { [LONG_A]: 100 },
      }),
      agents: [
        [["delete", LONG_A], ["set", [LONG_B, 200]]],
        [["get", LONG_A]],
      ],
    },
    {
      name: "one evicts a long key beside a reader",
      spec: sharing(weft, { ...keys, blocks: 2, evicts: true, first }),
      agents: [
        [["set", [LONG_OTHER, 2]]],
        [["get", LONG_A], ["get", LONG_OTHER]],
      ],
    },
    ...(["set", "overwrite", "delete"] as const).flatMap((what) =>
      ["reader", "writer"].map((other): Scenario => ({
        name: `${what} of a long key ends at any step, beside a ${other}`,
        spec: sharing(weft, {
          ...keys,
          blocks: 2,
          capacity: 1,
          first: what === "set" ? {} : first,
        }),
        agents: [
          [what === "delete" ? ["delete", LONG_A] : ["set", [LONG_A, 2]]],
          [other === "reader" ? ["get", LONG_A] : ["set", [LONG_A, 3]]],
        ],
        // With looks of who waits, these are more than 2,000,000 states.
        options: { kill: true, rescue: true, timeouts: 0 },
      }))
    ),
    {
      name: "one that evicts a long key ends at any step",
      spec: sharing(weft, { ...keys, blocks: 2, evicts: true, first }),
      agents: [
        [["set", [LONG_OTHER, 2]]],
        [["get", LONG_A], ["has", LONG_OTHER]],
      ],
      options: { kill: true, rescue: true },
    },
    {
      name: "two recover a bucket with blocks that no key has",
      spec: sharing(weft, {
        ...keys,
        blocks: 3,
        first,
        prepare: (words) => {
          const { buckets, length } = planFor(HEAD, 2, 2, 2);
          const { blocks, bits } = heapFor(length, 3, BLOCK, 0, 8, 4);
          words[buckets] = DEAD;
          words[blocks + 2 * BLOCK] = 1;
          words[bits] = 7;
        },
      }),
      agents: [
        [["abandon"], ["get", LONG_A]],
        [["abandon"], ["delete", LONG_A]],
      ],
    },
  ];
}
