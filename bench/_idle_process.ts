// A program; its argument is a kind of wait. How much processor time do 8
// agents that sleep in it use within 3 s? It prints one JSON object.
import process from "node:process";
import {
  agentId,
  type Handle,
  MpmcQueue,
  Mutex,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../mod.ts";
import { spawn } from "../tests/_run/workers.ts";

const AGENTS = 8;
const SECONDS = 3;

const mutex = Mutex.create();
const guard = mutex.lock();
const semaphore = Semaphore.create(0);
const mpmc = MpmcQueue.create({ capacity: 4 });
const crammed = MpmcQueue.create({ capacity: 1 });
crammed.pushInt(0);
const counter = WorkCounter.create(1);

/**
 * An SpscQueue has only one agent at each end, so each agent has its own queue.
 */
function spscQueues(): Record<string, Handle> {
  const full = SpscQueue.create({ capacity: 1 });
  full.pushInt(0);
  full.abandon(agentId()); // the agent pushes from now on
  return {
    spsc: SpscQueue.create({ capacity: 4 }).handle,
    full: full.handle,
  };
}

const threads = [];
for (let i = 0; i < AGENTS; i++) {
  const handles = {
    mutex: mutex.handle,
    semaphore: semaphore.handle,
    mpmc: mpmc.handle,
    crammed: crammed.handle,
    counter: counter.handle,
    ...spscQueues(),
  };
  const url = new URL("./_idle_thread.ts", import.meta.url);
  threads.push(await spawn(url, { kind: process.argv[2], handles }));
}
for (const thread of threads) await thread.next();
let woken = 0;
for (const thread of threads) thread.next().then(() => woken++, () => woken++);
const pause = (seconds: number) =>
  new Promise((resolve) => setTimeout(resolve, seconds * 1000));
await pause(1); // compiling and collecting goes on for a while
const before = process.cpuUsage();
await pause(SECONDS);
const { user, system } = process.cpuUsage(before);
if (woken > 0) throw new Error(`${woken} agents did not sleep`);
console.log(JSON.stringify({
  percent: (user + system) / 1e6 / SECONDS * 100,
}));
guard.unlock();
process.exit(0);
