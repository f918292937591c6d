/**
 * The storm on calls: clients call an object by `connect`, in one slot or in
 * pieces, and give calls up at any time, while servers end at any time. With
 * JSON, some of the servers and callers are threads of C. Others, which may be
 * terminated, too, pass functions and iterators, and use iterators, instances
 * and properties of the server. Some let the server call functions of others.
 *
 * What the model allows: a call has the result of its method, or rejects for a
 * reason that there was. No method is called twice for a call. Functions are
 * called in order, and as often as they shall be. When all is over, all slots
 * are free, each iterator and each server has ended, and nobody keeps a call, a
 * function or an instance.
 *
 * @module
 */
import fc from "../_run/property.ts";
import { CallRing, type Codec, codec, connect, serve } from "../../mod.ts";
import { CALL_RING } from "../../primitives/_memory/layout.ts";
import { spawn, type Thread } from "../_run/workers.ts";
import {
  type Api,
  apiOf,
  CALLS,
  CAN_DIE,
  ENDED,
  MOST,
  OPENED,
} from "./_calls_api.ts";
import type { CallerEnds, CallerOrders, GuestCall } from "./_calls_guest.ts";
import type { Orders } from "./_calls_server.ts";
import {
  abortAfter,
  type Ends,
  type Talk,
  Talker,
  type TalkOrders,
} from "./_calls_talks.ts";
import { AT, BEGUN_AT, GuestMemory, guestModule } from "./_guest.ts";
import {
  collectGarbage,
  type Ledger,
  mostly,
  pause,
  type Storm,
} from "./_storm.ts";

const CALLER = new URL("./_calls_guest.ts", import.meta.url);
const SERVER = new URL("./_calls_server.ts", import.meta.url);
const TALKER = new URL("./_calls_talker.ts", import.meta.url);

/** The word at which the slots of a ring begin. */
const SLOTS = CALL_RING.length;

const call = fc.record({
  kind: fc.oneof(
    { weight: 20, arbitrary: fc.constant("echo" as const) },
    { weight: 6, arbitrary: fc.constantFrom("nap", "fail", "wait") },
    { weight: 1, arbitrary: fc.constant("die" as const) },
  ),
  /** A length; what is longer than a slot goes in pieces. */
  n: fc.oneof(fc.nat(8), fc.nat(300), fc.constant(5000)),
  /**
   * When it is aborted: -1 never, up to 5 after as many microtasks, and else
   * after as many ms, less 6.
   */
  abort: mostly(-1, fc.nat(12)),
  /** The client goes on after this many ms; -1: at once. */
  then: mostly(-1, fc.nat(3)),
});

const talker = (kinds: readonly Talk["kind"][]) =>
  fc.record({
    /** Whether it has a thread, in which it may block, and is terminated. */
    thread: fc.boolean(),
    blocks: fc.boolean(),
    /** When its thread is terminated, in ms; -1: it is not. */
    kill: mostly(-1, fc.nat(20)),
    talks: fc.array(
      fc.record({
        kind: fc.constantFrom(...kinds),
        n: fc.nat(8),
        leave: fc.nat(12),
        abort: mostly(-1, fc.nat(12)),
        then: mostly(-1, fc.nat(3)),
      }),
      { minLength: 1, maxLength: 12, size: "max" },
    ),
  });

const plans = fc.record({
  slots: fc.integer({ min: 1, max: 4 }),
  bytes: fc.constantFrom(64, 1024),
  codec: fc.constantFrom("json" as const, "structured" as const),
  /** Servers in threads; the last one may be in this thread, too. */
  servers: mostly(0, fc.nat(2)),
  local: fc.boolean(),
  blocks: fc.boolean(),
  limit: fc.integer({ min: 1, max: 3 }),
  /** The timeout of all calls, in ms. */
  timeout: mostly(Infinity, fc.nat(8)),
  clients: fc.array(
    fc.array(call, { minLength: 1, maxLength: 30, size: "max" }),
    { minLength: 1, maxLength: 3 },
  ),
  /** Whether the ring is closed before all calls are over. */
  early: mostly(false, fc.constant(true)),
  // What came later stands last, so that a seed has the plans that it had.
  /** Which servers are threads of C, where C can take part: a bit for each. */
  guests: fc.nat(3),
  /** What callers do that are threads of C. */
  callers: fc.array(
    fc.array(
      fc.record({
        kind: fc.constantFrom("echo" as const, "echo", "nap", "fail"),
        n: fc.oneof(fc.nat(8), fc.nat(300), fc.constant(4000)),
      }),
      { minLength: 1, maxLength: 12, size: "max" },
    ),
    { maxLength: 2 },
  ),
  /** Callers of what stays on one side. */
  talkers: fc.array(
    talker(["back", "keep", "sum", "rows", "drop", "make", "deep"]),
    { maxLength: 3, size: "max" },
  ),
  /** Callers whose functions others let a server call. */
  members: fc.array(talker(["join", "tell"]), { maxLength: 3, size: "max" }),
});

