/**
 * The storm on a `Pool`: several clients have tasks done, give them up, change
 * the number of workers, and end workers at any time.
 *
 * What the model allows: a task has the result of its function, or rejects for
 * a reason that there was. No task that is not `idempotent` is done twice. When
 * all is over, the pool has as many workers as it was told, nothing waits, all
 * slots are free, and nobody keeps a task that is over.
 *
 * @module
 */
import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { CallRing } from "../../mod.ts";
import { ClosedError, Pool, WorkerError } from "../../primitives/pool.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import {
  PHASE_MASK,
  REPLIED,
  REPLY_HEAD,
  REPLY_LENGTH,
  REQUEST_HEAD,
  Slots,
} from "../pool/parts.ts";
import { start } from "../_run/workers.ts";
import { type Ask, ODD_VALUES, tasks } from "./_pool_tasks.ts";
import type { Orders } from "./_pool_worker.ts";
import type { Ledger, Storm } from "./_storm.ts";

/** The words before the slots. */
const HEAD = LAYOUT.call_ring.length;

const WORKER = new URL("./_pool_worker.ts", import.meta.url);

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Mostly `usual`, and now and then one of `others`. */
const mostly = <T>(usual: T, others: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, others);

const WELL = ["text", "again", "bytes", "nap", "spin"] as const;
const ODD = ["fail", "odd", "oddly", "wait"] as const;
const DEADLY = ["die", "dieAgain"] as const;

/** The client goes on after this many ms; -1: at once. */
const then = mostly(-1, fc.nat(3));

const run = fc.record({
  what: fc.constant("run" as const),
  kind: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...WELL) },
    { weight: 12, arbitrary: fc.constantFrom(...ODD) },
    { weight: 3, arbitrary: fc.constantFrom(...DEADLY) },
  ),
  n: fc.oneof(fc.nat(8), fc.nat(300), fc.constant(20_000)),
  priority: fc.nat(3),
  /** After this many ms it is aborted; -1: never. */
  abort: mostly(-1, fc.nat(6)),
  timeout: mostly(Infinity, fc.nat(6)),
  terminate: mostly(false, fc.constant(true)),
  then,
});

const map = fc.record({
  what: fc.constant("map" as const),
  count: fc.nat(12),
  limit: fc.integer({ min: 1, max: 6 }),
  ordered: fc.boolean(),
  /** The loop is left after this many results. */
  leave: mostly(Infinity, fc.nat(6)),
  then,
});

const resize = fc.record({
  what: fc.constant("resize" as const),
  workers: fc.nat(4),
  then,
});

/** Ends one of the workers from outside. */
const kill = fc.record({
  what: fc.constant("kill" as const),
  which: fc.nat(9),
  then,
});

const room = fc.record({ what: fc.constant("room" as const), then });

/** Writes a length that no reply has to a slot with a result. */
const damage = fc.record({
  what: fc.constant("damage" as const),
  length: fc.constantFrom(-1, 31, 6000),
  then,
});

const steps = fc.oneof(
  { weight: 24, arbitrary: run },
  { weight: 2, arbitrary: map },
  { weight: 2, arbitrary: resize },
  { weight: 3, arbitrary: kill },
  { weight: 1, arbitrary: room },
  { weight: 1, arbitrary: damage },
);

const plans = fc.record({
  workers: fc.integer({ min: 1, max: 3 }),
  slots: fc.integer({ min: 1, max: 8 }),
  ahead: fc.option(fc.nat(3), { nil: undefined }),
  bytes: fc.constantFrom(128, 5000),
  blocking: fc.boolean(),
  limit: fc.integer({ min: 1, max: 3 }),
  /** Whether the clients wait until the workers have started. */
  ready: mostly(true, fc.boolean()),
  clients: fc.array(
    fc.array(steps, { minLength: 1, maxLength: 40, size: "max" }),
    { minLength: 1, maxLength: 3 },
  ),
  /** How it ends, and whether that comes before all tasks are over. */
  end: fc.constantFrom("close", "terminate"),
  early: mostly(false, fc.constant(true)),
});

