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
