/**
 * The storm on a shop: agents that take jobs from a channel, or serve calls,
 * use two locks, a semaphore and a map for each job. They block, or await
 * several jobs at a time. They are terminated, recovered and replaced at any
 * time, while the main thread sends jobs and calls, and gives some of them up.
 *
 * What the model allows: no job is begun twice. Each call ends: with its
 * result, by its abort, or because its server was terminated. One agent holds
 * the mutex at a time, writers are alone, and no more permits are held than
 * there are. A job that was sent is done, and its result comes once: each agent
 * that is terminated may lose as many as it had at a time. When all is over,
 * the locks, the permits and all slots are free.
 *
 * @module
 */
import fc from "../_run/property.ts";
import {
  CallRing,
  Channel,
  connect,
  HashMap,
  inspect,
  Mutex,
  recover,
  RwLock,
  Semaphore,
  valueCodec,
} from "../../mod.ts";
import { spawn, type Thread } from "../_run/workers.ts";
import { CAN_DIE } from "./_calls_api.ts";
import { abortAfter } from "./_calls_talks.ts";
import {
  BY,
  CODECS,
  type Handles,
  HELD,
  type Job,
  type Orders,
  PERMITS,
  SEATS,
  viewsOf,
  WORDS,
} from "./_shop_loops.ts";
import { type Ledger, mostly, pause, type Storm, words } from "./_storm.ts";

const AGENT = new URL("./_shop_agent.ts", import.meta.url);

/** The most jobs of a play. */
const MOST = 256;

const job = fc.record({
  what: fc.constantFrom<Job["what"]>(
    ...[
      "mutex",
      "mutex",
      "read",
      "read",
      "write",
      "permits",
      "permits",
    ] as const,
    "map",
  ),
  n: fc.nat(99),
  /** When it is aborted: see `Timed`. */
  abort: mostly(-1, fc.nat(9)),
});

