import {
  REMEMBERS,
  type Scenario,
  TRIES_AGAIN,
  type Weft,
} from "../_run/scenario.ts";
import {
  batches,
  bytes,
  closed,
  dead,
  late,
  queue,
  seconds,
  woken,
} from "./queues.ts";

/** The race scenarios of `MpmcQueue`. */
export function scenarios(weft: Weft): Scenario[] {
  const two = queue(weft, 2);
  const one = queue(weft, 1);
  const wrap = queue(weft, 2, 2 ** 31 - 2);
  const sign = queue(weft, 2, 2 ** 30 - 2);
  const from = (op: string, first: number, n: number) =>
    Array.from({ length: n }, (_, i) => [op, first + i] as const);
  const times = (op: string, n: number) =>
    Array.from({ length: n }, () => [op] as const);
  return [
    {
      name: "tryPush, tryPop",
      spec: two,
      agents: [from("tryPush", 1, 2), times("tryPop", 2)],
    },
    {
      name: "tryPush thrice, tryPop thrice",
      spec: two,
      agents: [from("tryPush", 1, 3), times("tryPop", 3)],
    },
    {
      name: "both do both",
      spec: two,
      agents: [
        [["tryPush", 1], ["tryPop"]],
        [["tryPush", 2], ["tryPop"]],
      ],
    },
    {
      name: "two producers, a consumer",
      spec: two,
      agents: [[["tryPush", 1]], [["tryPush", 2]], times("tryPop", 2)],
    },
    {
      name: "a producer, two consumers",
      spec: two,
      agents: [from("tryPush", 1, 2), [["tryPop"]], [["tryPop"]]],
    },
    {
      name: "the size, while elements go and come",
      spec: two,
      agents: [[["size"]], [
        ["tryPush", 1],
        ["tryPop"],
        ["tryPush", 2],
        ["tryPush", 3],
        ["tryPop"],
        ["close"],
      ]],
    },
    {
      name: "one slot",
      spec: one,
      agents: [from("tryPush", 1, 2), times("tryPop", 2)],
    },
    {
      name: "elements of a byte",
      spec: bytes(weft),
      agents: [from("push", 1, 3), times("pop", 3)],
    },
    {
      name: "over the wrap",
      spec: wrap,
      agents: [from("tryPush", 1, 4), times("tryPop", 3)],
    },
    {
      name: "over the sign",
      spec: sign,
      agents: [from("tryPush", 1, 4), times("tryPop", 3)],
    },
    {
      name: "in place",
      differs: REMEMBERS,
      spec: queue(weft, 2, 0, false),
      agents: [from("inPlace", 1, 2), times("takeInPlace", 2)],
    },
    {
      name: "push, pop",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["push", 1]], [["pop"]]],
    },
    {
      name: "push, pop, one slot",
      spec: one,
      agents: [from("push", 1, 2), times("pop", 2)],
    },
    {
      name: "two sleep, two are woken",
      spec: two,
      agents: [[["pop"]], [["pop"]], from("tryPush", 1, 2)],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      // The element in front is published last: its wake must not be lost.
      name: "two producers, two sleepers",
      spec: two,
      agents: [[["pop"]], [["pop"]], [["tryPush", 1]], [["tryPush", 2]]],
      options: { states: 100_000, runs: 3000 },
      sampled: true,
    },
    {
      // If another agent overtakes a look, the look says nothing about the
      // whole queue.
      name: "a producer that others overtake twice",
      spec: queue(weft, 4),
      agents: [[["push", 1]], from("push", 2, 2)],
      options: { timeouts: 0 },
    },
    {
      name: "a consumer that others overtake twice",
      spec: queue(weft, 4, 0, true, [1, 2, 3]),
      agents: [[["pop"]], times("pop", 2)],
      options: { timeouts: 0 },
    },
    {
      name: "pop times out at any time",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["popFor"]], [["push", 1]]],
      options: { timeouts: true },
    },
    {
      name: "push times out at any time",
      differs: TRIES_AGAIN,
      spec: queue(weft, 1, 0, true, [9]),
      agents: [[["pushFor", 1]], [["tryPop"]]],
      options: { timeouts: true },
    },
    {
      name: "close wakes a consumer",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["pop"]], [["close"]]],
    },
    {
      name: "close wakes a producer",
      differs: TRIES_AGAIN,
      spec: one,
      agents: [from("push", 1, 2), [["close"]]],
    },
    {
      name: "close, push and two consumers",
      spec: two,
      agents: [[["pop"]], [["pop"]], [["tryPush", 1], ["close"]]],
      options: { states: 60_000 },
      sampled: true,
    },
    {
      name: "close and pop while a push is under way",
      spec: two,
      agents: [[["tryPush", 1]], [["close"], ["tryPop"]]],
    },
    {
      name: "an array wakes a consumer",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["pop"]], [["pushArray", 1]]],
    },
    {
      name: "an array wakes a producer",
      differs: TRIES_AGAIN,
      spec: queue(weft, 1, 0, true, [9]),
      agents: [[["push", 1]], [["popArray"]]],
    },
    {
      name: "in place wakes a consumer",
      differs: TRIES_AGAIN,
      spec: queue(weft, 2, 0, false),
      agents: [[["pop"]], [["inPlace", 1]]],
    },
    {
      name: "in place wakes a producer",
      differs: TRIES_AGAIN,
      spec: queue(weft, 1, 0, false, [9]),
      agents: [[["push", 1]], [["takeInPlace"]]],
    },
    {
      name: "two consumers, the element in front comes last",
      spec: late(weft, "pop"),
      agents: [[["pop"]], [["pop"]], [["end"]]],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      name: "two producers, the slot in front comes last",
      spec: late(weft, "push"),
      agents: [[["push"]], [["push"]], [["end"]]],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      name: "consumers of a dead producer are told",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: dead(weft, "push"),
        expected: (result) => result === "told",
      }),
      agents: [[["popFor"]], [["popFor"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "producers of a dead consumer are told",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: dead(weft, "pop"),
        expected: (result) => result === "told",
      }),
      agents: [[["pushFor"]], [["pushFor"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "nobody is told of a queue that is empty",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: () => {},
        expected: (result) => result === undefined,
      }),
      agents: [[["popFor"]], [["popFor"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "nobody is told of a queue that is full",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: (queue) => {
          queue.tryPushInt(1);
          queue.tryPushInt(2);
        },
        expected: (result) => result === false,
      }),
      agents: [[["pushFor"]], [["pushFor"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "nobody is told at the first look",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: () => {},
        expected: (result) => result === 7,
      }),
      agents: [[["pop"]], [["inPlace"]]],
      options: { timeouts: 1, rescue: true },
    },
    {
      name: "an agent stands still, and is not taken for dead",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: () => {},
        expected: (result) => result === 7,
        tells: false,
      }),
      agents: [[["pop"]], [["inPlace"]]],
      options: { timeouts: 2, rescue: true },
    },
    {
      name: "a consumer is terminated when it is woken",
      spec: woken(weft),
      agents: [[["pop"]], [["pop"]], [["push"], ["push"]]],
      options: {
        timeouts: 0,
        kill: true,
        rescue: true,
        races: false, // nothing orders survivors behind what the dead wrote
        states: 15_000,
      },
      sampled: true,
    },
    {
      name: "two time out",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["popFor"]], [["popFor"]]],
      options: { timeouts: true },
    },
    {
      name: "batches, two agents",
      spec: batches(weft),
      agents: [[["push", [1, 2]], ["push", [3, 4]]], [["pop", 2]]],
    },
    {
      name: "batches",
      spec: batches(weft),
      agents: [[["push", [1, 2, 3]]], [["pop", 2]], [["pop", 2]]],
    },
    ...closed(weft),
    {
      name: "spurious wakes",
      spec: one,
      agents: [[["push", 1]], [["pop"]]],
      options: { spurious: true },
    },
  ];
}
