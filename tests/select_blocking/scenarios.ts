import { type Scenario, TRIES_AGAIN, type Weft } from "../_run/scenario.ts";
import { handedScenarios } from "./handed.ts";
import { blocking, handsOn, mortal, type Setting } from "./settings.ts";

/** Every interleaving of blocking at several ends. */
export function scenarios(weft: Weft): Scenario[] {
  const spsc = blocking(weft, { kinds: ["spsc", "spsc"] });
  const mpmc = blocking(weft, { kinds: ["mpmc", "mpmc"] });
  const three = blocking(weft, { kinds: ["mpmc", "mpmc", "mpmc"] });
  const full: Setting = {
    kinds: ["mpmc", "mpmc"],
    items: [[], [1]],
    capacity: 1,
  };
  const moving = blocking(weft, { kinds: ["mpmc", "mpmc"], items: [[5]] });
  const sampled = { options: { states: 4000, runs: 50 }, sampled: true };
  const scenarios: Scenario[] = [
    {
      name: "one comes",
      spec: mpmc,
      agents: [[["take", [0, 1]]], [["push", [1, 7]]]],
    },
    {
      name: "one comes to the first",
      spec: mpmc,
      agents: [[["take", [0, 1]]], [["push", [0, 7]]]],
    },
    {
      name: "one comes, from one producer",
      differs: TRIES_AGAIN,
      spec: spsc,
      agents: [[["take", [0, 1]]], [["push", [1, 7]]]],
    },
    {
      name: "one comes to the first, from one producer",
      differs: TRIES_AGAIN,
      spec: spsc,
      agents: [[["take", [0, 1]]], [["push", [0, 7]]]],
    },
    {
      name: "one comes to either, from two producers",
      spec: spsc,
      agents: [[["take", [0, 1]], ["take", [1, 0]]], [["push", [0, 7]]], [
        ["push", [1, 8]],
      ]],
      ...sampled,
    },
    {
      name: "one comes to either, and both are taken",
      spec: mpmc,
      agents: [[["take", [0, 1]], ["take", [0, 1]]], [["push", [1, 7]]], [
        ["push", [0, 8]],
      ]],
      ...sampled,
    },
    {
      name: "two who take",
      spec: mpmc,
      agents: [[["take", [0, 1]]], [["take", [1, 0]]], [
        ["push", [0, 7]],
        ["push", [1, 8]],
      ]],
      ...sampled,
    },
    {
      name: "two who take at three queues",
      spec: three,
      agents: [[["take", [0, 2]]], [["take", [1, 2]]], [
        ["push", [0, 7]],
        ["push", [1, 8]],
      ]],
      ...sampled,
    },
    {
      // The second moves the place where the first sleeps.
      name: "another one links queues behind",
      spec: three,
      agents: [[["take", [1, 2]]], [["takeFor", [0, 1]]], [["push", [2, 7]]]],
      ...sampled,
    },
    {
      // The strike ends the sleep of the first, whoever asks for the next one.
      name: "a strike, and another one who waits",
      spec: mpmc,
      agents: [[["take", [0, 1]]], [["push", [0, 7]], ["takeFor", [1]]]],
      options: { timeouts: 1 },
    },
    {
      name: "two link one queue",
      spec: three,
      agents: [[["take", [0, 2]]], [["takeFor", [1, 2]], ["push", [2, 7]]]],
      options: { timeouts: 1, states: 60_000 },
      sampled: true,
    },
    {
      name: "beside a consumer",
      spec: mpmc,
      agents: [[["take", [0, 1]]], [["pop", 1]], [
        ["push", [1, 7]],
        ["push", [1, 9]],
      ]],
      ...sampled,
    },
    {
      name: "who only looks",
      spec: mpmc,
      agents: [[["any", [0, 1]], ["pop", 1]], [["push", [1, 7]]]],
    },
    {
      name: "who only looks, beside a consumer",
      spec: mpmc,
      agents: [[["any", [0, 1]]], [["pop", 1]], [
        ["push", [1, 7]],
        ["push", [1, 9]],
      ]],
      ...sampled,
    },
    {
      name: "who only looks, at what one producer sends",
      differs: TRIES_AGAIN,
      spec: spsc,
      agents: [[["any", [0, 1]], ["pop", 1]], [["push", [1, 7]]]],
    },
    {
      // At each time, one of both queues has an element.
      name: "an element comes, and another one goes",
      spec: moving,
      agents: [[["takeNow", [1, 0]]], [["push", [1, 7]], ["takeNow", [0]]]],
    },
    {
      name: "who only looks, while one comes and another one goes",
      differs: TRIES_AGAIN,
      spec: moving,
      agents: [[["anyNow", [1, 0]]], [["push", [1, 7]], ["takeNow", [0]]]],
    },
    {
      name: "one comes before another one is closed",
      spec: moving,
      agents: [[["takeNow", [1, 0]]], [["close", 1], ["takeNow", [0]]]],
    },
    {
      name: "room comes",
      differs: TRIES_AGAIN,
      spec: blocking(weft, full),
      agents: [[["takeOrAdd", 9]], [["pop", 1]]],
    },
    {
      name: "room comes, for one producer",
      differs: TRIES_AGAIN,
      spec: blocking(weft, { ...full, kinds: ["spsc", "spsc"] }),
      agents: [[["takeOrAdd", 9]], [["pop", 1]]],
    },
    {
      name: "room comes, or an element",
      spec: blocking(weft, full),
      agents: [[["takeOrAdd", 9]], [["pop", 1]], [["push", [0, 8]]]],
      ...sampled,
    },
    {
      name: "room comes, beside a producer",
      spec: blocking(weft, full),
      agents: [[["takeOrAdd", 9]], [["add", [1, 11]]], [
        ["pop", 1],
        ["push", [0, 8]],
        ["pop", 1],
      ]],
      ...sampled,
    },
    {
      name: "a timeout at any time",
      differs: TRIES_AGAIN,
      spec: mpmc,
      agents: [[["takeFor", [0, 1]]], [["push", [1, 7]]]],
      options: { timeouts: true },
    },
    {
      name: "a timeout beside a consumer",
      spec: mpmc,
      agents: [[["takeFor", [0, 1]]], [["pop", 1]], [["push", [1, 7]], [
        "push",
        [1, 9],
      ]]],
      options: { timeouts: true, states: 4000, runs: 50 },
      sampled: true,
    },
    {
      name: "spurious wakes",
      spec: spsc,
      agents: [[["take", [0, 1]]], [["push", [1, 7]]]],
      options: { spurious: true },
    },
    {
      name: "one is closed",
      differs: TRIES_AGAIN,
      spec: mpmc,
      agents: [[["take", [0, 1]]], [["close", 1]]],
    },
    {
      name: "one is closed by its producer",
      differs: TRIES_AGAIN,
      spec: spsc,
      agents: [[["take", [0, 1]]], [["close", 1]]],
    },
    {
      name: "one is closed, for who adds",
      differs: TRIES_AGAIN,
      spec: blocking(weft, { ...full, kinds: ["spsc", "spsc"] }),
      agents: [[["takeOrAdd", 9]], [["close", 1]]],
    },
    {
      name: "one who takes is terminated",
      spec: mortal(weft),
      agents: [[["take"]], [["take"]], [["push"], ["push"]]],
      options: {
        timeouts: 0,
        kill: true,
        rescue: true,
        races: false, // nothing orders survivors behind what the dead wrote
        states: 12_000,
      },
      sampled: true,
    },
    {
      name: "the only consumer is terminated",
      spec: spsc,
      agents: [[["take", [0, 1]]], [["push", [1, 7]], ["push", [0, 8]]]],
      options: { kill: true },
      sampled: true,
    },
    {
      name: "two who take, and one is closed",
      spec: mpmc,
      agents: [[["take", [0, 1]]], [["take", [1, 0]]], [["close", 0]]],
      ...sampled,
    },
  ];
  return [
    ...scenarios,
    ...otherQueues(weft, "free"),
    ...otherQueues(weft, "ring"),
    handsOn(weft),
    ...handedScenarios(weft),
  ];
}