type Of<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
type Call = Of<typeof call>;
/** Plans that were written down have no members. */
type Plan = Omit<Of<typeof plans>, "members"> & {
  readonly members?: Of<typeof plans>["members"];
};

const textOf = (n: number) => "x".repeat(n);

const hex = (word: number) => (word >>> 0).toString(16);

/** The state, the caller and the begin of the request of each slot. */
function stateOf(words: Int32Array, slots: number): string {
  const stride = words.length / slots;
  const text = Array.from({ length: slots }, (_, i) => {
    const [state, caller, , , request] = words.subarray(i * stride);
    const what = state === 0 ? "" : ` that asks ${hex(request!)}`;
    return `${hex(state!)} of ${caller}${what}`;
  });
  return `; slots: ${text.join(", ")}`;
}

/** How long no slot must be in use, in ms. */
const QUIET = 120;

/** One play. */
class Play {
  readonly #plan: Plan;
  readonly #ledger: Ledger;
  readonly #ring: CallRing;
  readonly #begun: Int32Array<SharedArrayBuffer>;
  /** The memory of the threads of C, if there may be any. */
  readonly #guests: GuestMemory | undefined;
  /** What the slots are, for a problem. */
  readonly #state: () => string;
  readonly #threads = new Set<Thread>();
  readonly #served: Promise<unknown>[] = [];
  readonly #timeout: number;
  /** The callers of what stays on one side. */
  readonly #callers: Plan["talkers"];
  /** Those of this thread. */
  readonly #talkers: Talker[] = [];
  /** The ids of callers that were terminated. */
  readonly #killed = new Set<number>();
  #next = 0;
  #deaths = 0;
  #closed = false;

