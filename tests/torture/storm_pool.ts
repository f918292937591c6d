/**
 * The storm on a `Pool`: several clients have tasks done, give them up, change
 * the number of workers, and end workers at any time.
 *
 * A pool may scale by itself, and replace workers. Tasks may report, and may be
 * sent messages.
 *
 * What the model allows: a task has the result of its function, or rejects for
 * a reason that there was. No task that is not `idempotent` is done twice. A
 * task is refused exactly if `maxQueue` tasks wait; `close` with `force`
 * refuses no task that a worker has begun. When all is over, the pool has as
 * many workers as it was told, nothing waits, all slots are free, and nobody
 * keeps a task that is over.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { CallRing } from "../../mod.ts";
import {
  ClosedError,
  Pool,
  QueueFullError,
  WorkerError,
} from "../../primitives/pool.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  PHASE_MASK,
  REPLIED,
  REPLY_HEAD,
  REPLY_LENGTH,
  REQUEST_HEAD,
  Slots,
} from "../pool/parts.ts";
import { start } from "../_run/workers.ts";
import {
  howOf,
  type Map,
  type Plan,
  plans,
  type Run,
  type Step,
} from "./_pool_plans.ts";
import { type Ask, ODD_VALUES, tasks } from "./_pool_tasks.ts";
import type { Orders } from "./_pool_worker.ts";
import { type Ledger, pause, type Storm } from "./_storm.ts";

/** The words before the slots. */
const HEAD = LAYOUT.call_ring.length;

const WORKER = new URL("./_pool_worker.ts", import.meta.url);

/** Why tasks are given up at the end. */
const GIVEN_UP = new Error("given up");
/** What reports if tasks talk. */
const REPORTING: readonly Run["kind"][] = ["text", "fail", "nap"];
/** Stands for any task of `map`. */
const NO_TASK: Ask = { at: -1, n: 0 };

/** What a task that was begun was asked for. */
interface Begun {
  readonly at: number;
  readonly idempotent: boolean;
}

/** One play. */
class Play {
  readonly #plan: Plan;
  readonly #ledger: Ledger;
  readonly #begun = new Int32Array(new SharedArrayBuffer(4 * 4096));
  readonly #tasks: Begun[] = [];
  /** The same at the end, if it was closed with force: nothing is repeated. */
  #begunThen: Int32Array | undefined;
  /** Tasks that were refused by `close` with `force`. */
  readonly #refused: Begun[] = [];
  /** Workers that the pool told have started, less those that have ended. */
  #serving = 0;
  /** What ends the tasks that have not ended. */
  readonly #controls = new Set<AbortController>();
  /** How many tasks of `run` and at most of `map`, and how many resizes. */
  #open = 0;
  #resizes = 0;
  readonly #made: { terminate(): unknown }[] = [];
  readonly #memory: SharedArrayBuffer;
  readonly #pool: Pool<typeof tasks>;
  #next = 0;
  /** How many workers there are to be. */
  #workers: number;
  /** Whether a worker was ended, so that tasks may fail by that. */
  #kills = false;
  #killed = 0;
  #ended = false;
  /** Whether the length of a reply was changed. */
  #damaged = false;
  /** The slots, and the first word of each. */
  readonly #slots: Slots;
  /** How many tasks a worker does at a time, as far as the pool knows. */
  #limit = 1;
  readonly #places: readonly number[];

