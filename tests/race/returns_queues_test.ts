// What an agent saw in an operation of a queue is left out of its state when
// the operation has returned: the same ends and failures, of fewer states.
import fc from "../_run/property.ts";
import * as fs from "node:fs";
import process from "node:process";
import * as assert from "uvu/assert";
import { LockFreeQueue, MpmcQueue } from "../../mod.ts";
import { type Options, race, RaceError, type Result } from "../../race/mod.ts";
import { all } from "../_run/depth.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race returned operations of queues", 120_000);

type Queue = MpmcQueue | LockFreeQueue;

const QUEUES = { MpmcQueue, LockFreeQueue };
type Name = keyof typeof QUEUES;

const CONFIG = { capacity: 2, elementSize: 4 };
/** Where agents say what they saw. */
const SEEN = 2048;

function memoryOf(name: Name): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(SEEN + 16);
  QUEUES[name].init(memory, 0, CONFIG);
  return memory;
}

/** What agents can do with a queue; each answers a number. */
const ACTIONS: Readonly<Record<string, (queue: Queue) => number>> = {
  push: (queue) => (queue.pushInt(1), 0),
  other: (queue) => Number(queue.tryPushInt(2)),
  late: (queue) => Number(queue.tryPushInt(3, 5)),
  pop: (queue) => queue.popInt(),
  look: (queue) => queue.tryPopInt() ?? 8,
  wait: (queue) => queue.tryPopInt(5) ?? 8,
  many: (queue) => queue.tryPushMany(new Int32Array([4, 5]), 2),
  close: (queue) => (queue.close(), 0),
};

/** How a program of agents can end, and what was found. */
function endsOf(
  name: Name,
  agents: readonly (readonly string[])[],
  options: Options,
): [ends: unknown, result: Result] {
  const seen = new Set<string>();
  const bodies = agents.map((names, id) => (memory: SharedArrayBuffer) => {
    const queue = new QUEUES[name](memory);
    let all = 0;
    try {
      for (const name of names) all = 10 * all + ACTIONS[name]!(queue);
    } catch {
      all = 10 * all + 9; // it is closed
    }
    Atomics.store(new Int32Array(memory, SEEN), id, all);
  });
  let result: Result;
  try {
    result = race.agents({ memory: () => memoryOf(name) }, ...bodies, {
      states: 30_000,
      time: 60_000,
      runs: 0,
      shorten: false,
      ...options,
      after(memory: SharedArrayBuffer) {
        seen.add(`${new Int32Array(memory, SEEN)}`);
      },
    }) as Result;
  } catch (error) {
    if (!(error instanceof RaceError)) throw error;
    ({ result } = error);
  }
  const { failure, ok } = result;
  return [ok ? [...seen].sort() : failure?.kind, result];
}

test("random programs end as they do without", () => {
  const action = fc.constantFrom(...Object.keys(ACTIONS));
  const calls = fc.array(action, { minLength: 1, maxLength: 2 });
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? (all() ? 40 : 8));
  const programs = fc.sample(
    fc.tuple(
      fc.constantFrom("MpmcQueue", "LockFreeQueue"),
      fc.oneof(
        fc.tuple(calls, calls),
        fc.tuple(calls, action.map((a) => [a]), action.map((a) => [a])),
      ),
    ),
    { numRuns, seed: 5 },
  );
  let [compared, fewer] = [0, 0];
  for (const [name, agents] of programs) {
    const [plain, whole] = endsOf(name, agents, { reduce: false });
    if (whole.ok && !whole.complete) continue;
    const [ends, reduced] = endsOf(name, agents, {});
    assert.equal(ends, plain, `${name} ${agents.join(" | ")}`);
    assert.is(reduced.complete, whole.complete, agents.join(" | "));
    compared++;
    if (reduced.states < whole.states) fewer++;
  }
  assert.ok(compared > numRuns / 3, `${compared} programs`);
  assert.ok(fewer > compared / 2, `${fewer} of ${compared} programs`);
});

test("two producers and a consumer that wait have few states", () => {
  const pushes = (memory: SharedArrayBuffer) =>
    new MpmcQueue(memory).pushInt(1);
  const pops = (memory: SharedArrayBuffer) => {
    const queue = new MpmcQueue(memory);
    return queue.popInt() + queue.popInt();
  };
  const queue = { memory: () => memoryOf("MpmcQueue") };
  const result = race.agents(queue, pushes, pushes, pops) as Result;
  assert.ok(result.complete);
  assert.ok(result.states < 40_000, `${result.states} states`);
  // Rounds of waits are one, so no loop counts as endless.
  assert.equal(result.bounds ?? [], []);
});

/** A queue whose view keeps whether it was empty when it was pushed to. */
class Over extends MpmcQueue {
  #empty = 0;
  override pushInt(value: number): void {
    this.#empty += this.size === 0 ? 1 : 0;
    super.pushInt(value + this.#empty);
  }
}

test("a user's class over a queue may keep something", () => {
  const states = (reduce: boolean) => {
    const body = (memory: SharedArrayBuffer) => {
      const queue = new Over(memory);
      queue.pushInt(4);
      queue.tryPopInt();
    };
    const queue = { memory: () => memoryOf("MpmcQueue") };
    const o: Options = { reduce: reduce ? "remembered" : false };
    const result = race.agents(queue, body, body, o) as Result;
    assert.ok(result.complete);
    return result.states;
  };
  assert.is(states(true), states(false));
});

/**
 * The fields of views of queues that change, and the operations that use them:
 * those of the table write them before they read them, or do not use them.
 */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  "mpmc/core.ts": ["#reserved", "#peeked", "#claimed"],
  "lock_free/core.ts": ["#reserved", "#peeked", "#ticket"],
  "queue.ts": ["#spunAt", "#initialDelay", "#spare"],
  "queue_core.ts": [],
};

/** What uses such a field, but for what writes it first. */
const USES: Readonly<Record<string, readonly string[]>> = {
  "#reserved": ["reserve", "commit"],
  "#peeked": ["peek", "consume"],
  "#claimed": ["tryPushMany", "tryPopMany"], // behind `#claimPush`, `#claimPop`
  "#ticket": ["tryPushMany", "tryPushInt"], // behind `#claim`
  "#spunAt": ["#delayAt"], // only where it spins
  "#initialDelay": ["#delayAt"],
  "#spare": ["#take"], // an array to fill, for operations that return one
};

test("views of queues keep nothing that operations of the table see", () => {
  for (const [file, expected] of Object.entries(CHANGES)) {
    const url = new URL(`../../primitives/_queue/${file}`, import.meta.url);
    const source = fs.readFileSync(url, "utf8");
    const fields = [
      ...source.matchAll(/^ {2,4}(#\w+)(?:: [^=(\n]*| = [^(\n]*);$/gm),
    ].map(([, name]) => name!);
    assert.equal(fields, expected, file);
    for (const field of fields) {
      const users = new Set<string>();
      for (
        const { index } of source.matchAll(new RegExp(`this.${field}`, "g"))
      ) {
        const rest = source.slice(index);
        if (/^this\.#(claimed|ticket) = /.test(rest)) continue;
        const heads = source.slice(0, index).matchAll(
          /^ {2,4}(?:override )?(?!if|for|while)(#?\w+)\(.*\{$/gm,
        );
        users.add([...heads].at(-1)![1]!);
      }
      assert.equal([...users], USES[field], `${file} ${field}`);
    }
  }
});