/** The same at queues of another kind, by each way in which they wake. */
function otherQueues(weft: Weft, kind: "free" | "ring"): Scenario[] {
  const what = kind === "free" ? "lock-free" : "rings";
  const two = blocking(weft, { kinds: [kind, kind] });
  const full = blocking(weft, {
    kinds: [kind, kind],
    items: [[], [1, 2]],
  });
  const sampled = { options: { states: 4000, runs: 50 }, sampled: true };
  const scenarios: Scenario[] = [
    {
      name: `${what}: one comes`,
      ...kind === "ring" ? { differs: TRIES_AGAIN } : {},
      spec: two,
      agents: [[["take", [0, 1]]], [["push", [1, 7]]]],
    },
    {
      name: `${what}: one comes to the first`,
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["take", [0, 1]]], [["push", [0, 7]]]],
    },
    {
      name: `${what}: who only looks`,
      ...kind === "ring" ? { differs: TRIES_AGAIN } : {},
      spec: two,
      agents: [[["any", [0, 1]], ["pop", 1]], [["push", [1, 7]]]],
    },
    {
      name: `${what}: room comes`,
      spec: full,
      agents: [[["takeOrAdd", 9]], [["pop", 1]]],
    },
    {
      name: `${what}: one is closed`,
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["take", [0, 1]]], [["close", 1]]],
    },
    {
      name: `${what}: one is closed, for who adds`,
      differs: TRIES_AGAIN,
      spec: full,
      agents: [[["takeOrAdd", 9]], [["close", 1]]],
    },
    {
      name: `${what}: beside a producer that waits`,
      spec: full,
      agents: [[["takeOrAdd", 9]], [["add", [1, 11]]], [
        ["pop", 1],
        ["pop", 1],
      ]],
      ...sampled,
    },
    {
      name: `${what}: a timeout at any time`,
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["takeFor", [0, 1]]], [["push", [1, 7]]]],
      options: { timeouts: true },
    },
  ];
  return scenarios;
}