  constructor(plan: Plan, ledger: Ledger, module?: WebAssembly.Module) {
    this.#plan = plan;
    this.#ledger = ledger;
    const { slots, bytes, servers, local } = plan;
    this.#callers = [...plan.talkers, ...plan.members ?? []];
    // The pieces of a dead server are missed for half a minute.
    const mayDie = CAN_DIE && servers > 0 && !local;
    this.#timeout = Math.min(plan.timeout, mayDie ? 4000 : Infinity);
    const config = { slots, request: bytes, reply: bytes };
    const withC = module !== undefined && plan.codec === "json";
    const guests = withC ? new GuestMemory(module) : undefined;
    this.#guests = guests;
    this.#begun = guests === undefined
      ? new Int32Array(new SharedArrayBuffer(4 * MOST))
      : new Int32Array(guests.buffer, BEGUN_AT, MOST);
    this.#ring = guests === undefined
      ? CallRing.create(config)
      : CallRing.init(guests.memory, AT, config);
    const { buffer, byteOffset } = this.#ring.handle;
    // The other words of a ring also change when a waiting agent looks again
    // and finds nothing.
    const words = new Int32Array(
      guests?.buffer ?? buffer as SharedArrayBuffer,
      byteOffset,
      CallRing.byteLength(config) / 4,
    ).subarray(SLOTS);
    ledger.watch(this.#begun);
    this.#state = () => stateOf(words, slots);
    ledger.watch(words, this.#state);
  }

  async run(): Promise<void> {
    const { servers, local, limit, clients, callers, early } = this.#plan;
    const ring = this.#ring;
    const ledger = this.#ledger;
    for (let i = 0; i < servers; i++) this.#served.push(this.#serve(i));
    const options = { codec: codec[this.#plan.codec], limit: 1 };
    if (local || servers === 0) {
      const most = Math.min(limit, ring.slots);
      const lend = (it: object) => ledger.lend(it, "an instance");
      const api = apiOf(this.#begun, false, lend);
      this.#served.push(serve(ring, api, { ...options, limit: most }));
    }
    for (const calls of callers) this.#callInC(calls);
    const talks = this.#talk();
    await Promise.all(clients.map((calls) => this.#client(calls)));
    await talks;
    if (early) this.#close();
    await ledger.settled();
    if (ledger.problems.length === 0) await this.#heard();
    await this.#quiet();
    await ledger.assertGivenBack(1);
    await this.#quiet();
    const { pending } = ring;
    if (pending > 0) {
      ledger.problem(`${pending} slots are in use${this.#state()}`);
    }
    for (const [at, times] of this.#begun.entries()) {
      if (times <= 1 || at >= CALLS) continue;
      ledger.problem(`call ${at} was begun ${times} times`);
    }
    await this.#allEnded();
    this.#close();
    const ends = Promise.all(this.#served);
    ledger.expect("the servers, after close", ends, () => "ended");
    await ledger.settled();
    await this.#allEnded();
    for (const thread of this.#threads) thread.stop();
  }

  /**
   * Waits until no slot is in use for a while. A method that nobody waits for
   * any more goes on for some ms, and functions are kept until garbage is
   * collected where they were passed to; meanwhile their caller listens.
   */
  async #quiet(): Promise<void> {
    let since = performance.now();
    await this.#ledger.until(() => {
      collectGarbage?.();
      const now = performance.now();
      if (this.#ring.pending > 0) since = now;
      return now - since > QUIET;
    });
  }

  /** Waits until functions were called that are called after their call. */
  async #heard(): Promise<void> {
    const { slots, blocks, servers, early, local } = this.#plan;
    const unheard = () => this.#talkers.flatMap(({ unheard }) => unheard);
    // Each caller that is called back later needs two slots for each server.
    const isSure = servers + Number(local) <= 1 &&
      slots >= 2 * this.#callers.length && !early &&
      this.#deaths === 0 &&
      !(blocks && servers > 0);
    if (isSure) {
      await this.#ledger.until(() => unheard().length === 0);
      for (const text of unheard()) this.#ledger.problem(text);
    }
    // What a dead server had kept is not released.
    if (this.#deaths > 0) return;
    for (const { functions } of this.#talkers) {
      for (const fn of functions.splice(0)) {
        this.#ledger.lend(fn, "a function");
      }
    }
  }

  /** Waits until all iterators have ended, if no server died. */
  async #allEnded(): Promise<void> {
    const begun = this.#begun;
    const open = () => {
      const there = this.#deaths > 0 ? 0 : begun[OPENED]! - begun[ENDED]!;
      return this.#talkers.reduce((sum, { open }) => sum + open, there);
    };
    await this.#ledger.until(() => (collectGarbage?.(), open() === 0));
    if (open() === 0 || collectGarbage === undefined) return;
    this.#ledger.problem(`${open()} iterators have not ended`);
  }

  /** Lets callers talk, where all servers are of JavaScript. */
  async #talk(): Promise<void> {
    const { guests, servers } = this.#plan;
    if (this.#guests !== undefined && guests > 0 && servers > 0) return;
    await Promise.all(this.#callers.map((given) => this.#talker(given)));
  }

  async #talker(given: Plan["talkers"][number]): Promise<void> {
    const { servers, local } = this.#plan;
    const { thread, blocks, talks } = given;
    const ledger = this.#ledger;
    const orders: TalkOrders = {
      ring: this.#ring.handle,
      codec: this.#plan.codec,
      blocks: blocks && thread,
      timeout: this.#timeout,
      talks,
      at: this.#next,
      mayDie: CAN_DIE && servers > 0 && !local,
    };
    this.#next += talks.length;
    if (thread) return await this.#talkInThread(given, orders);
    const note = <T>(what: string, promise: T): T => {
      // The talker says whether it may end so.
      const ended = Promise.resolve(promise);
      ledger.expect(what, ended, () => "steps of talks");
      return promise;
    };
    const talker = new Talker(orders, this.#ring, note);
    this.#talkers.push(talker);
    this.#expect("a caller that talks", talker.run());
  }

  async #talkInThread(
    { kill }: Plan["talkers"][number],
    orders: TalkOrders,
  ): Promise<void> {
    const thread = await spawn(TALKER, orders);
    this.#threads.add(thread);
    const id = await thread.next<number>();
    const ended = thread.next<Ends | string>();
    this.#expect("a thread that talks", ended, id);
    if (kill < 0 || !CAN_DIE) return;
    await pause(kill);
    this.#killed.add(id);
    const worker = thread.worker as { terminate(): Promise<unknown> };
    await worker.terminate();
    this.#ring.abandon(id);
  }

  #expect(what: string, ended: Promise<Ends | string>, id = 0): void {
    const { ends } = this.#ledger;
    this.#ledger.expect(what, ended, (end) => {
      if (end.failed && this.#killed.has(id)) return "terminated";
      if (end.failed) throw end.reason;
      if (typeof end.value === "string") throw new Error(end.value);
      for (const [name, n] of Object.entries(end.value)) {
        ends.set(name, (ends.get(name) ?? 0) + n);
      }
      return "talks over";
    });
  }

  #close(): void {
    this.#closed = true;
    this.#ring.close();
  }

  /** Lets a thread serve, and another one after its death. */
  async #serve(number: number): Promise<void> {
    const { codec, blocks, limit, slots, guests } = this.#plan;
    const ring = this.#ring;
    const isGuest = (guests >> number & 1) === 1;
    const orders: Orders = {
      ring: ring.handle,
      codec,
      blocks,
      limit: Math.min(limit, slots),
      begun: this.#begun,
      guest: isGuest ? this.#guests?.guest(2) : undefined,
    };
    const thread = await spawn(SERVER, orders);
    this.#threads.add(thread);
    const id = await thread.next() as number;
    try {
      await thread.next(); // it has served until the end
    } catch {
      this.#threads.delete(thread);
      ring.abandon(id);
      await this.#serve(number);
    }
  }

  /** Lets a thread of C call, if there is any. */
  #callInC(given: Plan["callers"][number]): void {
    const guest = this.#guests?.guest();
    if (guest === undefined) return;
    const calls = given.map((call): GuestCall => ({
      at: this.#next++,
      ...call,
    }));
    const timeout = this.#timeout === Infinity ? -1 : this.#timeout;
    const orders: CallerOrders = { guest, calls, timeout };
    const ended = spawn(CALLER, orders).then((thread) => {
      this.#threads.add(thread);
      return thread.next<CallerEnds>();
    });
    const { ends } = this.#ledger;
    this.#ledger.expect("a caller in C", ended, (end) => {
      if (end.failed) throw end.reason;
      for (const name of end.value) {
        const mayBe = name === "done" || name === "failed" ||
          name === "late" && timeout >= 0 ||
          name === "closed" && this.#closed ||
          name === "died" && this.#deaths > 0;
        if (!mayBe) throw new Error(name);
        ends.set(`${name} in C`, (ends.get(`${name} in C`) ?? 0) + 1);
      }
      return "over in C";
    });
  }

  async #client(calls: readonly Call[]): Promise<void> {
    for (const call of calls) {
      this.#call(call);
      if (call.then >= 0) await pause(call.then);
    }
  }

  #call({ kind, n, abort }: Call): void {
    const { servers, local } = this.#plan;
    const at = this.#next++;
    const isDeadly = kind === "die" && CAN_DIE && servers > 0 && !local;
    if (isDeadly) this.#deaths++;
    const reason = new Error(`abort of call ${at}`);
    const control = new AbortController();
    const { signal } = control;
    const isAborted = abort >= 0 || kind === "wait";
    const remote = connect<Api>(this.#ring, {
      codec: codec[this.#plan.codec] as Codec<unknown>,
      timeout: this.#timeout,
    });
    // It takes no signal: the handlers have more arguments than they need.
    const echo = remote.echo as (...args: unknown[]) => Promise<unknown>;
    const fail = remote.fail as (...args: unknown[]) => Promise<unknown>;
    const nap = remote.nap as (...args: unknown[]) => Promise<unknown>;
    const text = textOf(n);
    const promise: Promise<unknown> = isDeadly
      ? remote.die(at)
      : kind === "wait"
      ? remote.wait(at, signal)
      : kind === "fail"
      ? fail(at, text, signal)
      : kind === "nap"
      ? nap(at, n % 5, signal)
      : echo(at, text, signal);
    this.#ledger.expect(`call ${at}, ${kind} of ${n}`, promise, (end) => {
      if (!end.failed) {
        const right = isDeadly
          ? false
          : kind === "nap"
          ? end.value === n % 5
          : kind === "echo" || kind === "die"
          ? end.value === text + text
          : kind === "wait";
        if (right) return "done";
        throw new Error(`another result: ${String(end.value).slice(0, 200)}`);
      }
      if (end.reason === reason && isAborted) return "aborted";
      const { name, message, stack } = (end.reason ?? {}) as Error;
      if (name === "RangeError" && kind === "fail" && message === text) {
        return "failed";
      }
      if (name === "TimeoutError" && this.#timeout < Infinity) return "late";
      if (name === "CallError" && this.#deaths > 0) return "died";
      if (name === "ClosedError" && this.#closed) return "closed";
      throw new Error(`another error: ${stack ?? end.reason}`);
    });
    if (!isAborted || isDeadly) return;
    void abortAfter(abort < 0 ? 8 : abort, () => control.abort(reason));
  }
}

/** The storm on calls. */
export const callsStorm: Storm<Plan> = {
  name: "Calls",
  plans,
  play: async (plan, ledger) => {
    const play = new Play(plan, ledger, await guestModule());
    await play.run();
  },
};
