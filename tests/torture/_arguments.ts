/**
 * A thread that calls every export with arguments of all kinds, again and again
 * with other mixtures of them.
 */
import { callWrongly, SINGLE, subjectsOf } from "../_region/arguments.ts";
import { hello } from "../_run/workers.ts";
import type { Row } from "./_row.ts";

interface Order {
  readonly time: number;
  readonly seed: number;
  readonly only: string;
}

const { data, post } = await hello<Order>();
const end = performance.now() + data.time;
const problems = new Map<string, string>();
const subjects = subjectsOf().filter(({ name }) =>
  name.toLowerCase().includes(data.only.toLowerCase())
);
const AT_ONCE = 200;
let volume = 0;
for (let round = 0; performance.now() < end && subjects.length > 0; round++) {
  for (const subject of subjects) {
    if (performance.now() >= end) break;
    const from = round === 0 ? 0 : SINGLE;
    const seed = data.seed * 1000 + round;
    const wrong = await callWrongly(subject, from, AT_ONCE, seed);
    if (wrong !== undefined) problems.set(subject.name, wrong);
    volume += AT_ONCE;
  }
}
const row: Row = {
  what: `JavaScript: arguments of all kinds, ${subjects.length} functions`,
  volume,
  unit: "calls",
  problems: [...problems.values()],
};
post(row);
