// Schedules as text, and what replaying them says.
import * as assert from "uvu/assert";
import { parseSchedule, scheduleText } from "../../race/engine/kinds.ts";
import { race, RaceError } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { FAMILIES, locks, type ring } from "./corpus/families.ts";
import { load } from "./corpus/load.ts";
import { words } from "./asserts.ts";

const right = await load();
const test = suite("race schedules");

const memory = () => new SharedArrayBuffer(64);

test("writes a schedule and reads it again", () => {
  const text = "0*3 1 0t 2k 1w*2 0s2 1a 1f";
  assert.is(scheduleText(parseSchedule(text)), text);
  assert.throws(() => parseSchedule("0x"), SyntaxError);
});

test("refuses a schedule that no program can have", () => {
  const refused = (text: string, message: RegExp) =>
    assert.throws(
      () => parseSchedule(text),
      (error: Error) =>
        error instanceof RangeError && message.test(error.message),
      text,
    );
  for (const text of ["256", "300t", "4294967296*3", "99999999999999999999"]) {
    refused(text, /^Cannot replay the schedule: .*: there is no agent \d+$/);
  }
  for (const text of ["0s524288", "0s1048576", "1a99999999999"]) {
    refused(text, /is not possible: there is no number \d+$/);
  }
  const long = `0*${"9".repeat(400)}`;
  for (const text of ["0*99999999999", long, "0*9000000 1*9000000"]) {
    refused(text, /it has more than 10000000 steps$/);
  }
});

test("replays one interleaving, and a table of it", () => {
  const q = FAMILIES.mpmc!(right)[0]!.spec;
  const { table, ok } = race.replay(
    q as ReturnType<typeof ring>,
    [[["push", 1]], [["pop"]]],
    "0*3 1*2",
  );
  assert.ok(ok);
  assert.match(table!, /cas tail 0 => 1 -> 0 ok/);
  assert.match(table!, /next: plain write value0/);
});

test("refuses a schedule that cannot happen", () => {
  const lock = locks(right);
  assert.throws(
    () => race.replay(lock, [[["lock"]]], "0t"),
    /Cannot replay the schedule: step 1/,
  );
});

test("throws an error whose message is the table", () => {
  const add = (memory: SharedArrayBuffer) => void words(memory)[0]!++;
  try {
    race.agents({ memory, words: { total: 0 } }, add, add);
  } catch (error) {
    assert.instance(error, RaceError);
    const { kind, message, schedule } = error as RaceError;
    assert.is(kind, "data-race");
    assert.match(message, /\| agent 0 .*\| agent 1/);
    assert.match(message, /plain write total/);
    assert.is(schedule, "0");
    return;
  }
  assert.unreachable();
});
