/**
 * Race scenarios of a `HashMap` that is a cache, whose entries give way to
 * others.
 *
 * @module
 */
import type { Scenario, Weft } from "../_run/scenario.ts";
import { A, ANOTHER, B, FREED, HINTS, OTHER, sharing } from "./sharing.ts";

/** The scenarios of a cache. */
export function cachesOf(weft: Weft): Scenario[] {
  const both = { [A]: 10 * A, [B]: 10 * B };
  return [
    {
      name: "one evicts an entry beside a reader",
      spec: sharing(weft, { evicts: true, capacity: 1, first: { [A]: 10 } }),
      agents: [[["set", [B, 20]]], [["get", A], ["get", B]]],
    },
    {
      name: "one evicts an entry of the other bucket beside a reader",
      spec: sharing(weft, { evicts: true, first: both }),
      agents: [[["set", [OTHER, 7]]], [["get", A], ["get", B]]],
    },
    {
      name: "one evicts an entry of two words beside a reader",
      spec: sharing(weft, {
        evicts: true,
        long: true,
        capacity: 1,
        first: { [A]: 1.1 },
      }),
      agents: [[["set", [B, -2.2]]], [["get", A], ["get", B]]],
    },
    {
      name: "one evicts an entry that another agent remembers",
      spec: sharing(weft, {
        evicts: true,
        remember: true,
        first: { [A]: 1, [ANOTHER]: 2 },
      }),
      agents: [[["set", [OTHER, 3]]], [["get", A], ["found", A], ["get", A]]],
    },
    {
      name: "one evicts an entry that another overwrites",
      spec: sharing(weft, { evicts: true, first: { [A]: 1, [ANOTHER]: 2 } }),
      agents: [[["set", [OTHER, 3]]], [["set", [A, 4]], ["get", A]]],
    },
    {
      name: "one evicts an entry that another deletes and adds again",
      spec: sharing(weft, { evicts: true, first: { [A]: 1, [ANOTHER]: 2 } }),
      agents: [[["set", [OTHER, 3]]], [["delete", A], ["set", [A, 4]]]],
    },
    {
      name: "one evicts an entry that moves into the other bucket",
      spec: sharing(weft, { evicts: true, capacity: 1, first: { [A]: 1 } }),
      agents: [[["set", [B, 3]]], [["delete", A], ["set", [OTHER, 4]]]],
    },
    {
      name: "two evict from the buckets of each other",
      spec: sharing(weft, { evicts: true, first: { [A]: 1, [OTHER]: 2 } }),
      agents: [[["set", [B, 3]], ["get", B]], [["set", [ANOTHER, 4]]]],
    },
    {
      // The same of agents of one language, whichever the others have.
      name: "two evict from the buckets of each other, between idle agents",
      spec: sharing(weft, { evicts: true, first: { [A]: 1, [OTHER]: 2 } }),
      agents: [[["set", [B, 3]]], [], [["set", [ANOTHER, 4]]]],
    },
    {
      name: "two add keys to a cache with one free entry",
      differs: HINTS,
      spec: sharing(weft, { evicts: true, first: { [A]: 1 } }),
      agents: [[["set", [B, 3]]], [["set", [ANOTHER, 4]], ["get", ANOTHER]]],
    },
    {
      name: "one evicts while an entry is freed",
      differs: HINTS,
      // The hand comes to the one that is freed after those of the other
      // bucket.
      spec: sharing(weft, {
        evicts: true,
        capacity: 3,
        first: { 2: 2, 3: 3, [FREED]: 1 },
      }),
      agents: [
        [["delete", FREED]],
        [["set", [7, 4]], ["set", [8, 5]], ["size"]],
      ],
    },
    {
      name: "an entry that is used has a second chance",
      differs: HINTS,
      spec: sharing(weft, { evicts: true, first: { [A]: 1, [ANOTHER]: 2 } }),
      agents: [[["spare", [A, B]], ["spare", [A, OTHER]]], []],
    },
    ...[A, OTHER].map((first): Scenario => ({
      name: `one that evicts ends at any step, ${
        first === A ? "in its own bucket" : "in the other"
      }`,
      spec: sharing(weft, {
        evicts: true,
        ends: true,
        capacity: 2,
        first: { [first]: 1, [ANOTHER]: 2 },
      }),
      agents: [[["set", [B, 3]]], [["get", first], ["has", B]]],
      options: { kill: true, rescue: true },
    })),
  ];
}
