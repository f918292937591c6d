// Tests how failures are shown: tables, pages, and schedules that are replayed.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { runInThisContext } from "node:vm";
import * as assert from "uvu/assert";
import { race, RaceError } from "../../race/mod.ts";
import type { CallTuple, Options, Result } from "../../race/mod.ts";
import { svgOf } from "../../race/report/svg.ts";
import { suite } from "../_run/harness.ts";
import { bodies } from "./corpus/known_bad.ts";

const test = suite("race reports", 60_000);

const mutex = race.spec({
  memory: () => new SharedArrayBuffer(8),
  agent: (memory) => new Int32Array(memory),
  words: { state: 0, other: 4 },
  init: -1,
  ops: {
    lock: {
      run: (w) => {
        while (Atomics.compareExchange(w, 0, 0, 1) !== 0) {
          Atomics.wait(w, 0, 1);
        }
      },
      model: (owner: number, _, id) => owner < 0 ? [id, undefined] : null,
    },
    unlock: {
      run: (w) => {
        Atomics.notify(w, 0, 1);
        Atomics.store(w, 0, 0);
      },
      model: () => [-1, undefined],
    },
    work: {
      run: (w) => void Atomics.add(w, 1, 1),
      model: (owner: number) => [owner, undefined],
    },
  },
});
const SECTION: CallTuple[] = [["work"], ["lock"], ["unlock"], ["work"]];
const PROGRAM = [SECTION, SECTION];

const switchesOf = ({ failure }: Result): number =>
  Number(/(\d+) context switch/.exec(failure!.table)![1]);

test("a sampled failure has as few context switches as a searched one", () => {
  const check = (options: Options) =>
    race.check(mutex, ...PROGRAM, options) as Result;
  const searched = check({});
  const sampled = check({ states: 1, seed: 3 });
  assert.is(sampled.failure?.kind, "lost-wakeup");
  assert.match(sampled.failure!.table, /sampled/);
  assert.ok(
    switchesOf(sampled) <= switchesOf(searched) + 1,
    `${switchesOf(sampled)}, ${switchesOf(searched)}`,
  );
  const again = race.replay(mutex, PROGRAM, sampled.failure!.schedule);
  assert.is(again.failure?.kind, "lost-wakeup");
});

test("a failure can stay as it was found", () => {
  for (const searched of [true, false]) {
    const options = searched ? {} : { states: 1, seed: 3 };
    const check = (shorten: boolean) =>
      race.check(mutex, ...PROGRAM, { ...options, shorten }) as Result;
    const [short, found] = [check(true), check(false)];
    assert.is(found.failure?.kind, "lost-wakeup");
    const [least, first] = [switchesOf(short), switchesOf(found)];
    assert.ok(searched ? least <= first : least < first, `${least}, ${first}`);
    const again = race.replay(mutex, PROGRAM, found.failure!.schedule);
    assert.is(again.failure?.kind, "lost-wakeup");
  }
});

test("a loop of several steps is folded, and says how often it ran", () => {
  const { failure } = bodies({}, (w) => {
    for (let i = 0; i < 30; i++) {
      Atomics.load(w, 0);
      Atomics.notify(w, 1, 1);
    }
    throw new Error("over");
  });
  assert.match(failure!.table, /\(these 2 steps 30 times in all\)/);
  assert.is(failure!.table.match(/notify/g)!.length, 1);
  assert.not.match(failure!.table, /\(x/);
});

test("source lines can be left out", () => {
  const table = (lines: boolean) =>
    race.check(mutex, ...PROGRAM, { lines }).failure!.table;
  assert.match(table(true), /report_test\.ts:\d+/);
  assert.not.match(table(false), /report_test/);
});

test("an error's stack has no line of the tester's own", () => {
  const { failure } = bodies({}, () => {
    throw new Error("mine");
  });
  assert.match(failure!.message, /Error: mine/);
  assert.match(failure!.message, /report_test\.ts/);
  assert.not.match(failure!.message, /race\/(engine|explore)\//);
});

test("superfluous steps in a schedule are an error", () => {
  const { failure } = race.check(mutex, ...PROGRAM);
  const { schedule } = failure!;
  assert.throws(
    () => race.replay(mutex, PROGRAM, `${schedule} 0`),
    /Cannot replay the schedule/,
  );
  assert.throws(
    () => race.replay(mutex, [[["work"]]], "0*2"),
    /Cannot replay the schedule: step 2/,
  );
});

test("a replay marks the wrong answer as a search does", () => {
  const counter = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory: SharedArrayBuffer) => new Int32Array(memory),
    init: 0,
    ops: {
      add: {
        run: (w) => Atomics.store(w, 0, Atomics.load(w, 0) + 1),
        model: (n: number) => [n + 1, n + 1],
      },
    },
  });
  const twice = [[["add"]], [["add"]]] as const;
  const { failure } = race.check(counter, ...twice);
  assert.match(failure!.table, /\} = 1 +!! wrong/);
  const again = race.replay(counter, twice, failure!.schedule);
  assert.is(again.failure!.message, failure!.message);
  assert.match(again.table!, /\} = 1 +!! wrong/);
  assert.match(failure!.table, /2 context switches;/);
});

