import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { hashOf, heapFor, planFor } from "../../primitives/_map/plan.ts";
import type { Scenario, Weft } from "../_run/scenario.ts";
import {
  A,
  ALSO_IN_FIRST,
  ANOTHER,
  B,
  BLOCK,
  CLAIMED,
  DEAD,
  HEAD,
  IN_FIRST,
  IN_FOUR,
  IN_SECOND,
  IN_THIRD,
  LINKED,
  making,
  OTHER,
  REMEMBERS,
  SEED,
  sharing,
} from "./sharing.ts";
import { cachesOf } from "./scenarios_cache.ts";
import { longKeysOf } from "./scenarios_long_keys.ts";
import { expiringOf } from "./scenarios_time.ts";

/** The race scenarios of `HashMap`. */
export function scenarios(weft: Weft): Scenario[] {
  const both = { [A]: 10 * A, [B]: 10 * B };
  return [
    {
      name: "a reader beside an overwrite",
      spec: sharing(weft, { long: true, capacity: 1, first: { [A]: 1.1 } }),
      agents: [[["set", [A, -2.2]], ["set", [A, 3.3]]], [["get", A]]],
    },
    {
      name: "a reader beside an entry that is used again",
      spec: sharing(weft, { capacity: 1, first: { [A]: 10 } }),
      agents: [[["delete", A], ["set", [B, 20]]], [["get", A], ["get", B]]],
    },
    {
      name: "a reader beside an entry that moves into the other bucket",
      spec: sharing(weft, { first: both }),
      agents: [[["delete", B], ["set", [OTHER, 7]]], [["get", A]]],
    },
    {
      name: "a reader of a number that is overwritten",
      spec: sharing(weft, { capacity: 1, first: { [A]: 1 } }),
      agents: [[["set", [A, 2]], ["delete", A], ["set", [A, 3]]], [["get", A]]],
    },
    {
      name: "a reader beside an entry that is added",
      spec: sharing(weft, { first: { [B]: 5 } }),
      agents: [[["set", [A, 1]]], [["get", B], ["get", A]]],
    },
    {
      name: "a view remembers a number that is deleted",
      spec: sharing(weft, { remember: true, capacity: 1, first: { [A]: 10 } }),
      agents: [[["delete", A]], [["get", A], ["found", A], ["get", A]]],
    },
    {
      name: "a view remembers a number that is overwritten",
      spec: sharing(weft, {
        remember: true,
        long: true,
        capacity: 1,
        first: { [A]: 1.1 },
      }),
      differs: REMEMBERS,
      agents: [[["set", [A, -2.2]]], [["get", A], ["found", A], ["get", A]]],
    },
    {
      name: "a view remembers an entry that is used again",
      spec: sharing(weft, { remember: true, capacity: 1, first: { [A]: 10 } }),
      agents: [[["delete", A], ["set", [B, 20]]], [["get", A], ["get", A]]],
    },
    {
      name: "a view writes where it remembers a key",
      spec: sharing(weft, { remember: true, capacity: 1, first: { [A]: 10 } }),
      agents: [[["delete", A]], [["get", A], ["add", [A, 7]]]],
    },
    {
      name: "one adds to a number whose entry is used again",
      spec: sharing(weft, { capacity: 1, first: { [A]: 10 } }),
      agents: [
        [["delete", A], ["set", [B, 20]], ["get", B]],
        [["add", [A, 7]]],
      ],
    },
    {
      name: "two add to one number",
      spec: sharing(weft),
      agents: [[["add", [A, 1]]], [["add", [A, 2]]]],
    },
    {
      name: "two add to one long number",
      spec: sharing(weft, { long: true, capacity: 1, first: { [A]: 1.5 } }),
      agents: [[["add", [A, 1]]], [["add", [A, 2]]]],
    },
    {
      name: "two set one key that is absent",
      spec: sharing(weft),
      agents: [[["setIfAbsent", [A, 1]]], [["setIfAbsent", [A, 2]]]],
    },
    {
      name: "two make one value",
      spec: sharing(weft),
      agents: [[["make", [A, 1]]], [["make", [A, 2]]]],
    },
    {
      name: "two write to one bucket",
      spec: sharing(weft, { first: { [B]: 5 } }),
      agents: [[["set", [A, 1]]], [["delete", B], ["has", A]]],
    },
    {
      name: "two write to two buckets",
      spec: sharing(weft, { first: { [A]: 5 } }),
      agents: [[["delete", A], ["has", A]], [["set", [OTHER, 1]]]],
    },
    {
      name: "two write to two free entries",
      spec: sharing(weft),
      agents: [[["set", [A, 1]], ["get", A]], [["set", [OTHER, 2]], [
        "get",
        OTHER,
      ]]],
    },
    {
      name: "the first of two in a bucket is deleted",
      spec: sharing(weft, { first: { [A]: 1, [B]: 2 } }),
      agents: [[["delete", B], ["has", A]], [["get", A], ["get", B]]],
    },
    {
      name: "two delete from two buckets",
      spec: sharing(weft, { first: { [A]: 1, [OTHER]: 2 } }),
      agents: [[["delete", A]], [["delete", OTHER]]],
    },
    {
      name: "two keys, room for one",
      spec: sharing(weft, { capacity: 1 }),
      agents: [[["set", [A, 1]], ["delete", A]], [["set", [B, 2]]]],
    },
    {
      name: "a full map, and one deletes a key while another adds one",
      spec: sharing(weft, { first: { [A]: 1, [ANOTHER]: 2 } }),
      agents: [[["delete", A]], [["set", [OTHER, 3]]]],
    },
    {
      name: "a full map, and one that deletes a key ends at any step",
      spec: sharing(weft, { first: { [A]: 1, [ANOTHER]: 2 } }),
      agents: [[["delete", A]], [["set", [OTHER, 3]], ["set", [B, 4]]]],
      options: { kill: true, rescue: true, timeouts: 0 },
    },
    {
      name: "a full map, and one deletes two keys while two others add some",
      spec: sharing(weft, { capacity: 6, first: IN_FOUR }),
      agents: [
        [["delete", IN_FIRST], ["delete", ALSO_IN_FIRST]],
        [["set", [IN_SECOND, 7]]],
        [["set", [IN_THIRD, 8]]],
      ],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      name: "two take one value",
      spec: sharing(weft, { first: { [A]: 5 } }),
      agents: [[["take", A]], [["take", A]]],
    },
    {
      name: "two exchange one number",
      spec: sharing(weft, { first: { [A]: 5 } }),
      agents: [[["exchange", [A, 5, 6]]], [["exchange", [A, 5, 7]], [
        "get",
        A,
      ]]],
    },
    {
      name: "two update one number",
      spec: sharing(weft, { first: { [A]: 5 } }),
      agents: [[["twice", A]], [["twice", A], ["get", A]]],
      notInC: "its callback is a C function",
    },
    {
      name: "a map is cleared beside a reader",
      spec: sharing(weft, { capacity: 1, first: { [A]: 10 } }),
      agents: [[["clear"], ["set", [B, 20]]], [["get", A], ["get", B]]],
    },
    {
      name: "an iteration beside an entry that is used again",
      spec: sharing(weft, { capacity: 1, first: { [A]: 10 * A } }),
      agents: [[["delete", A], ["set", [B, 10 * B]]], [["sum"]]],
    },
    {
      name: "an iteration beside an entry that is used for the other bucket",
      spec: sharing(weft, { capacity: 2, first: { [A]: 10 * A } }),
      agents: [[["delete", A], ["set", [OTHER, 10 * OTHER]]], [["sum"]]],
    },
    ...cachesOf(weft),
    ...expiringOf(weft),
    {
      name: "two wait for a key",
      spec: sharing(weft),
      agents: [[["set", [A, 1]]], [["waitFor", A]], [["waitFor", A]]],
      options: { timeouts: 0 },
    },
    {
      name: "two wait for two keys of a bucket",
      spec: sharing(weft),
      agents: [
        [["waitFor", A], ["set", [B, 2]]],
        [["set", [A, 1]], ["waitFor", B]],
      ],
      options: { timeouts: 0 },
    },
    {
      name: "one waits for a key for some time",
      spec: sharing(weft),
      agents: [[["set", [A, 1]], ["delete", A]], [["waitMs", A]]],
    },
    ...[0, 1].map((failures): Scenario => ({
      name: `one makes a value, and another awaits it, ${failures} fail`,
      spec: making(weft, { failures }),
      agents: [[["make"]], [["make"]]],
      options: { timeouts: 0 },
      notInC: "agents of C do not await",
    })),
    {
      name: "two abandon who makes a value that another awaits",
      spec: making(weft, { abandoned: true }),
      agents: [[["abandon"]], [["abandon"]], [["make"]]],
      options: { timeouts: 0 },
      notInC: "agents of C do not await",
    },
    {
      name: "two abandon who makes a value, and make it",
      spec: making(weft, { abandoned: true }),
      agents: [[["abandon"], ["make"]], [["abandon"], ["make"]]],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
      notInC: "agents of C do not await",
    },
    {
      name: "who makes a value ends at any step",
      spec: making(weft, { ends: true }),
      agents: [[["make"]], [["make"]]],
      options: { kill: true, rescue: true, states: 20_000 },
      sampled: true,
      notInC: "agents of C do not await",
    },
    {
      name: "a reader beside an overwrite whose blocks are used again",
      spec: sharing(weft, { blocks: 4, capacity: 1, first: { [A]: 100 } }),
      agents: [[["set", [A, 200]], ["set", [A, 300]]], [["get", A]]],
    },
    {
      name: "a reader beside a long value whose blocks get another key",
      spec: sharing(weft, { blocks: 2, first: { [A]: 100 } }),
      agents: [[["delete", A], ["set", [OTHER, 200]]], [["get", A]]],
    },
    ...(["set", "delete"] as const).map((what): Scenario => ({
      name: `a reader beside a ${what}, and one that takes the blocks`,
      spec: sharing(weft, {
        blocks: what === "set" ? 3 : 2,
        first: { [A]: 100 },
      }),
      agents: [
        [what === "set" ? ["set", [A, 1]] : ["delete", A]],
        [["set", [OTHER, 200]]],
        [["get", A]],
      ],
    })),
    {
      name: "a view remembers a long value whose blocks get another key",
      spec: sharing(weft, { blocks: 2, remember: true, first: { [A]: 100 } }),
      agents: [[["delete", A], ["set", [OTHER, 200]]], [["get", A], [
        "get",
        A,
      ]]],
    },
    {
      name: "a reader beside a value that becomes long, and short again",
      spec: sharing(weft, { blocks: 2, capacity: 1, first: { [A]: 1 } }),
      agents: [[["set", [A, 200]], ["set", [A, 3]]], [["get", A]]],
    },
    {
      name: "a reader beside a long value whose place becomes a short value",
      spec: sharing(weft, { blocks: 2, capacity: 1, first: { [A]: 100 } }),
      agents: [[["set", [A, 1]], ["set", [A, 90]]], [["get", A]]],
    },
    {
      name: "two take blocks at once",
      spec: sharing(weft, { blocks: 4 }),
      agents: [[["set", [A, 100]], ["get", A]], [["set", [OTHER, 200]], [
        "get",
        OTHER,
      ]]],
    },
    {
      name: "two long values, room for one",
      spec: sharing(weft, { blocks: 2 }),
      agents: [[["set", [A, 100]], ["delete", A]], [["set", [OTHER, 200]]]],
    },
    {
      name: "a long value, and no entry for it",
      spec: sharing(weft, { blocks: 2, capacity: 1, first: { [A]: 1 } }),
      agents: [[["set", [B, 100]], ["set", [A, 200]]], [["get", A]]],
    },
    {
      name: "one evicts a long value beside a reader",
      spec: sharing(weft, { blocks: 2, evicts: true, first: { [A]: 100 } }),
      agents: [[["set", [OTHER, 200]]], [["get", A], ["get", OTHER]]],
    },
    {
      name: "a long value of a cache gives way to itself",
      spec: sharing(weft, { blocks: 2, evicts: true, first: { [A]: 100 } }),
      agents: [[["set", [A, 200]]], [["get", A], ["get", A]]],
    },
    {
      name: "a long value gives way to itself, and another takes the entry",
      spec: sharing(weft, {
        blocks: 2,
        evicts: true,
        first: { [A]: 100, [ANOTHER]: 1 },
      }),
      agents: [[["set", [A, 200]]], [["set", [OTHER, 1]], ["get", OTHER]]],
    },
    ...(["set", "overwrite", "shorten", "delete"] as const).flatMap((what) =>
      ["reader", "writer"].map((other): Scenario => ({
        name: `${what} of a long value ends at any step, beside a ${other}`,
        spec: sharing(weft, {
          blocks: 4,
          capacity: 1,
          first: what === "set" ? {} : { [A]: 100 },
        }),
        agents: [
          [
            what === "delete"
              ? ["delete", A]
              : ["set", [A, what === "shorten" ? 1 : 200]],
          ],
          [other === "reader" ? ["get", A] : ["set", [A, 300]]],
        ],
        // With looks of who waits, these are more than 2,000,000 states.
        options: { kill: true, rescue: true, timeouts: 0 },
      }))
    ),
    {
      name: "one that evicts a long value ends at any step",
      spec: sharing(weft, { blocks: 2, evicts: true, first: { [A]: 100 } }),
      agents: [[["set", [OTHER, 200]]], [["get", A], ["has", OTHER]]],
      options: { kill: true, rescue: true },
    },
    {
      name: "two recover a bucket with blocks that no value has",
      spec: sharing(weft, {
        blocks: 3,
        first: { [A]: 100 },
        prepare: (words) => {
          const { buckets, length } = planFor(HEAD, 2, 1, 2);
          const { blocks, bits } = heapFor(length, 3, BLOCK, 8, 0, 4);
          words[buckets] = DEAD;
          words[blocks + 2 * BLOCK] = 1;
          words[bits] = 7;
        },
      }),
      agents: [[["abandon"], ["get", A]], [["abandon"], ["set", [
        OTHER,
        200,
      ]]]],
    },
    ...longKeysOf(weft),
    {
      name: "two recover a bucket whose writer died, and one deletes its entry",
      spec: sharing(weft, {
        first: { [A]: 1 },
        prepare: (words) => {
          const { buckets } = planFor(HEAD, 2, 1, 1);
          words[buckets] = DEAD;
        },
      }),
      agents: [[["abandon"]], [["abandon"], ["delete", A]]],
    },
    {
      name: "two recover a bucket whose writer died",
      spec: sharing(weft, {
        first: { [A]: 1 },
        prepare: (words, entries) => {
          const { buckets, flights } = planFor(HEAD, 2, 1, 1);
          words[buckets] = words[flights] = DEAD;
          words[flights + 1] = 7;
          words[planFor(HEAD, 2, 1, 1).bits] = 3;
          words[entries + 4] = CLAIMED | DEAD;
        },
      }),
      agents: [[["abandon"]], [["abandon"], ["set", [OTHER, 2]]]],
    },
    {
      name: "one that recovers a bucket ends at any step",
      spec: sharing(weft, {
        first: { [A]: 1 },
        prepare: (words, entries) => {
          const { buckets, bits } = planFor(HEAD, 2, 1, 1);
          words[buckets] = DEAD;
          words[bits] = 3;
          words[entries + 4] = CLAIMED | DEAD;
        },
      }),
      agents: [[["abandon"]], [["abandon"], ["get", A]]],
      options: { kill: true, rescue: true },
    },
    {
      name: "one recovers a bucket and a flight, another one reads",
      spec: sharing(weft, {
        first: { [A]: 1 },
        prepare: (words, entries) => {
          const { buckets, flights, bits } = planFor(HEAD, 2, 1, 1);
          words[buckets] = words[flights] = DEAD;
          words[flights + 1] = 7;
          words[bits] = 3;
          words[entries + 4] = CLAIMED | DEAD;
        },
      }),
      agents: [[["abandon"]], [["get", A]]],
    },
    ...[true, false].map((evicts): Scenario => ({
      name: `a ${
        evicts ? "cache" : "map"
      } has room again when the entry of a dead agent is freed`,
      spec: sharing(weft, {
        evicts,
        first: { [A]: 1 },
        prepare: (words, entries) => {
          const { buckets, bits, stride } = planFor(HEAD, 2, 1, 1, evicts);
          words[buckets] = DEAD;
          words[bits] = 3;
          words[entries + stride] = CLAIMED | DEAD;
          words[LAYOUT.hash_map.full] = 3; // a search has found no free entry
        },
      }),
      agents: [[["abandon"], ["set", [OTHER, 2]], ["size"]], []],
    })),
    {
      name: "a bucket is recovered beside one with an entry",
      spec: sharing(weft, {
        first: { [OTHER]: 1 },
        prepare: (words) => {
          const { buckets } = planFor(HEAD, 2, 1, 1);
          words[buckets] = DEAD;
        },
      }),
      agents: [[["abandon"], ["get", OTHER]], [["set", [A, 2]]]],
    },
    {
      name: "a bucket is recovered beside a reader",
      spec: sharing(weft, { capacity: 1, first: { [A]: 1 } }),
      agents: [[["die", A], ["abandon"], ["set", [B, 3]]], [["get", A]]],
    },
    {
      name: "a bucket is recovered beside writers",
      spec: sharing(weft, {
        first: { [A]: 1 },
        prepare: (words, entries) => {
          const { buckets } = planFor(HEAD, 2, 1, 1);
          words[buckets] = DEAD;
          words[planFor(HEAD, 2, 1, 1).bits] = 3;
          // It was taken out, and not freed yet.
          words[entries + 4] = LINKED;
          words[entries + 5] = hashOf(SEED, ~SEED, Int32Array.of(B), 1);
          words[entries + 6] = B;
        },
      }),
      agents: [[["abandon"], ["set", [OTHER, 3]]], [["set", [A, 2]]]],
    },
  ];
}