type Of<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
type Run = Of<typeof run>;
type Plan = Of<typeof plans>;
type Step = Of<typeof steps>;

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
  readonly #places: readonly number[];

  constructor(plan: Plan, ledger: Ledger) {
    this.#plan = plan;
    this.#ledger = ledger;
    const { workers, slots, ahead, bytes, blocking, limit } = plan;
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
      workers,
      slots,
      ahead,
      bytes,
      make,
      memory,
    });
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
    const { clients, ready, end, early } = this.#plan;
    const pool = this.#pool;
    const ledger = this.#ledger;
    if (ready) await pool.ready;
    await Promise.all(clients.map((steps) => this.#client(steps)));
    if (early) {
      this.#ended = true;
      if (end === "terminate") pool.terminate();
      // Else it would wait for tasks that nobody does.
      else if (this.#workers > 0) await pool.close();
    } else if (this.#workers === 0) {
      await this.#resize(1);
    }
    if (early && end === "close" && this.#workers === 0) pool.terminate();
    await ledger.settled();
    await ledger.assertGivenBack(1);
    this.#count();
    if (!early) await this.#atRest();
    if (end === "terminate") return pool.terminate();
    ledger.expect("close", pool.close(), () => "ended");
    await ledger.settled();
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
   * busy for so long.
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
    const resized = this.#pool.resize(workers);
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
    const ask = this.#ask(
      sizeOf(step),
      kind === "again" || kind === "dieAgain",
    );
    if (terminate || kind.startsWith("die")) this.#kills = true;
    const reason = new Error(`abort of task ${ask.at}`);
    const control = new AbortController();
    const { signal } = control;
    const options = { signal, timeout, priority, terminate };
    const pool = this.#pool;
    const bytes = new Uint8Array(step.n % 129).fill(step.n);
    const promise: Promise<unknown> = kind === "bytes"
      ? pool.run(kind, bytes, options)
      : pool.run(kind, ask, options);
    this.#ledger.expect(`task ${ask.at}, ${kind}`, promise, (end) => {
      if (!end.failed) {
        if (isRight(step, ask, end.value)) return "done";
        throw new Error(`another result: ${String(end.value).slice(0, 200)}`);
      }
      if (end.reason === reason && after >= 0) return "aborted";
      const { name } = (end.reason ?? {}) as Error;
      if (name === "TimeoutError" && timeout < Infinity) return "late";
      return this.#failure(kind, ask, end.reason);
    });
    if (after === 0) control.abort(reason);
    else if (after > 0) setTimeout(() => control.abort(reason), after);
  }

  /** Why a task may fail. */
  #failure(kind: Run["kind"], ask: Ask, reason: unknown): string {
    if (reason instanceof ClosedError && this.#ended) return "closed";
    if (reason instanceof WorkerError && this.#kills) return "died";
    const { message, name } = (reason ?? {}) as Error;
    if (name === "DamagedError" && this.#damaged) return "damaged";
    if (kind === "fail" && message === "x".repeat(ask.n)) return "failed";
    if (kind === "oddly") return "failed";
    if (kind === "odd" && reason instanceof TypeError) return "refused";
    throw new Error(`another error: ${(reason as Error)?.stack ?? reason}`);
  }

  async #map({ count, limit, ordered, leave }: Of<typeof map>): Promise<void> {
    const requests = () =>
      Array.from({ length: count }, () => this.#ask(this.#next % 200, false));
    const loop = async () => {
      const asked = requests();
      const left = new Set(asked.map(({ n }) => n));
      let taken = 0;
      const results = this.#pool.map("text", asked, { limit, ordered });
      for await (const { length } of results) {
        if (ordered && length !== asked[taken]!.n) {
          throw new Error(`result ${taken} of map: ${length}`);
        }
        if (!left.has(length)) throw new Error(`${length} was not asked for`);
        if (++taken >= leave) return;
      }
      if (taken < count) {
        throw new Error(`map ended after ${taken} of ${count}`);
      }
    };
    const promise = loop();
    this.#ledger.expect("map", promise, (end) => {
      if (!end.failed) return "mapped";
      return this.#failure("text", { at: 0, n: 0 }, end.reason);
    });
    await promise.catch(() => {});
  }

  /** No task may be done more often than allowed. */
  #count(): void {
    for (const { at, idempotent } of this.#tasks) {
      const most = idempotent ? 3 : 1;
      if (this.#begun[at]! <= most) continue;
      this.#ledger.problem(`task ${at} was begun ${this.#begun[at]} times`);
    }
  }

  /** At the end, workers and slots must be as at the beginning. */
  async #atRest(): Promise<void> {
    const state = () => {
      const { waiting, running, workers } = this.#pool.stats();
      const ready = workers.filter(({ state }) => state !== "starting").length;
      return `${workers.length} workers, ${ready} of them ready; ${waiting} ` +
        `tasks wait, ${running} run; ${this.#slots.pending} slots are in use`;
    };
    const n = this.#workers;
    const wanted = `${n} workers, ${n} of them ready; 0 tasks wait, 0 run; ` +
      "0 slots are in use";
    // A function that nobody wants any more goes on for some ms.
    await this.#ledger.until(() => state() === wanted);
    if (state() !== wanted) this.#ledger.problem(state());
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

function isRight({ kind, n }: Run, ask: Ask, value: unknown): boolean {
  switch (kind) {
    case "text":
    case "again":
      return value === "x".repeat(ask.n);
    case "bytes":
      return value instanceof Uint8Array && value.length === n % 129 &&
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