test("a replay can explore what follows the schedule", () => {
  // Agent 0 has the lock: what can go wrong from here on?
  const result = race.replay(mutex, PROGRAM, "0*2", { then: "explore" });
  assert.is(result.failure?.kind, "lost-wakeup");
  assert.match(result.failure!.schedule, /^0\*[2-9]/);
  const again = race.replay(mutex, PROGRAM, result.failure!.schedule);
  assert.is(again.failure?.kind, "lost-wakeup");
  const over = race.replay(mutex, PROGRAM, "0*5 1*5", { then: "explore" });
  assert.ok(over.ok);
  assert.is(over.summary, "complete: 1 state");
});

test("a failure's page holds each step and how the machine stands there", () => {
  const { failure } = race.check(mutex, ...PROGRAM);
  const page = failure!.page();
  assert.match(page, /^<!DOCTYPE html>/);
  assert.match(page, /ArrowDown/);
  const [, data] = /id="scenes">(.*?)<\/script>/s.exec(page)!;
  const scenes = JSON.parse(data!);
  assert.is(scenes.length, page.match(/<tr><td>/g)!.length);
  const last = scenes[scenes.length - 1];
  assert.equal(last.memory[0], ["state", 0]);
  assert.ok(last.waits[0].includes("sleeps on state"), last.waits[0]);
  assert.not.match(page, /https?:\/\/(?!www\.w3\.org)/);
});

test("an error holds the table in its message", () => {
  try {
    race.agents({ memory: () => new SharedArrayBuffer(4) }, () => {
      throw new Error("no");
    });
  } catch (error) {
    assert.instance(error, RaceError);
    assert.match((error as RaceError).message, /\| agent 0/);
    return;
  }
  assert.unreachable();
});

