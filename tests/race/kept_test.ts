// also: node
// Failures of `race.assert` that are kept in a file are run again first.
import fc from "../_run/property.ts";
import fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { type AssertOptions, race, RaceError } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race failures that are kept");

/** What a counter adds: read and write apart, at once, or in another way. */
let how: "apart" | "at once" | "twice" = "apart";
let explored = 0;
/** Is called when memory is made. */
let meanwhile = () => {};

const counter = race.spec({
  memory: () => (explored++, meanwhile(), new SharedArrayBuffer(8)),
  agent: (memory) => new Int32Array(memory),
  init: 0,
  ops: {
    add: {
      arg: fc.constant(1),
      run: (w, n) => {
        if (how === "at once") return Atomics.add(w, 0, n);
        if (how === "twice") Atomics.load(w, 1);
        const old = Atomics.load(w, 0);
        Atomics.store(w, 0, old + n);
        return old;
      },
      model: (sum: number, n) => [sum + n, sum],
    },
    get: { run: (w) => Atomics.load(w, 0), model: (sum: number) => [sum, sum] },
  },
});

const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-kept-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

const OPTIONS: AssertOptions = { ops: 2, programs: 20, seed: 1 };

function failure(options: AssertOptions, spec = counter): RaceError {
  try {
    race.assert(spec, options);
  } catch (error) {
    if (error instanceof RaceError) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

test("a failure is written down, and the next run begins with it", () => {
  const failures = path.join(folder, "counter.json");
  const options = { ...OPTIONS, failures };
  how = "apart";
  const first = failure(options);
  assert.match(first.message, `kept in ${failures}`);
  assert.match(first.message, "found in program");
  const [kept] = JSON.parse(fs.readFileSync(failures, "utf8"));
  assert.equal(kept, {
    kind: "not-linearizable",
    program: first.failure.program,
    begin: 0,
    end: 0,
    schedule: first.schedule,
  });

  const again = failure({ ...options, programs: 0 });
  assert.match(again.message, `(kept in ${failures}, and failed again)`);
  assert.is(again.schedule, first.schedule);

  how = "twice"; // the schedule is not possible, the program still fails
  const other = failure({ ...options, programs: 0 });
  assert.is(other.kind, "not-linearizable");
  assert.is.not(other.schedule, first.schedule);

  how = "at once";
  assert.is((race.assert(counter, { ...options, programs: 3 })).programs, 4);
  assert.is(JSON.parse(fs.readFileSync(failures, "utf8")).length, 1);
});

test("calls that run alone are kept, too", () => {
  const failures = path.join(folder, "begin.json");
  how = "apart";
  const options = { ...OPTIONS, begin: 1, end: 1, seed: 3, failures };
  failure(options);
  const text = fs.readFileSync(failures, "utf8");
  const [kept] = JSON.parse(text);
  assert.type(kept.begin, "number");
  fs.writeFileSync(failures, JSON.stringify([{ ...kept, schedule: "" }]));
  assert.is(failure({ ...options, programs: 0 }).kind, "not-linearizable");
});

test("asynchronous specifications keep theirs", async () => {
  const failures = path.join(folder, "async.json");
  let right = false;
  const slow = race.spec({
    async: true,
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    init: 0,
    ops: {
      add: {
        run: async (w) => {
          if (right) return Atomics.add(w, 0, 1);
          const old = Atomics.load(w, 0);
          await Promise.resolve();
          return Atomics.store(w, 0, old + 1) - 1;
        },
        model: (n: number) => [n + 1, n],
      },
    },
  });
  const options = { ...OPTIONS, failures };
  const told = async (options: AssertOptions) => {
    try {
      return (await race.assert(slow, options)).summary;
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(await told(options), `kept in ${failures}`);
  assert.match(await told({ ...options, programs: 0 }), "failed again");
  right = true;
  assert.match(await told({ ...options, programs: 2 }), "3 programs");
});

test("an argument that is not JSON is told, and nothing is kept", () => {
  const failures = path.join(folder, "big.json");
  const within: Record<string, unknown> = {};
  within.itself = within;
  for (const odd of [NaN, 5n, within, [[[[{ deep: NaN }]]]]]) {
    const big = race.spec({
      memory: () => new SharedArrayBuffer(4),
      agent: (memory) => new Int32Array(memory),
      init: 0,
      ops: {
        add: {
          arg: fc.constant(odd),
          run: (w) => Atomics.store(w, 0, Atomics.load(w, 0) + 1),
          model: (n: number) => [n + 1, n + 1],
        },
      },
    });
    const { message } = failure({ ...OPTIONS, failures }, big as Any);
    assert.match(message, "because an argument is not JSON");
    assert.is(fs.existsSync(failures), false);
  }
});

test("a failure is thrown, also if its file cannot be written", () => {
  how = "apart";
  const failures = path.join(folder, "no such folder", "kept.json");
  const { kind, message } = failure({ ...OPTIONS, failures });
  assert.is(kind, "not-linearizable");
  assert.match(message, /not kept in .*kept\.json: ENOENT/);
});

// deno-lint-ignore no-explicit-any
type Any = any;

test("what another process keeps meanwhile stays", () => {
  how = "apart";
  const real = path.join(folder, "shared.json");
  const failures = path.join(folder, "link.json");
  fs.symlinkSync(real, failures);
  const other = {
    kind: "deadlock",
    program: [[["get"]]],
    begin: 0,
    end: 0,
    schedule: "0",
  };
  const fresh = race.spec(counter.definition);
  meanwhile = () => fs.writeFileSync(real, JSON.stringify([other]));
  try {
    failure({ ...OPTIONS, failures }, fresh as Any);
  } finally {
    meanwhile = () => {};
  }
  const kept = JSON.parse(fs.readFileSync(real, "utf8"));
  assert.equal(kept.map(({ kind }: Any) => kind), [
    "not-linearizable",
    "deadlock",
  ]);
  assert.ok(fs.lstatSync(failures).isSymbolicLink());
  assert.is(fs.existsSync(`${real}.new`), false);

  // The file that a process was terminated with does not last for ever.
  fs.writeFileSync(`${real}.new`, "[");
  fs.writeFileSync(real, "[]");
  const { message } = failure({ ...OPTIONS, failures });
  assert.match(message, `kept in ${failures}`);
  assert.is(JSON.parse(fs.readFileSync(real, "utf8")).length, 1);
  assert.is(fs.existsSync(`${real}.new`), false);
});

test("what another process begins to write right then is left to it", () => {
  how = "apart";
  const failures = path.join(folder, "next.json");
  const fresh = `${failures}.new`;
  const { renameSync } = fs;
  fs.renameSync = (from, to) => {
    renameSync(from, to);
    fs.writeFileSync(fresh, "of another process", { flag: "wx" });
  };
  try {
    failure({ ...OPTIONS, failures });
  } finally {
    fs.renameSync = renameSync;
  }
  assert.is(fs.readFileSync(fresh, "utf8"), "of another process");
  assert.is(JSON.parse(fs.readFileSync(failures, "utf8")).length, 1);
  fs.rmSync(fresh);
});

test("a file that holds something else is an error, before anything runs", () => {
  const failures = path.join(folder, "other.json");
  const holds = (text: string, message: RegExp) => {
    fs.writeFileSync(failures, text);
    const before = explored;
    assert.throws(() => race.assert(counter, { failures }), message);
    assert.is(explored, before);
  };
  holds("{", /Cannot run the failures in .*other\.json again/);
  holds('{"a":1}', /Cannot run .*no list of failures/);
  holds("[null]", /a failure needs a program/);
  holds("[{}]", /a failure needs a program/);
  holds('[{"program":[["add"]]}]', /a list of calls/);
  const many = Array.from({ length: 17 }, () => []);
  holds(
    JSON.stringify([{ program: many, schedule: "", begin: 0, end: 0 }]),
    /Cannot run the failures in .*other\.json again: A program has at most 16/,
  );
  const folders = { failures: folder };
  assert.throws(
    () => race.assert(counter, folders),
    (error: Error) =>
      error.message.startsWith(`Cannot run the failures in ${folder}`),
  );
  holds(
    '[{"program":[[["sub"]]],"schedule":"0","begin":0,"end":0}]',
    /no operation "sub"/,
  );
  holds(
    '[{"program":[[["add",1]]],"schedule":"0","begin":-1,"end":0}]',
    /needs a schedule, begin and end/,
  );
});

test("only assert has a file of failures", () => {
  const options = { failures: "x" } as Any;
  assert.throws(() => race.property(counter, options), /Unknown option/);
  assert.throws(() => race.assert(counter, { failures: 1 as Any }), TypeError);
});
