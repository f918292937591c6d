import type { Scenario, Weft } from "../_run/scenario.ts";
import {
  afterDeath,
  blocked,
  computing,
  inTurn,
  locks,
  nested,
  permits,
  spread,
  terminated,
} from "./settings.ts";

/** The race scenarios of waiting itself: awaiting, aborting and blocking. */
export function scenarios(weft: Weft): Scenario[] {
  const spec = locks(weft);
  const held = locks(weft, 2);
  const options = { timeouts: 0 };
  const scenarios: Scenario[] = [
    {
      name: "one blocks, one awaits",
      awaits: [1],
      spec,
      agents: [[["block"]], [["await"]]],
      options,
    },
    {
      name: "two await",
      awaits: [0, 1],
      spec,
      agents: [[["await"]], [["await"]]],
      options,
    },
    {
      name: "an agent awaits twice",
      spec: held,
      agents: [[["awaitTwice"]], [["unlock"]]],
      options,
    },
    {
      name: "one of an agent's waits is aborted",
      spec: held,
      agents: [[["abortOneOfTwo"]], [["unlock"]]],
      options,
    },
    {
      // The native wait outlives its operation, and must pass its wake on.
      name: "a wait is aborted, another one blocks",
      spec: locks(weft, 3),
      agents: [[["abort"]], [["block"]], [["unlock"]]],
      options: { timeouts: 0, states: 500, runs: 20 },
      sampled: true,
    },
    {
      name: "a wait is cancelled, another one blocks",
      spec: locks(weft, 3),
      agents: [[["cancel"]], [["block"]], [["unlock"]]],
      options: { timeouts: 0, states: 500, runs: 20 },
      sampled: true,
    },
    {
      name: "a wait is cancelled while it is served",
      spec: held,
      agents: [[["cancel"]], [["unlock"]]],
      options,
    },
    {
      name: "one awaits the end of the lock",
      spec: held,
      agents: [[["awaitUnlock"]], [["unlock"]]],
      options,
    },
    {
      name: "one awaits the end of the lock, one blocks",
      spec: locks(weft, 3),
      agents: [[["awaitUnlock"]], [["block"]], [["unlock"]]],
      options: { timeouts: 0, states: 500, runs: 20 },
      sampled: true,
    },
    {
      name: "an agent awaits three times, by priority",
      spec: held,
      agents: [[["awaitByPriority"]], [["unlock"]]],
      options,
    },
    {
      name: "a wait times out",
      spec: held,
      agents: [[["awaitFor"]], [["unlock"]]],
    },
    {
      // While it blocks, it could not answer a wake that its own native wait
      // takes.
      name: "an agent that awaits blocks",
      spec: blocked(weft),
      agents: [[["awaitAndBlock"]], [["blockAndRelease"]], [["unlock"]]],
      options: { timeouts: 0, states: 500, runs: 20 },
      sampled: true,
    },
    {
      name: "an agent that awaits blocks, behind another one",
      awaits: [1],
      spec: blocked(weft),
      agents: [[["blockAndRelease"]], [["awaitAndBlock"]], [["unlock"]]],
      options: { timeouts: 0, states: 500, runs: 20 },
      sampled: true,
    },
    {
      // Its native wait must not take the wake of the unlock.
      name: "a wait is aborted, its agent computes, another one blocks",
      spec: computing(weft),
      agents: [[["abortAndCompute"]], [["blockAndTell"]], [["unlock"]]],
      options: { timeouts: 0, states: 500, runs: 20 },
      sampled: true,
    },
    {
      name: "two pushes of an agent keep their order",
      spec: inTurn(weft, 2),
      agents: [[["pushTwice"]], [["pop"], ["pop"]]],
      options,
    },
    {
      name: "a push gives up before another one of its agent",
      spec: inTurn(weft, 1),
      agents: [[["pushAndGiveUp"]], [["pop"], ["pop"]]],
      options,
    },
    {
      name: "two pushes of an agent, and who popped is terminated",
      spec: afterDeath(weft),
      agents: [[["pushTwice"]], [["pop"], ["pop"]]],
      options: { timeouts: 0, kill: true, rescue: true },
    },
    {
      name: "ready results are spread over turns",
      spec: spread(weft),
      agents: [[["acquireInTurn"]], [["release", 2]]],
    },
    {
      name: "a release serves two waits of an agent",
      spec: permits(weft),
      agents: [[["acquireTwice", 1]], [["release", 2]]],
      options,
    },
    {
      name: "a release serves two waits of an agent, for two each",
      spec: permits(weft),
      agents: [[["acquireTwice", 2]], [["release", 4]]],
      options,
    },
    {
      // It is behind a waiter that sleeps on, because that one wants more.
      name: "a release serves the second in line",
      spec: permits(weft),
      agents: [[["acquireBehind"]], [["release", 2]]],
      options,
    },
    {
      // It has claimed the permit, and the other one has a higher priority.
      name: "a release serves the claimant behind another one",
      spec: permits(weft, 0),
      agents: [[["pass"]], [["release", 1]]],
      options,
    },
    {
      name: "aborted while served",
      spec: permits(weft),
      agents: [[["abort"], ["tryAcquire"]], [["release", 1]]],
      options,
    },
    {
      name: "cancelled while served",
      spec: permits(weft),
      agents: [[["cancel"], ["tryAcquire"]], [["release", 1]]],
      options,
    },
    {
      name: "a wait begins while another one is resumed",
      spec: nested(weft, false),
      agents: [[["receiveTwice"]], [["send", 1], ["send", 2]]],
      options,
      notInC: "C has no codecs of a program's own",
    },
    {
      name: "a select begins while a wait is resumed",
      spec: nested(weft, true),
      agents: [[["receiveTwice"]], [["send", 1], ["send", 2]]],
      options,
      notInC: "C has no codecs of a program's own",
    },
    {
      name: "an agent is terminated",
      spec: terminated(weft),
      agents: [[["await"]], [["unlock"]]],
      options: { timeouts: 0, kill: true, rescue: true },
    },
  ];
  // The first agent awaits, unless the scenario says otherwise.
  return scenarios.map((scenario) => ({ awaits: [0], ...scenario }));
}