  constructor(plan: Plan, ledger: Ledger) {
    this.#plan = plan;
    this.#ledger = ledger;
    const { workers, slots, ahead, bytes, blocking, limit, maxQueue } = plan;
    const { more, idle, recycle } = plan;
    const orders: Orders = { blocking, limit, begun: this.#begun };
    const make = () => {
      const worker = start(WORKER, orders);
      this.#made.push(worker as { terminate(): unknown });
      return worker;
    };
    this.#workers = workers;
    const memory = this.#memory = new SharedArrayBuffer(
      Pool.byteLength({ slots, bytes }),
    );
    this.#pool = new Pool({
      tasks,
      workers: more > 0 ? { min: workers, max: workers + more } : workers,
      idleTimeout: idle,
      recycle: { tasks: recycle },
      slots,
      ahead,
      bytes,
      maxQueue,
      make,
      memory,
    });
    this.#pool.on("worker:start", () => {
      this.#serving++;
      this.#limit = blocking ? 1 : limit;
    });
    this.#pool.on("worker:end", () => this.#serving--);
    const room = Math.ceil(bytes / 8) * 8;
    const length = CallRing.byteLength({
      slots,
      request: REQUEST_HEAD + room,
      reply: REPLY_HEAD + room,
    }) / 4;
    this.#slots = new Slots(new Int32Array(memory, 0, length), 1);
    this.#places = placesOf(this.#slots);
  }

  async run(): Promise<void> {
    const { clients, ready, early, more } = this.#plan;
    const pool = this.#pool;
    const ledger = this.#ledger;
    if (ready) await pool.ready;
    await Promise.all(clients.map((steps) => this.#client(steps)));
    if (early) {
      this.#ended = true;
      this.#end();
      // Nobody does what waits: the last one that is given up ends the pool.
      if (this.#workers === 0 && this.#plan.close === "") this.#giveUp();
    } else if (this.#workers + more === 0) {
      await this.#resize(1);
    }
    await ledger.settled();
    await ledger.assertGivenBack(1);
    this.#count();
    if (!early) await this.#atRest();
    this.#ended = true;
    this.#end();
    await ledger.settled();
  }

  /** Ends the pool as the plan says. */
  #end(): void {
    const { end, close, within } = this.#plan;
    if (end === "terminate") return this.#pool.terminate();
    const force = close === "force";
    const options = close === "timeout" ? { timeout: within } : { force };
    const closing = this.#pool.close(options);
    if (force) this.#begunThen = this.#begun.slice();
    this.#ledger.expect(`close, ${close}`, closing, (end) => {
      if (end.failed) throw end.reason;
      return "ended";
    });
  }

  /** Gives up all tasks that have not ended. */
  #giveUp(): void {
    for (const control of this.#controls) control.abort(GIVEN_UP);
  }

  async #client(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      switch (step.what) {
        case "run":
          this.#submit(step);
          break;
        case "map":
          void this.#map(step);
          break;
        case "resize":
          void this.#resize(step.workers);
          break;
        case "kill":
          this.#kill(step.which);
          break;
        case "room":
          this.#ledger.expect("room", this.#pool.room(), () => "room");
          break;
        case "damage":
          this.#damage(step.length);
      }
      if (step.then >= 0) await pause(step.then);
    }
  }

  /**
   * Lets a worker answer meanwhile: this thread, which looks for results, is
   * busy until then, or for 5 ms.
   */
  #damage(length: number): void {
    const { words } = this.#slots;
    for (const end = performance.now() + 5; performance.now() < end;) {
      for (const at of this.#places) {
        if ((Atomics.load(words, at) & PHASE_MASK) !== REPLIED) continue;
        this.#damaged = true;
        words[at + REPLY_LENGTH] = length;
        return;
      }
    }
  }

  #resize(workers: number): Promise<void> {
    this.#workers = workers;
    this.#resizes++;
    const { more } = this.#plan;
    const range = { min: workers, max: workers + more };
    const resized = this.#pool.resize(more > 0 ? range : workers)
      .finally(() => this.#resizes--);
    this.#ledger.expect(`resize(${workers})`, resized, (end) => {
      if (!end.failed) return "resized";
      if (this.#ended && end.reason instanceof ClosedError) return "closed";
      // A new worker was ended before it was ready.
      if (this.#kills) return "not resized";
      throw end.reason;
    });
    return resized.catch(() => {});
  }

  /** Two at most: a third in one place would be given up. */
  #kill(which: number): void {
    // Deno does not tell that a worker has ended before it serves.
    if ("Deno" in globalThis || this.#killed++ >= 2) return;
    this.#kills = true;
    this.#made[which % this.#made.length]?.terminate();
  }

  /** Notes a task; returns its request. */
  #ask(n: number, idempotent: boolean): Ask {
    const at = this.#next++;
    this.#tasks.push({ at, idempotent });
    return { at, n };
  }

  #submit(step: Run): void {
    const { kind, abort, timeout, priority, terminate } = step;
    const isEndless = kind === "wait" && abort < 0 && timeout === Infinity;
    const after = isEndless ? 3 : abort;
    const talks = this.#plan.talks && REPORTING.includes(kind);
    const hears = talks && kind === "nap" && !this.#plan.blocking;
    const reports = talks ? step.n % 5 : 0;
    const ask = {
      ...this.#ask(sizeOf(step), kind === "again" || kind === "dieAgain"),
      reports,
      hears,
    };
    const told: unknown[] = [];
    if (terminate || kind.startsWith("die")) this.#kills = true;
    const reason = new Error(`abort of task ${ask.at}`);
    const control = new AbortController();
    const { signal } = control;
    const onReport = talks ? (it: unknown) => void told.push(it) : undefined;
    const options = { signal, timeout, priority, terminate, onReport };
    const pool = this.#pool;
    const full = this.#mayBeFull();
    this.#open++;
    this.#controls.add(control);
    // A worker that blocks takes none that are too long for a slot.
    const length = this.#plan.blocking ? step.n % 129 : step.n;
    const bytes = new Uint8Array(length).fill(step.n);
    const handle = hears ? pool.start("nap", ask, options) : undefined;
    handle?.send(ask.n);
    const promise: Promise<unknown> = kind === "bytes"
      ? pool.run(kind, bytes, options)
      : handle?.result ?? pool.run(kind, ask, options);
    this.#ledger.expect(`task ${ask.at}, ${kind}`, promise, (end) => {
      this.#open--;
      this.#controls.delete(control);
      if (told.some((it, i) => it !== i)) throw new Error(`it told ${told}`);
      if (!end.failed && told.length !== reports) {
        throw new Error(`${told.length} of ${reports} reports`);
      }
      const isFull = end.reason instanceof QueueFullError;
      if (isFull !== full && full !== undefined) {
        throw new Error(`${isFull ? "" : "not "}refused by maxQueue`);
      }
      if (isFull && this.#begun[ask.at] === 0) return "full";
      if (!end.failed) {
        if (isRight(step, ask, end.value, length)) return "done";
        throw new Error(`another result: ${String(end.value).slice(0, 200)}`);
      }
      if (end.reason === reason && after >= 0) return "aborted";
      if (end.reason === GIVEN_UP) return "given up";
      const { name } = (end.reason ?? {}) as Error;
      if (name === "TimeoutError" && timeout < Infinity) return "late";
      return this.#failure(kind, ask, end.reason);
    });
    if (after === 0) control.abort(reason);
    else if (after > 0) setTimeout(() => control.abort(reason), after);
  }

  /**
   * Whether `maxQueue` must refuse the next task (true), or must not (false);
   * undefined if this thread cannot tell.
   */
  #mayBeFull(): boolean | undefined {
    const { maxQueue, more, blocking, limit } = this.#plan;
    if (maxQueue === undefined || this.#ended) return false;
    const { waiting, running, workers } = this.#pool.stats();
    const places = Math.max(workers.length, this.#workers + more);
    if (this.#open < places * this.#limit + maxQueue) return false;
    const most = places * (blocking ? 1 : limit) + maxQueue;
    // Orders to workers are counted there, too.
    return this.#resizes === 0 && waiting + running >= most ? true : undefined;
  }

  /** Why a task may fail. */
  #failure(kind: Run["kind"], ask: Ask, reason: unknown): string {
    if (reason instanceof ClosedError && this.#ended) {
      const { end, close } = this.#plan;
      if (end === "close" && close === "force" && ask.at >= 0) {
        this.#refused.push(this.#tasks[ask.at]!);
      }
      return "closed";
    }
    if (reason instanceof WorkerError && this.#kills) return "died";
    const { message, name } = (reason ?? {}) as Error;
    if (name === "DamagedError" && this.#damaged) return "damaged";
    if (kind === "fail" && message === "x".repeat(ask.n)) return "failed";
    if (kind === "oddly") return "failed";
    if (kind === "odd" && reason instanceof TypeError) return "refused";
    throw new Error(`another error: ${(reason as Error)?.stack ?? reason}`);
  }

  async #map(step: Map): Promise<void> {
    const most = Math.min(step.limit, step.count);
    const control = new AbortController();
    const promise = this.#mapped(step, control.signal);
    this.#controls.add(control);
    this.#open += most;
    this.#ledger.expect(howOf(step), promise, (end) => {
      this.#open -= most;
      this.#controls.delete(control);
      if (!end.failed) return "mapped";
      if (end.reason === GIVEN_UP) return "given up";
      return this.#failure("text", NO_TASK, end.reason);
    });
    await promise.catch(() => {});
  }

  async #mapped(
    step: Map,
    signal: AbortSignal,
  ): Promise<void> {
    const { count, limit, ordered, leave } = step;
    const how = howOf(step);
    const asks = () => this.#ask(this.#next % 200, false);
    const asked = Array.from({ length: count }, asks);
    const left = new Set(asked.map(({ n }) => n));
    const options = { limit, ordered, signal };
    let taken = 0;
    for await (const length of this.#results(how, asked, options)) {
      if (length === undefined) {
        // Its request is not known.
      } else if (ordered && length !== asked[taken]!.n) {
        throw new Error(`result ${taken} of ${how}: ${length}`);
      } else if (!left.has(length)) {
        throw new Error(`${length} was not asked for`);
      }
      if (++taken >= leave) return;
    }
    if (taken < count) {
      throw new Error(`${how} ended after ${taken} of ${count}`);
    }
  }

  /** The length of each text or message; undefined for another failure. */
  async *#results(
    how: ReturnType<typeof howOf>,
    asked: Ask[],
    options: { limit: number; ordered: boolean; signal: AbortSignal },
  ): AsyncGenerator<number | undefined> {
    if (how === "map") {
      const results = this.#pool.map("text", asked, options);
      for await (const { length } of results) yield length;
      return;
    }
    const kind = how === "failing" ? "fail" : "text";
    const results = this.#pool.mapSettled(kind, asked, options);
    for await (const result of results) {
      if (result.status === "fulfilled") {
        if (kind === "fail") throw new Error("another result of mapSettled");
        yield result.value.length;
      } else if (kind === "fail" && result.reason instanceof RangeError) {
        const { message } = result.reason;
        if (!/^x*$/.test(message)) throw result.reason;
        yield message.length;
      } else {
        this.#failure(kind, NO_TASK, result.reason);
        yield undefined;
      }
    }
  }

  /** No task may be done more often than allowed. */
  #count(): void {
    for (const { at, idempotent } of this.#refused) {
      // One that is idempotent may have been begun by a worker that died.
      if (idempotent || this.#begun[at] === 0) continue;
      this.#ledger.problem(`task ${at} was begun, and refused`);
    }
    for (const { at, idempotent } of this.#tasks) {
      const then = this.#begunThen?.[at] ?? 2; // a worker may begin it now
      const most = idempotent ? Math.min(then + 1, 3) : 1;
      if (this.#begun[at]! <= most) continue;
      this.#ledger.problem(`task ${at} was begun ${this.#begun[at]} times`);
    }
  }

  /** At the end, workers and slots must be as at the beginning. */
  async #atRest(): Promise<void> {
    const state = () => {
      const { waiting, running, workers } = this.#pool.stats();
      const ready = workers.filter(({ state }) => state !== "starting").length;
      return `${workers.length} workers, ${ready} of them ready, ` +
        `${this.#serving} told of; ${waiting} ` +
        `tasks wait, ${running} run; ${this.#slots.pending} slots are in use`;
    };
    const n = this.#workers;
    const wanted = `${n} workers, ${n} of them ready, ${n} told of; 0 tasks ` +
      "wait, 0 run; 0 slots are in use";
    // A function that nobody wants any more goes on for some ms.
    if (await this.#ledger.until(() => state() === wanted)) return;
    this.#ledger.problem(state());
  }
}

/** The first word of each slot. */
function placesOf(slots: Slots): number[] {
  const end = slots.words.length;
  const stride = (end - HEAD) / slots.count;
  return Array.from({ length: slots.count }, (_, i) => HEAD + i * stride);
}

/** How much a task is asked for. */
function sizeOf({ kind, n }: Run): number {
  if (kind === "nap" || kind === "spin") return n % 5;
  return kind === "fail" ? n % 9000 : n;
}

function isRight(
  { kind, n }: Run,
  ask: Ask,
  value: unknown,
  length: number,
): boolean {
  switch (kind) {
    case "text":
    case "again":
      return value === "x".repeat(ask.n);
    case "bytes":
      return value instanceof Uint8Array && value.length === length &&
        value.every((byte) => byte === (n + 1 & 255));
    case "nap":
    case "spin":
      return value === ask.n;
    case "odd":
      return isDeepStrictEqual(value, ODD_VALUES[n % 5]);
    default:
      return kind === "wait";
  }
}

/** The storm on a `Pool`. */
export const poolStorm: Storm<Plan> = {
  name: "Pool",
  plans,
  play: (plan, ledger) => new Play(plan, ledger).run(),
};