const plans = fc.record({
  capacity: fc.constantFrom(0, 1, 2, 8),
  slots: fc.integer({ min: 1, max: 4 }),
  /** The first takes jobs, the second serves. */
  agents: fc.array(
    fc.record({
      serves: fc.boolean(),
      blocks: fc.boolean(),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 2, maxLength: SEATS, size: "max" },
  ),
  jobs: fc.array(job, { minLength: 1, maxLength: 120, size: "max" }),
  calls: fc.array(job, { minLength: 1, maxLength: 120, size: "max" }),
  /** Agents are terminated: which, and after how many ms. */
  kills: fc.array(
    fc.record({ which: fc.nat(SEATS - 1), after: fc.nat(15) }),
    { maxLength: 3, size: "max" },
  ),
});

type Of<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
/** What a play does. */
export type ShopPlan = Of<typeof plans>;

/** What is called. */
interface Api {
  job(job: Job, signal: AbortSignal): number;
}

/** A thread, and what it was told. */
interface Agent {
  readonly thread: Thread;
  readonly id: number;
  readonly orders: Orders;
  isKilled: boolean;
  isOver: boolean;
}

/** One play. */
class Play {
  readonly #plan: ShopPlan;
  readonly #ledger: Ledger;
  readonly #shared: Pick<Orders, "handles" | "held" | "begun" | "done">;
  readonly #views: ReturnType<typeof viewsOf>;
  readonly #agents: Agent[] = [];
  readonly #threads: Thread[] = [];
  readonly #sent: number[] = [];
  /** How often the result of each job came. */
  readonly #came: number[] = [];
  /** Set once no agent is terminated any more. */
  #isQuiet = false;
  /** How many jobs those may have lost that were terminated. */
  #lost = 0;
  #next = 0;

  constructor(plan: ShopPlan, ledger: Ledger) {
    this.#plan = plan;
    this.#ledger = ledger;
    const { capacity, slots } = plan;
    const tracked = SEATS + 1;
    const channel = { codec: valueCodec, messageSize: 64, tracked };
    const handles: Handles = {
      mutex: Mutex.create().handle,
      lock: RwLock.create({ tracked }).handle,
      permits: Semaphore.create(PERMITS, { tracked }).handle,
      map: HashMap.create({ ...CODECS, capacity: 32, keySize: 64 }).handle,
      jobs: Channel.create({ ...channel, capacity }).handle,
      results: Channel.create({ ...channel, capacity: 2 }).handle,
      ring: CallRing.create({ slots, request: 128, reply: 64 }).handle,
    };
    const begun = words(MOST), done = words(MOST);
    this.#shared = { handles, held: words(WORDS), begun, done };
    this.#views = viewsOf(handles);
    ledger.watch(begun);
    ledger.watch(done);
  }

  async run(): Promise<void> {
    const ledger = this.#ledger;
    const { agents, slots } = this.#plan;
    const { jobs, results, ring } = this.#views;
    const end = jobs.receiver(); // none may be there for a while
    await Promise.all(agents.map(({ serves, blocks, limit }, seat) => {
      const most = Math.min(limit, slots);
      return this.#start({
        ...this.#shared,
        serves: seat === 1 || seat > 1 && serves,
        blocks,
        limit: blocks ? 1 : most,
        seat,
      });
    }));
    ledger.expect("the results", this.#take(), ended);
    const all = [this.#send(), this.#call(), this.#kill()];
    const closed = Promise.all(all).then(async () => {
      end.leave();
      jobs.close();
      ring.close();
      const left = () => this.#agents.every(({ isOver }) => isOver);
      await ledger.until(left); // each of them is expected to end
      results.close();
    });
    ledger.expect("what the main thread does", closed, ended);
    await ledger.settled();
    if (ledger.problems.length === 0) this.#count();
    for (const thread of this.#threads) thread.stop();
  }

  async #start(orders: Orders): Promise<void> {
    const thread = await spawn(AGENT, orders);
    this.#threads.push(thread);
    const id = await thread.next<number>();
    const agent = { thread, id, orders, isKilled: false, isOver: false };
    this.#agents[orders.seat] = agent;
    const what = `agent ${id} in seat ${orders.seat}`;
    this.#ledger.expect(what, thread.next<string>(), (end) => {
      agent.isOver = true;
      if (end.failed && agent.isKilled) return "died";
      if (end.failed) throw end.reason;
      if (end.value !== "over") throw new Error(end.value);
      return "over";
    });
  }

  /** Sends jobs by the channel, one after the other. */
  async #send(): Promise<void> {
    for (const { what, n, abort } of this.#plan.jobs) {
      const id = this.#next++;
      const control = new AbortController();
      const { signal } = control;
      const sent = this.#views.jobs.sendAsync({ id, what, n }, { signal });
      const reason = new Error("abort");
      if (abort >= 0) void abortAfter(abort, () => control.abort(reason));
      this.#ledger.expect(`job ${id}, ${what}`, sent, (end) => {
        if (!end.failed) {
          this.#sent.push(id);
          return "sent";
        }
        if (end.reason !== reason) throw end.reason;
        if (this.#shared.begun[id] !== 0) throw new Error("it was begun");
        return "aborted";
      });
      await sent.catch(() => {});
    }
  }

  /** Makes calls, of which up to four are under way. */
  async #call(): Promise<void> {
    const { calls } = this.#plan;
    const remote = connect<Api>(this.#views.ring, BY);
    let next = 0;
    const caller = async () => {
      while (next < calls.length) {
        const { what, n, abort } = calls[next++]!;
        const id = this.#next++;
        const control = new AbortController();
        const call = remote.job({ id, what, n }, control.signal);
        const reason = new Error("abort");
        if (abort >= 0) void abortAfter(abort, () => control.abort(reason));
        this.#ledger.expect(`call ${id}, ${what}`, call, (end) => {
          if (!end.failed && end.value === id) return "done";
          if (!end.failed) throw new Error(`another result: ${end.value}`);
          if (end.reason === reason) return "aborted";
          const { name } = end.reason as Error;
          if (name === "CallError" && this.#lost > 0) return "died";
          throw end.reason;
        });
        await call.catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: 4 }, caller));
    this.#isQuiet = true;
  }

  /** Notes the results of jobs, until the channel is closed. */
  async #take(): Promise<void> {
    for await (const id of this.#views.results) {
      this.#came[id] = (this.#came[id] ?? 0) + 1;
    }
  }

  /** Terminates agents, and starts others in their places. */
  async #kill(): Promise<void> {
    if (!CAN_DIE) return;
    const { mutex, lock, permits, map, jobs, results, ring } = this.#views;
    for (const { which, after } of this.#plan.kills) {
      await pause(after);
      const agent = this.#agents[which];
      if (this.#isQuiet || agent === undefined || agent.isOver) continue;
      const { thread, id, orders } = agent;
      agent.isKilled = true;
      this.#lost += orders.limit;
      await (thread.worker as { terminate(): Promise<unknown> }).terminate();
      for (const at of HELD) Atomics.store(orders.held, at + orders.seat, 0);
      recover(id, [mutex, lock, permits, map, jobs, results, ring]);
      await this.#start(orders);
    }
  }

  #count(): void {
    const { begun, done } = this.#shared;
    const problem = (text: string) => this.#ledger.problem(text);
    for (let id = 0; id < this.#next; id++) {
      if (begun[id]! > 1) problem(`job ${id} was begun ${begun[id]} times`);
      const times = this.#came[id] ?? 0;
      if (times > 1) problem(`the result of job ${id} came ${times} times`);
    }
    const missing = this.#sent.filter((id) =>
      done[id] === 0 || this.#came[id] === undefined
    );
    if (missing.length > this.#lost) {
      problem(`jobs ${missing} are lost, and ${this.#lost} may be`);
    }
    const { mutex, lock, permits, ring } = this.#views;
    if (mutex.owner !== 0) problem(`agent ${mutex.owner} has the mutex`);
    if (lock.tryWrite() === undefined) problem("the lock is still held");
    const { available } = permits;
    if (available !== PERMITS) problem(`${available} permits are free`);
    if (ring.pending !== 0) problem(`${ring.pending} slots are in use`);
    for (const view of Object.values(this.#views)) {
      const { problems } = inspect(view);
      if (problems.length > 0) problem(`${view.kind}: ${problems[0]!.text}`);
    }
  }
}

const ended = (end: { failed: boolean; reason?: unknown }): string => {
  if (end.failed) throw end.reason;
  return "ended";
};

/** The storm on a shop. */
export const shopStorm: Storm<ShopPlan> = {
  name: "Shop",
  plans,
  play: async (plan, ledger) => await new Play(plan, ledger).run(),
};
