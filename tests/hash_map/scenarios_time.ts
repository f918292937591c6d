/**
 * Race scenarios of a `HashMap` whose values expire.
 *
 * @module
 */
import type { Scenario, Weft } from "../_run/scenario.ts";
import { A, B, BRIEF, HINTS, REMEMBERS, sharing } from "./sharing.ts";

/** The scenarios of values that expire. */
export function expiringOf(weft: Weft): Scenario[] {
  return [
    {
      name: "a value expires and is written anew beside a reader",
      spec: sharing(weft, { expires: true, capacity: 1, first: { [A]: 1 } }),
      agents: [[["pass"], ["set", [A, 2]]], [["get", A], ["has", A]]],
    },
    {
      name: "a value is written anew before it expires, beside a reader",
      differs: HINTS,
      spec: sharing(weft, { expires: true, capacity: 1, first: { [A]: 1 } }),
      agents: [[["renew", [A, 2]]], [["get", A], ["has", A]]],
    },
    {
      name: "a key is added for a moment beside a reader",
      differs: HINTS,
      spec: sharing(weft, { expires: true, capacity: 2, first: { [B]: 1 } }),
      agents: [
        [["setBriefly", [A, BRIEF]], ["moment"], ["get", A]],
        [["get", A], ["has", B]],
      ],
    },
    {
      name: "a value is overwritten for a moment beside a reader",
      differs: HINTS,
      spec: sharing(weft, { expires: true, capacity: 1, first: { [A]: 1 } }),
      agents: [
        [["setBriefly", [A, BRIEF]], ["moment"], ["get", A]],
        [["get", A], ["has", A]],
      ],
    },
    {
      name: "a view remembers a value that counts for a moment",
      spec: sharing(weft, {
        expires: true,
        remember: true,
        capacity: 1,
        first: { [A]: 1 },
      }),
      differs: REMEMBERS,
      agents: [
        [["setBriefly", [A, BRIEF]], ["moment"]],
        [["get", A], ["get", A], ["has", A]],
      ],
    },
    {
      name: "a value expires while it is overwritten",
      spec: sharing(weft, { expires: true, capacity: 1, first: { [A]: 1 } }),
      agents: [[["pass"]], [["set", [A, 2]]], [["get", A]]],
    },
    {
      name: "a number expires while another agent adds to it",
      differs: HINTS,
      spec: sharing(weft, { expires: true, capacity: 1, first: { [A]: 1 } }),
      agents: [[["pass"], ["get", A]], [["add", [A, 5]]]],
    },
    {
      name: "a number expires while two agents take it",
      spec: sharing(weft, { expires: true, capacity: 1, first: { [A]: 1 } }),
      agents: [[["pass"]], [["take", A]], [["take", A]]],
    },
    {
      name: "a view remembers a value that expires and is written anew",
      spec: sharing(weft, {
        expires: true,
        remember: true,
        capacity: 1,
        first: { [A]: 1 },
      }),
      agents: [
        [["pass"], ["set", [A, 2]]],
        [["get", A], ["get", A], ["has", A]],
      ],
    },
    {
      name: "a view writes where it remembers a key that expires",
      spec: sharing(weft, {
        expires: true,
        remember: true,
        capacity: 1,
        first: { [A]: 1 },
      }),
      differs: REMEMBERS,
      agents: [[["pass"]], [["get", A], ["add", [A, 7]]]],
    },
    {
      name: "one waits for a key that expires and is written anew",
      spec: sharing(weft, { expires: true, capacity: 1, first: { [A]: 1 } }),
      agents: [[["pass"], ["set", [A, 2]]], [["waitFor", A]]],
      options: { timeouts: 0 },
    },
    {
      name: "one waits for a key that expires while it is overwritten",
      spec: sharing(weft, { expires: true, capacity: 1, first: { [A]: 1 } }),
      agents: [
        [["pass"], ["set", [A, 3]]],
        [["waitFor", A]],
        [["set", [A, 2]]],
      ],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      name: "an entry that has expired gives way to another key",
      spec: sharing(weft, {
        expires: true,
        evicts: true,
        capacity: 1,
        first: { [A]: 1 },
      }),
      agents: [[["pass"], ["set", [B, 2]]], [["get", A], ["get", B]]],
    },
    {
      name: "set of a key that has expired ends at any step",
      spec: sharing(weft, { expires: true, first: { [A]: 1 } }),
      agents: [[["pass"], ["set", [A, 2]]], [["get", A], ["set", [A, 3]]]],
      // With looks of who waits, these are more than 3,000,000 states.
      options: { kill: true, rescue: true, timeouts: 0 },
    },
    ...(["set", "overwrite", "delete"] as const).flatMap((what) =>
      [false, true].map((long): Scenario => ({
        name: `${what} of ${long ? "two words" : "a word"} ends at any step`,
        spec: sharing(weft, { long, first: { [B]: 5 } }),
        agents: [
          [
            what === "set"
              ? ["set", [A, 1]]
              : what === "overwrite"
              ? ["set", [B, 6]]
              : ["delete", B],
          ],
          [["get", B], ["set", [B, 7]]],
        ],
        options: { kill: true, rescue: true },
      }))
    ),
  ];
}
