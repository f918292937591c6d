// also: node
// it waits
// Agents that are terminated while they wait, or while they hold.
import type { Handle } from "../../mod.ts";
import * as assert from "uvu/assert";
import { Worker } from "node:worker_threads";
import {
  agentId,
  MpmcQueue,
  Mutex,
  type Region,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../../mod.ts";
import { SPSC_QUEUE } from "../../primitives/_memory/layout.ts";
import type { SleeperJob } from "./sleeper.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, endsWithin, passed } from "../_run/model.ts";

const SLEEPER = new URL("./sleeper.ts", import.meta.url);
const OTHER = 5;

/** A thread, asleep in a kind of wait. */
async function asleep(
  { handle }: Region,
  wait: SleeperJob["wait"],
): Promise<Worker> {
  const asleep = new SharedArrayBuffer(4);
  const workerData: SleeperJob = {
    handle: handle as Handle<never>,
    wait,
    asleep,
  };
  const thread = new Worker(SLEEPER, { workerData });
  const count = new Int32Array(asleep);
  while (Atomics.load(count, 0) === 0) await passed(5);
  await passed(60); // it has spun, and sleeps
  return thread;
}

/** The wait behind the dead agent, and the step that serves it. */
interface Scenario {
  region: Region;
  /** Waits as the terminated agent does. */
  next(): Promise<unknown>;
  /** Makes room for one waiter; must serve `next`. */
  serve(): void;
  /** Takes the dead agent's role, without which `next` is refused. */
  inherit?(): void;
  /** Whether the agent has taken that role. */
  begun?(): boolean;
}

function ofMutex(): Scenario {
  const region = Mutex.create();
  const theirs = asAgent(OTHER, () => new Mutex(region.buffer));
  theirs.lock();
  return {
    region,
    next: () => region.lockAsync(),
    serve: () => theirs.unlock(),
  };
}

const ofSemaphore = (n: number) => (): Scenario => {
  const region = Semaphore.create(0);
  const next = () => region.acquireAsync(n);
  return { region, next, serve: () => region.release(n) };
};

/** A queue whose consumer or producer sleeps, and its other end. */
function endsOf(region: SpscQueue | MpmcQueue, end: "push" | "pop") {
  const next = () =>
    end === "pop" ? region.popIntAsync() : region.pushIntAsync(2);
  const serve = () => {
    if (end === "pop") region.pushInt(1);
    else region.popInt();
  };
  return { region, next, serve };
}

const ofMpmc = (end: "push" | "pop") => (): Scenario => {
  const region = MpmcQueue.create({ capacity: 1 });
  if (end === "push") region.pushInt(1);
  return endsOf(region, end);
};

const ofSpsc = (end: "push" | "pop") => (): Scenario => {
  const region = SpscQueue.create({ capacity: 1 });
  if (end === "push") {
    const first = new SpscQueue(region.buffer);
    first.pushInt(1);
    first.abandon(agentId());
  }
  const { producer, consumer } = SPSC_QUEUE;
  const role = end === "push" ? producer : consumer;
  const words = new Int32Array(region.buffer);
  return {
    ...endsOf(region, end),
    inherit: () => assert.is(region.abandon(words[role]!), 1),
    begun: () => Atomics.load(words, role) !== 0,
  };
};

function ofWork(): Scenario {
  const region = WorkCounter.create(1);
  return { region, next: () => region.waitAsync(), serve: () => region.done() };
}

// Deno does not terminate a thread that sleeps in Atomics.wait: the thread
// wakes as if it were alive, and takes what it waited for.
const sparesSleepers = "Deno" in globalThis;

const scenarios: [SleeperJob["wait"], () => Scenario][] = [
  ["lock", ofMutex],
  ["lockAsync", ofMutex],
  ["acquire 1", ofSemaphore(1)],
  ["acquireAsync 1", ofSemaphore(1)],
  ["acquire 2", ofSemaphore(2)],
  ["acquireAsync 2", ofSemaphore(2)],
  ["spsc pop", ofSpsc("pop")],
  ["spsc popAsync", ofSpsc("pop")],
  ["spsc push", ofSpsc("push")],
  ["spsc pushAsync", ofSpsc("push")],
  ["mpmc pop", ofMpmc("pop")],
  ["mpmc popAsync", ofMpmc("pop")],
  ["mpmc push", ofMpmc("push")],
  ["mpmc pushAsync", ofMpmc("push")],
  ["wait", ofWork],
  ["waitAsync", ofWork],
];

const test = suite("A terminated agent");

for (const how of ["before the wake", "with the wake under way"]) {
  test(
    `a death in any wait costs the others a second at most, ${how}`,
    async () => {
      const mortal = scenarios.filter(([wait]) =>
        wait.includes("Async") || !sparesSleepers
      );
      for (let i = 0; i < mortal.length; i += 4) {
        await Promise.all(
          mortal.slice(i, i + 4).map(async ([wait, make]) => {
            const { region, next, serve, inherit, begun } = make();
            const dead = await asleep(region, wait);
            const die = async () => {
              const died = dead.terminate();
              if (how === "before the wake") await died;
              inherit?.();
            };
            // Of a role's successor, the wait begins when the agent is dead.
            if (inherit !== undefined) {
              while (!begun!()) await passed(5);
              await die();
            }
            const waiting = next();
            await passed(5);
            if (inherit === undefined) await die();
            serve();
            const ended = await endsWithin(2500, waiting);
            assert.ok(ended, `${wait}: the wake died with its waiter`);
          }),
        );
      }
    },
    60_000,
  );
}

test("that held a Mutex is freed by abandon()", async () => {
  const mutex = Mutex.create();
  const asleep = new SharedArrayBuffer(4);
  const workerData: SleeperJob = {
    handle: mutex.handle as Handle<never>,
    wait: "hold",
    asleep,
  };
  const dead = new Worker(SLEEPER, { workerData });
  const id = await new Promise<number>((resolve) =>
    dead.on("message", resolve)
  );
  assert.is(mutex.owner, id);
  const waits = [mutex.lockAsync(), mutex.lockAsync()];
  assert.is(mutex.tryLock(), undefined);
  await dead.terminate();
  assert.is(mutex.tryLock(50), undefined);
  assert.ok(mutex.abandon(id));
  const first = await waits[0]!;
  assert.ok(first.abandoned);
  first.unlock();
  const second = await waits[1]!;
  assert.not(second.abandoned);
  second.unlock();
});
