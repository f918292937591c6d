/**
 * The storm on calls: clients call an object by `connect`, in one slot or in
 * pieces, and give calls up at any time, while servers end at any time. With
 * JSON, some of the servers and callers are threads of C.
 *
 * What the model allows: a call has the result of its method, or rejects for a
 * reason that there was. No method is called twice for a call. When all is
 * over, all slots are free, each server ends, and nobody keeps a call.
 *
 * @module
 */
import fc from "fast-check";
import { CallRing, codec, connect, serve } from "../../mod.ts";
import { spawn, type Thread } from "../_run/workers.ts";
import { type Api, apiOf, CAN_DIE } from "./_calls_api.ts";
import type { CallerEnds, CallerOrders, GuestCall } from "./_calls_guest.ts";
import type { Orders } from "./_calls_server.ts";
import { AT, BEGUN_AT, GuestMemory, guestModule } from "./_guest.ts";
import type { Ledger, Storm } from "./_storm.ts";

const CALLER = new URL("./_calls_guest.ts", import.meta.url);
const SERVER = new URL("./_calls_server.ts", import.meta.url);

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Mostly `usual`, and now and then one of `others`. */
const mostly = <T>(usual: T, others: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, others);

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
});

type Of<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
type Call = Of<typeof call>;
type Plan = Of<typeof plans>;

/** The greatest number of calls. */
const MOST = 256;

const textOf = (n: number) => "x".repeat(n);

/** One play. */
class Play {
  readonly #plan: Plan;
  readonly #ledger: Ledger;
  readonly #ring: CallRing;
  readonly #begun: Int32Array<SharedArrayBuffer>;
  /** The memory of the threads of C, if there may be any. */
  readonly #guests: GuestMemory | undefined;
  readonly #threads = new Set<Thread>();
  readonly #served: Promise<unknown>[] = [];
  readonly #timeout: number;
  #next = 0;
  #deaths = 0;
  #closed = false;

  constructor(plan: Plan, ledger: Ledger, module?: WebAssembly.Module) {
    this.#plan = plan;
    this.#ledger = ledger;
    const { slots, bytes, servers, local } = plan;
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
  }

  async run(): Promise<void> {
    const { servers, local, limit, clients, callers, early } = this.#plan;
    const ring = this.#ring;
    const ledger = this.#ledger;
    for (let i = 0; i < servers; i++) this.#served.push(this.#serve(i));
    const options = { codec: codec[this.#plan.codec], limit: 1 };
    if (local || servers === 0) {
      const most = Math.min(limit, ring.slots);
      const api = apiOf(this.#begun, false);
      this.#served.push(serve(ring, api, { ...options, limit: most }));
    }
    for (const calls of callers) this.#callInC(calls);
    await Promise.all(clients.map((calls) => this.#client(calls)));
    if (early) this.#close();
    await ledger.settled();
    await ledger.assertGivenBack(1);
    // A method that nobody waits for any more goes on for some ms.
    await ledger.until(() => ring.pending === 0);
    const { pending } = ring;
    if (pending > 0) ledger.problem(`${pending} slots are in use`);
    for (const [at, times] of this.#begun.entries()) {
      if (times > 1) ledger.problem(`call ${at} was begun ${times} times`);
    }
    this.#close();
    const ends = Promise.all(this.#served);
    ledger.expect("the servers, after close", ends, () => "ended");
    await ledger.settled();
    for (const thread of this.#threads) thread.stop();
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
      codec: codec[this.#plan.codec],
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

async function abortAfter(when: number, abort: () => void): Promise<void> {
  if (when > 5) await pause(when - 6);
  else for (let i = 0; i < when; i++) await undefined;
  abort();
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