test("a report names the source's lines, if the code is a bundle", () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-"));
  // The bundle's second line comes from line 7 of counter.ts.
  const map = { version: 3, sources: ["src/counter.ts"], mappings: ";AAMA" };
  const code = `(words) => {\nAtomics.load(words, 0), words[0] = 1;\n}\n` +
    `//# sourceMappingURL=data:application/json;base64,` +
    btoa(JSON.stringify(map));
  const filename = path.join(folder, "bundle.js");
  try {
    fs.writeFileSync(filename, code);
    const write = runInThisContext(code, { filename });
    const { failure } = bodies({}, write, write);
    assert.is(failure!.kind, "data-race");
    assert.match(failure!.table, /counter\.ts:7/);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test("a large bundle without a source map does not keep a report waiting", () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-"));
  const line = "// No comment here says where a map lies.\n";
  const code = `(words) => {\nAtomics.load(words, 0), words[0] = 1;\n}\n` +
    line.repeat(100_000);
  const filename = path.join(folder, "large.js");
  try {
    fs.writeFileSync(filename, code);
    const write = runInThisContext(code, { filename });
    const { failure } = bodies({}, write, write);
    assert.is(failure!.kind, "data-race");
    assert.match(failure!.table, /large\.js:2/);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test("pictures hold no characters that XML may not have", () => {
  try {
    race.agents({ memory: () => new SharedArrayBuffer(4) }, () => {
      throw new Error("\u001b[31mred\u001b[39m \ud800 \u{1f600}");
    });
    assert.unreachable();
  } catch (error) {
    const { failure } = error as RaceError;
    for (const text of [failure.svg(), failure.page()]) {
      assert.not.match(text, "\u001b");
      assert.ok(text.isWellFormed());
      assert.match(text, "\ufffd[31mred\ufffd[39m \ufffd \u{1f600}");
    }
  }
});

test("what was thrown is the cause of the error", () => {
  const thrown = new Error("the sum is wrong");
  const memory = () => new SharedArrayBuffer(4);
  const add = (memory: SharedArrayBuffer) =>
    Atomics.add(new Int32Array(memory), 0, 1);
  const fails = (): never => {
    throw thrown;
  };
  const runs = [
    () => race.agents({ memory }, fails),
    () => race.agents({ memory }, add, { after: fails }),
    () => race.agents({ memory }, add, { after: () => thrown as never }),
    () => race.agents({ memory, invariant: fails }, add),
    () => race.agents({ memory }, fails, { sample: "random" }),
    () => race.agents({ memory }, fails, { kill: true }),
  ];
  for (const [i, run] of runs.entries()) {
    try {
      run();
      assert.unreachable();
    } catch (error) {
      assert.instance(error, RaceError, String(error));
      assert.is((error as RaceError).cause, thrown, `run ${i}`);
      const { failure } = error as RaceError;
      assert.is(failure.cause, thrown);
      assert.not.ok(JSON.stringify(failure).includes("cause"));
    }
  }
  const plain = (memory: SharedArrayBuffer) => {
    new Int32Array(memory)[0]! += 1;
  };
  try {
    race.agents({ memory }, plain, plain);
    assert.unreachable();
  } catch (error) {
    assert.is((error as RaceError).kind, "data-race");
    assert.not.ok("cause" in (error as RaceError));
  }
});

test("a picture may have as many rows as a long loop", () => {
  const row = {
    agent: 0,
    type: "step",
    text: "load [0] -> 0",
    site: "",
    step: 0,
    address: 0,
    writes: false,
    source: -1,
    plain: false,
  } as const;
  const svg = svgOf({
    title: "long",
    agents: ["agent 0"],
    rows: Array.from({ length: 200_000 }, () => row),
    scenes: [],
    endings: [undefined],
    footer: "",
    wrong: -1,
  });
  assert.ok(svg.endsWith("</svg>\n"));
});

/** The result of agents that run `bodies` and fail. */
async function told(
  bodies: readonly ((memory: SharedArrayBuffer) => unknown)[],
  options: Options = {},
): Promise<Result> {
  try {
    const memory = () => new SharedArrayBuffer(16);
    await race.agents({ memory }, ...bodies, options);
  } catch (error) {
    if (error instanceof RaceError) return error.result;
    throw error;
  }
  throw new Error("no failure");
}

test("each agent is told by its own call", async () => {
  const sleep = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    while (Atomics.load(words, 0) === 0) Atomics.wait(words, 0, 0);
  };
  const wake = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    for (let i = 0; i < 5; i++) Atomics.add(words, 1, 1);
    Atomics.notify(words, 0);
    Atomics.store(words, 0, 1);
  };
  const { message, table } = (await told([sleep, sleep, wake])).failure!;
  assert.is(
    message,
    "agent 0 sleeps in agent0() on [0]; agent 1 sleeps in agent1() on [0]",
  );
  assert.ok(table.includes("!! sleeps in agent1() on [0]"), table);
});

/** A buffer of one place, whose condition wakes one who waits: too few. */
const buffered = (has: number) => (memory: SharedArrayBuffer) => {
  const words = new Int32Array(memory);
  const lock = () => {
    while (Atomics.exchange(words, 0, 1) !== 0) Atomics.wait(words, 0, 1);
  };
  const unlock = () => {
    Atomics.store(words, 0, 0);
    Atomics.notify(words, 0, 1);
  };
  lock();
  while (words[1] !== has) {
    const changes = Atomics.load(words, 2);
    unlock();
    Atomics.wait(words, 2, changes);
    lock();
  }
  words[1] = 1 - has;
  Atomics.add(words, 2, 1);
  Atomics.notify(words, 2, 1);
  unlock();
};

test("a failure says which search has found it", async () => {
  const [put, get] = [buffered(0), buffered(1)];
  const { summary } = await told([put, put, get, get], { states: 2000 });
  assert.match(summary, /^by preemptions, after the first 200[01] states$/);
});

test("an agent that never resumes is told with the words that it awaits", async () => {
  const wait = async (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    const { value } = Atomics.waitAsync(words, 1, 0);
    await value;
  };
  const { failure } = await told([wait]);
  assert.is(
    failure?.message,
    "agent 0 never resumes in agent0(), which awaits a wake on [4]",
  );
});

test("an operation that may only be long is told how to go on", async () => {
  const fill = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    for (let i = 0; i < 300; i++) Atomics.store(words, i & 3, i);
  };
  const { failure } = await told([fill, fill], { maxSteps: 100 });
  assert.match(
    failure!.message,
    /; if it is only long, raise maxSteps \(100\)$/,
  );
  const memory = () => new SharedArrayBuffer(16);
  race.agents({ memory }, fill, { maxSteps: 200 });
});

test("stacks that the code under test makes change no verdict", async () => {
  const V8 = Error as { prepareStackTrace?: unknown };
  const { prepareStackTrace } = V8;
  const write = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    Atomics.add(words, 1, 1);
    words[0] = 1;
  };
  const one = (memory: SharedArrayBuffer) => {
    if (Atomics.load(new Int32Array(memory), 0) === 0) throw new Error("zero");
  };
  for (const made of [(_: Error, frames: unknown) => frames, () => 7]) {
    V8.prepareStackTrace = made;
    try {
      const { failure } = await told([write, write]);
      assert.is(failure!.kind, "data-race");
      assert.is((await told([one])).failure!.kind, "exception");
    } finally {
      V8.prepareStackTrace = prepareStackTrace;
    }
  }
});
