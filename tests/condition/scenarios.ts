import type { Scenario, Weft } from "../_run/scenario.ts";
import {
  counted,
  dozing,
  freed,
  terminated,
  tokens,
  total,
  WAITING,
} from "./sections.ts";

/** The race scenarios of `Condition`. */
export function scenarios(weft: Weft): Scenario[] {
  const spec = tokens(weft);
  const large = { states: 50_000, time: 20_000 };
  return [
    {
      name: "one waits, one notifies unlocked",
      spec,
      agents: [[["take"]], [["put", 1]]],
    },
    {
      name: "one waits twice, one notifies twice, locked",
      spec: tokens(weft, -1),
      agents: [[["take"], ["take"]], [["putInside", 1], ["putInside", 1]]],
      options: large,
      sampled: true,
    },
    {
      name: "two wait, one notifies both",
      spec,
      agents: [[["take"]], [["take"]], [["put", 2]]],
      options: large,
      sampled: true,
    },
    {
      name: "two wait, notified one by one",
      spec,
      agents: [[["take"]], [["take"]], [["put", 1], ["put", 1]]],
      options: large,
      sampled: true,
    },
    {
      name: "two wait, all are notified",
      spec,
      agents: [[["take"]], [["take"]], [["putAll", 2]]],
      options: large,
      sampled: true,
    },
    {
      name: "notified from everywhere",
      spec: tokens(weft, -1),
      agents: [[["take"]], [["put", 1]], [["notify", 1], ["notify", 1]]],
      options: large,
      sampled: true,
    },
    {
      name: "one notifies locked, the other frees the condition",
      spec: freed(weft, 1),
      agents: [[["notify"]], [["waitAndFree"]]],
      options: { timeouts: 0 },
    },
    {
      name: "one notifies all, the last waiter frees the condition",
      spec: freed(weft, 2),
      agents: [[["notifyAll"]], [["waitAndFree"]], [["waitAndFree"]]],
      options: { ...large, timeouts: 0 },
      sampled: true,
    },
    {
      name: "a timeout at any time",
      spec,
      agents: [[["takeFor"]], [["put", 1]]],
      options: { timeouts: true },
    },
    {
      name: "a timeout beside a waiter",
      spec,
      agents: [[["takeFor"]], [["take"]], [["put", 1], ["put", 1]]],
      options: { ...large, timeouts: true },
      sampled: true,
    },
    {
      name: "spurious wakes",
      spec,
      agents: [[["take"]], [["put", 1]]],
      options: { spurious: true },
    },
    {
      name: "called once",
      spec: dozing(weft, 1),
      agents: [[["doze"], ["doze"]], [["notifyAll"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "called once, of two, where the turn wraps",
      spec: dozing(weft, 1, 0x7fff_ffff),
      agents: [[["doze"]], [["doze"]], [["notify"]]],
      options: { timeouts: 0, rescue: true, states: 30_000 },
      sampled: true,
    },
    {
      name: "spurious calls",
      spec: dozing(weft, 0),
      agents: [[["doze"]], [["doze"]]],
      options: { spurious: true, rescue: true, timeouts: 0 },
    },
    {
      name: "a waiter is terminated",
      spec: terminated(weft),
      agents: [[["doze"]], [["take"]], [["put"]]],
      // Nothing orders what a dead owner did before its mutex is abandoned.
      options: { ...large, kill: true, rescue: true, races: false },
      sampled: true,
    },
    {
      name: "two notify at once",
      spec: counted(
        weft,
        { odd: 2 * WAITING, turn: 1 },
        (_, { odd }) => odd === 2 ? "" : "not both were called",
      ),
      agents: [[["notify"]], [["notify"]]],
    },
    {
      name: "two notify at once, where some are not awake yet",
      spec: counted(
        weft,
        { odd: 2 * WAITING + 1 },
        (_, { odd, turn }) =>
          odd === 2 && turn === 1 ? "" : "not both were called",
      ),
      agents: [[["notify"]], [["notify"]]],
    },
    {
      name: "an old call is no new one",
      spec: counted(
        weft,
        { odd: WAITING + 1 },
        (_, { odd }) => odd === 1 ? "" : "not one was called",
      ),
      agents: [[["notify"]]],
    },
    {
      name: "the turn passes once",
      spec: counted(
        weft,
        { odd: WAITING },
        (_, { turn, even }) =>
          turn === 1 && even % WAITING > 0
            ? "called before its turn"
            : total(even) === 1
            ? ""
            : "another count",
      ),
      agents: [[["notify"], ["join"], ["notify"]], [["notify"]]],
    },
    {
      name: "joins while another of its group is called",
      spec: counted(
        weft,
        { odd: WAITING },
        ([[called]], { odd, even }) =>
          odd + even === (called ? WAITING : 1) ? "" : "another count",
      ),
      agents: [[["doze"]], [["notify"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "takes no call of the group two before",
      spec: counted(
        weft,
        { odd: 1 },
        ([[called]], { odd }) =>
          !called && odd === 1 ? "" : "it took another's call",
      ),
      agents: [[["doze"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "takes no call that came before it waited",
      spec: counted(
        weft,
        {},
        ([, answers]) => answers![1] === false ? "" : "it took another's call",
      ),
      agents: [[["doze"]], [["notify"], ["doze"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "joins while two notifications overtake it",
      spec: counted(
        weft,
        { odd: WAITING },
        ([, , [, joined]], { turn, odd }) =>
          turn === 2 && joined === 2 && odd >= WAITING
            ? "counted where nobody waits"
            : "",
      ),
      agents: [[["nap"]], [["notify"]], [["notify"], ["join"]]],
      options: large,
      sampled: true,
    },
    {
      name: "joins while three turns pass",
      spec: counted(weft, {}, () => ""),
      agents: [[["nap"]], [["pass", 3], ["notify"]]],
    },
    {
      name: "wakes when two turns have passed",
      spec: counted(
        weft,
        {},
        ([, joins], { turn, odd }) =>
          turn === 3 && joins![2] === 3 && total(odd) !== 2
            ? "another count"
            : "",
      ),
      agents: [[["nap"]], [["pass", 2], ["join"], ["join"], ["notify"]]],
      options: large,
      sampled: true,
    },
    {
      name: "wakes when four turns have passed",
      spec: counted(
        weft,
        {},
        ([, joins], { turn, odd }) =>
          turn === 5 && joins![2] === 5 && total(odd) !== 2
            ? "it took another's call"
            : "",
      ),
      agents: [[["nap"]], [["pass", 4], ["join"], ["join"], ["notify"]]],
      options: large,
      sampled: true,
    },
    {
      name: "notifies while four turns pass",
      spec: counted(
        weft,
        {},
        ([, joins], { turn, even }) =>
          turn === 5 && joins![4] === 5 && even >= 2 * WAITING
            ? "the turn of some was left out"
            : "",
      ),
      agents: [[["notify"]], [
        ["pass", 3],
        ["join"],
        ["join"],
        ["notify"],
        ["join"],
        ["join"],
      ]],
      options: { polls: true }, // until the turn has passed
    },
    {
      name: "moves a turn on that lags behind, to wait",
      spec: counted(
        weft,
        { turn: 1, odd: WAITING + 1, lags: true },
        (_, { turn, even, odd }) =>
          turn === 1 && even === 0 && odd === WAITING + 1 ? "" : "other counts",
      ),
      agents: [[["nap"]]],
    },
    {
      name: "moves a turn on that lags behind",
      spec: counted(
        weft,
        { turn: 1, odd: WAITING + 1, lags: true },
        (_, { turn, even, odd }) =>
          turn === 1 && even === 0 && odd === 2 ? "" : "not both are called",
      ),
      agents: [[["nap"]], [["notify"]]],
    },
  ];
}
