/**
 * The library's classes over functions of `weft.h`, as far as the race
 * scenarios use them: so that agents which are C can play in the same ones.
 *
 * @module
 */
import type { Codec, Elements } from "../../../mod.ts";
import { LAYOUT } from "../../../primitives/_layout.ts";
import type { WasmExports } from "../../../race/mod.ts";

/** What the twins share: an agent's functions, and how it is to spin. */
export interface Agent {
  readonly c: WasmExports;
  /** The address of byte 0 of the simulated memory. */
  readonly base: number;
  readonly spinning: { rounds: number; patience: number };
  readonly ClosedError: new () => Error;
  readonly CallError: new (message: string, abandoned?: boolean) => Error;
}

// Of memory that only one agent sees: none of the tester's stand-ins.
const { Int32Array: Words, Uint8Array: Bytes } = globalThis;

const EBUSY = 10;
const EDEADLK = 16;
const EINVAL = 28;
const EIO = 29;
const EOWNERDEAD = 62;
const EPERM = 63;
const EPIPE = 64;
const ETIMEDOUT = 73;

/** Nanoseconds of C. */
const ns = (ms = Infinity): bigint =>
  ms === Infinity ? -1n : BigInt(Math.round(ms * 1e6));

/** A primitive at an address. */
class Twin {
  /** Its address. */
  readonly at: number;
  /** What `recover` takes it for: `record_ring`, of a `RecordRing`. */
  get kind(): string {
    return this.constructor.name.replace(/\B[A-Z]/g, "_$&").toLowerCase();
  }

  /** Where the views of scenarios expect it. */
  readonly buffer: SharedArrayBuffer;
  readonly byteOffset: number;

  constructor(
    readonly agent: Agent,
    buffer: SharedArrayBuffer,
    byteOffset = 0,
  ) {
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.at = agent.base + byteOffset;
  }

  /** The functions, told how to spin. */
  get c(): WasmExports {
    const { c, spinning: { rounds, patience } } = this.agent;
    c.race_spin!(rounds, patience);
    return c;
  }

  /** Words that C reads by a pointer, and writes by one. */
  get scratch(): { at: number; words: Int32Array } {
    const { race_scratch, memory } = this.agent.c as unknown as {
      race_scratch: WebAssembly.Global;
      memory: WebAssembly.Memory;
    };
    const at = race_scratch.value as number;
    return { at, words: new Words(memory.buffer, at, 64) };
  }

  /** The bytes of {@linkcode scratch}. */
  protected get bytesOfScratch(): Uint8Array {
    const { words } = this.scratch;
    return new Bytes(words.buffer, words.byteOffset, words.byteLength);
  }

  /** Whether it was done; throws what is neither a yes nor a no. */
  succeeded(result: number): boolean {
    if (result === 0) return true;
    if (result === EBUSY || result === ETIMEDOUT) return false;
    if (result === EPIPE) throw new this.agent.ClosedError();
    if (result === EPERM || result === EDEADLK) {
      throw new TypeError(`errno ${result}`);
    }
    throw new RangeError(`errno ${result}`);
  }

  /** What came out into the first word, if it was done. */
  protected out(result: number): number | undefined {
    return this.succeeded(result) ? this.scratch.words[0] : undefined;
  }
}

class Guard {
  constructor(readonly end: () => void, readonly abandoned = false) {}

  unlock(): void {
    this.end();
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

class Mutex extends Twin {
  /** Where it lies, for conditions. */
  get address(): number {
    return this.at;
  }

  #guard(result: number): Guard | undefined {
    const abandoned = result === EOWNERDEAD;
    return abandoned || this.succeeded(result)
      ? new Guard(() => this.unlock(), abandoned)
      : undefined;
  }

  lock(): Guard | undefined {
    return this.#guard(this.c.weft_mutex_lock!(this.at, ns()));
  }

  tryLock(timeout = 0): Guard | undefined {
    return this.#guard(
      timeout === 0
        ? this.c.weft_mutex_try_lock!(this.at)
        : this.c.weft_mutex_lock!(this.at, ns(timeout)),
    );
  }

  unlock(): void {
    this.succeeded(this.c.weft_mutex_unlock!(this.at));
  }

  abandon(id: number): number {
    return this.c.weft_mutex_abandon!(this.at, id);
  }
}

class WriteGuard extends Guard {
  constructor(readonly lock: RwLock, abandoned: boolean) {
    super(() => lock.unlockWrite(), abandoned);
  }

  downgrade(): Guard {
    return this.lock.downgrade();
  }
}

class RwLock extends Twin {
  #reads(result: number): Guard | undefined {
    const abandoned = result === EOWNERDEAD;
    return abandoned || this.succeeded(result)
      ? new Guard(() => this.unlockRead(), abandoned)
      : undefined;
  }

  #writes(result: number): Guard | undefined {
    const abandoned = result === EOWNERDEAD;
    return abandoned || this.succeeded(result)
      ? new WriteGuard(this, abandoned)
      : undefined;
  }

  read(): Guard | undefined {
    return this.#reads(this.c.weft_rw_lock_read!(this.at, ns()));
  }

  tryRead(timeout = 0): Guard | undefined {
    return this.#reads(
      timeout === 0
        ? this.c.weft_rw_lock_try_read!(this.at)
        : this.c.weft_rw_lock_read!(this.at, ns(timeout)),
    );
  }

  write(): Guard | undefined {
    return this.#writes(this.c.weft_rw_lock_write!(this.at, ns()));
  }

  tryWrite(timeout = 0): Guard | undefined {
    return this.#writes(
      timeout === 0
        ? this.c.weft_rw_lock_try_write!(this.at)
        : this.c.weft_rw_lock_write!(this.at, ns(timeout)),
    );
  }

  unlockRead(): void {
    this.succeeded(this.c.weft_rw_lock_unlock_read!(this.at));
  }

  unlockWrite(): void {
    this.succeeded(this.c.weft_rw_lock_unlock_write!(this.at));
  }

  downgrade(): Guard {
    this.succeeded(this.c.weft_rw_lock_downgrade!(this.at));
    return new Guard(() => this.unlockRead());
  }

  abandon(id: number): number {
    return this.c.weft_rw_lock_abandon!(this.at, id);
  }

  abandonReader(): void {
    this.succeeded(this.c.weft_rw_lock_abandon_reader!(this.at));
  }

  get readers(): number {
    return this.c.weft_rw_lock_readers!(this.at);
  }

  get writer(): number {
    return this.c.weft_rw_lock_writer!(this.at);
  }
}

class Condition extends Twin {
  wait(mutex: Mutex): void {
    this.tryWait(mutex, Infinity);
  }

  tryWait(mutex: Mutex, timeout = 0): boolean {
    const { c, at } = this;
    const result = c.weft_condition_wait!(at, mutex.address, ns(timeout));
    return result === EOWNERDEAD || this.succeeded(result);
  }

  notify(n = 1): void {
    this.succeeded(this.c.weft_condition_notify!(this.at, n));
  }

  notifyAll(): void {
    this.c.weft_condition_notify_all!(this.at);
  }
}

class Semaphore extends Twin {
  acquire(n = 1): void {
    this.succeeded(this.c.weft_semaphore_acquire!(this.at, n, ns()));
  }

  tryAcquire(n = 1, timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.c.weft_semaphore_try_acquire!(this.at, n)
        : this.c.weft_semaphore_acquire!(this.at, n, ns(timeout)),
    );
  }

  release(n = 1): void {
    this.succeeded(this.c.weft_semaphore_release!(this.at, n));
  }

  abandon(id: number): number {
    return this.c.weft_semaphore_abandon!(this.at, id);
  }
}

class Event extends Twin {
  set(): void {
    this.c.weft_event_set!(this.at);
  }

  reset(): void {
    this.c.weft_event_reset!(this.at);
  }

  wait(): void {
    this.succeeded(this.c.weft_event_wait!(this.at, ns()));
  }

  tryWait(timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.c.weft_event_try_wait!(this.at)
        : this.c.weft_event_wait!(this.at, ns(timeout)),
    );
  }
}

class Latch extends Twin {
  get count(): number {
    return this.c.weft_latch_count!(this.at);
  }

  countDown(n = 1): void {
    this.succeeded(this.c.weft_latch_count_down!(this.at, n));
  }

  wait(): void {
    this.succeeded(this.c.weft_latch_wait!(this.at, ns()));
  }

  tryWait(timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.c.weft_latch_try_wait!(this.at)
        : this.c.weft_latch_wait!(this.at, ns(timeout)),
    );
  }
}

class Barrier extends Twin {
  get parties(): number {
    return this.c.weft_barrier_parties!(this.at);
  }

  get arrived(): number {
    return this.c.weft_barrier_arrived!(this.at);
  }

  arriveAndWait(): { leader: boolean } | undefined {
    return this.tryArriveAndWait(Infinity);
  }

  tryArriveAndWait(timeout = 0): { leader: boolean } | undefined {
    const { at, words } = this.scratch;
    words[0] = 0;
    const passed = this.succeeded(
      this.c.weft_barrier_arrive_and_wait!(this.at, at, ns(timeout)),
    );
    return passed ? { leader: (words[0]! & 0xff) !== 0 } : undefined;
  }

  leave({ arrived = false } = {}): boolean {
    const ended = this.c.weft_barrier_leave!(this.at, arrived ? 1 : 0);
    if (ended < 0) this.succeeded(-ended);
    return ended > 0;
  }
}

let running: (() => unknown) | undefined;
let failure: unknown;

/** What `weft_once_run` calls; the scenario's function may fail. */
export function callback(): number {
  try {
    running!();
    return 0;
  } catch (error) {
    // What suspends an agent is no error, and goes on through C.
    if (!(error instanceof Error)) throw error;
    failure = error;
    return EINVAL;
  }
}

class Once extends Twin {
  get done(): boolean {
    return this.c.weft_once_done!(this.at) !== 0;
  }

  run(fn: () => unknown): void {
    this.tryRun(fn, Infinity);
  }

  tryRun(fn: () => unknown, timeout = 0): boolean {
    running = fn;
    const result = this.c.race_once_run!(this.at, ns(timeout));
    if (result === EINVAL) throw failure;
    return this.succeeded(result);
  }

  abandon(id: number): number {
    return this.c.weft_once_abandon!(this.at, id);
  }
}
class Snapshot extends Twin {
  write(source: Int32Array): void {
    const { at, words } = this.scratch;
    words.set(source);
    this.c.weft_snapshot_write!(this.at, at);
  }

  read(to: Int32Array): number {
    const { at, words } = this.scratch;
    const version = this.c.weft_snapshot_read!(this.at, at);
    to.set(words.subarray(0, to.length));
    return version;
  }
}

/** Queues of elements of one word; `stem` tells which. */
abstract class Queue extends Twin {
  abstract readonly stem: string;

  protected f(name: string): (...args: unknown[]) => number {
    return this.c[`${this.stem}_${name}`]!;
  }

  get closed(): boolean {
    return this.f("closed")(this.at) !== 0;
  }

  tryPushInt(value: number, timeout = 0): boolean {
    return this.succeeded(
      timeout === 0
        ? this.f("try_push_int")(this.at, value)
        : this.f("push_int")(this.at, value, ns(timeout)),
    );
  }

  tryPopInt(timeout = 0): number | undefined {
    const { at } = this.scratch;
    return this.out(
      timeout === 0
        ? this.f("try_pop_int")(this.at, at)
        : this.f("pop_int")(this.at, at, ns(timeout)),
    );
  }

  pushInt(value: number): void {
    this.tryPushInt(value, Infinity);
  }

  popInt(): number {
    return this.tryPopInt(Infinity)!;
  }

  tryPush(source: Int32Array): boolean {
    const { at, words } = this.scratch;
    words.set(source);
    return this.succeeded(this.f("try_push")(this.at, at));
  }

  tryPopInto(to: Int32Array): boolean {
    const { at, words } = this.scratch;
    if (!this.succeeded(this.f("try_pop")(this.at, at))) return false;
    to.set(words.subarray(0, to.length));
    return true;
  }

  #count(result: number): number {
    if (result < 0) this.succeeded(-result);
    return result;
  }

  tryPushMany(source: Int32Array, n: number): number {
    const { at, words } = this.scratch;
    words.set(source);
    return this.#count(this.f("try_push_many")(this.at, at, n));
  }

  tryPopMany(to: Int32Array, n: number): number {
    const { at, words } = this.scratch;
    const count = this.#count(this.f("try_pop_many")(this.at, at, n));
    to.set(words.subarray(0, count));
    return count;
  }

  close(): void {
    this.f("close")(this.at);
  }

  // ---- in place: the address of a slot, as a view remembers it
  #reserved = 0;
  #peeked = 0;

  reserve(): Uint8Array | undefined {
    return this.#slot(this.#reserved = this.f("reserve")(this.at));
  }

  /** The bytes of an int in a slot, as the tester sees them. */
  #slot(address: number): Uint8Array | undefined {
    if (address === 0) return undefined;
    return new Uint8Array(this.buffer, address - this.agent.base, 4);
  }

  commit(): void {
    // A function with one parameter ignores the slot.
    const result = this.f("commit")(this.at, this.#reserved);
    if (result !== undefined) this.succeeded(result);
  }

  peek(): Uint8Array | undefined {
    return this.#slot(this.#peeked = this.f("peek")(this.at));
  }

  consume(): void {
    this.f("consume")(this.at, this.#peeked);
  }
}

class SpscQueue extends Queue {
  readonly stem = "weft_spsc_queue";
}

class MpmcQueue extends Queue {
  readonly stem = "weft_mpmc_queue";
}

class LockFreeQueue extends Queue {
  readonly stem = "weft_lock_free_queue";
}

class RecordRing extends Twin {
  #reserved = 0;

  tryPush(record: Uint8Array): boolean {
    this.bytesOfScratch.set(record);
    const { c, at, scratch } = this;
    return this.succeeded(
      c.weft_record_ring_try_push!(at, scratch.at, record.length),
    );
  }

  push(record: Uint8Array): void {
    this.bytesOfScratch.set(record);
    const { at } = this.scratch;
    this.succeeded(
      this.c.weft_record_ring_push!(this.at, at, record.length, ns()),
    );
  }

  #taken(result: number): Uint8Array | undefined {
    if (!this.succeeded(result)) return undefined;
    return this.bytesOfScratch.slice(0, this.scratch.words[60]);
  }

  /** The length goes in and out behind the bytes. */
  get #length(): number {
    const { at, words } = this.scratch;
    words[60] = 240;
    return at + 240;
  }

  pop(): Uint8Array {
    return this.tryPop(Infinity)!;
  }

  popInto(dst: Uint8Array): number {
    const record = this.pop();
    dst.set(record);
    return record.length;
  }

  tryPop(timeout = 0): Uint8Array | undefined {
    const { c, at, scratch } = this;
    const length = this.#length;
    return this.#taken(
      timeout === 0
        ? c.weft_record_ring_try_pop!(at, scratch.at, length)
        : c.weft_record_ring_pop!(at, scratch.at, length, ns(timeout)),
    );
  }

  close(): void {
    this.c.weft_record_ring_close!(this.at);
  }

  reserve(length: number): Uint8Array | undefined {
    const { at, words } = this.scratch;
    if (
      !this.succeeded(this.c.weft_record_ring_reserve!(this.at, length, at))
    ) return undefined;
    this.#reserved = words[0]!;
    const start = this.#reserved - this.agent.base;
    return new Uint8Array(this.buffer, start, length); // seen by the tester
  }

  commit(length = 1): void {
    const { c, at } = this;
    this.succeeded(c.weft_record_ring_commit!(at, this.#reserved, length));
  }

  cancel(): void {
    this.c.weft_record_ring_cancel!(this.at, this.#reserved);
  }

  abandon(id: number): number {
    return this.c.weft_record_ring_abandon!(this.at, id);
  }
}

/** Where the seats begin, and words from one to the next. */
const SEATS = LAYOUT.broadcast.length;
const SEAT = 32;

class Subscription extends Twin {
  readonly #seat: number;

  constructor(agent: Agent, broadcast: Broadcast, _: unknown, word: number) {
    super(agent, broadcast.buffer, broadcast.byteOffset);
    this.#seat = (word - SEATS) / SEAT;
  }

  get dropped(): number {
    return this.c.weft_broadcast_dropped!(this.at, this.#seat);
  }

  tryPopInt(timeout = 0): number | undefined {
    const { c, at, scratch } = this;
    return this.out(
      timeout === 0
        ? c.weft_broadcast_try_pop_int!(at, this.#seat, scratch.at)
        : c.weft_broadcast_pop_int!(at, this.#seat, scratch.at, ns(timeout)),
    );
  }

  popInt(): number {
    return this.tryPopInt(Infinity)!;
  }

  tryPopInto(to: Int32Array): boolean {
    const { c, at, scratch } = this;
    const result = c.weft_broadcast_try_pop!(at, this.#seat, scratch.at);
    if (!this.succeeded(result)) return false;
    to.set(scratch.words.subarray(0, to.length));
    return true;
  }

  leave(): void {
    this.c.weft_broadcast_leave!(this.at, this.#seat);
  }
}

class Broadcast extends Twin {
  pushInt(value: number): void {
    const { c, at } = this;
    this.succeeded(c.weft_broadcast_push_int!(at, value, ns()));
  }

  tryPushInt(value: number): boolean {
    return this.succeeded(this.c.weft_broadcast_try_push_int!(this.at, value));
  }

  push(source: Int32Array): void {
    const { c, at, scratch } = this;
    scratch.words.set(source);
    this.succeeded(c.weft_broadcast_push!(at, scratch.at, ns()));
  }

  subscribe(): Subscription {
    const seat = this.c.weft_broadcast_subscribe!(this.at);
    if (seat < 0) throw new RangeError("no seat");
    return new Subscription(this.agent, this, undefined, SEATS + SEAT * seat);
  }

  close(): void {
    this.c.weft_broadcast_close!(this.at);
  }

  abandon(id: number): number {
    return this.c.weft_broadcast_abandon!(this.at, id);
  }
}

class Channel extends Twin {
  readonly #codec: Codec<unknown>;

  constructor(
    agent: Agent,
    buffer: SharedArrayBuffer,
    byteOffset: number,
    { codec }: { codec: Codec<unknown> },
  ) {
    super(agent, buffer, byteOffset);
    this.#codec = codec;
  }

  /** A message as C has it: its bytes, and how many they are. */
  #encoded(value: unknown): [at: number, length: number] {
    const length = this.#codec.encode(value, this.bytesOfScratch);
    return [this.scratch.at, length];
  }

  #decoded(result: number): unknown {
    if (!this.succeeded(result)) return undefined;
    const length = this.scratch.words[60];
    return this.#codec.decode(this.bytesOfScratch.slice(0, length));
  }

  /** As C takes one: where it goes, and where its length does. */
  get #room(): [at: number, length: number] {
    const { at, words } = this.scratch;
    words[60] = 240;
    return [at, at + 240];
  }

  send(value: unknown): void {
    const { c, at } = this;
    const message = this.#encoded(value);
    this.succeeded(c.weft_channel_send!(at, ...message, ns()));
  }

  trySend(value: unknown): boolean {
    const { c, at } = this;
    return this.succeeded(
      c.weft_channel_try_send!(at, ...this.#encoded(value)),
    );
  }

  receive(): unknown {
    const { c, at } = this;
    return this.#decoded(c.weft_channel_receive!(at, ...this.#room, ns()));
  }

  tryReceive(): unknown {
    const { c, at } = this;
    return this.#decoded(c.weft_channel_try_receive!(at, ...this.#room));
  }

  close(): void {
    this.c.weft_channel_close!(this.at);
  }

  abandon(id: number): number {
    return this.c.weft_channel_abandon!(this.at, id);
  }
}

type Handler = (request: Uint8Array, space: Uint8Array) => number;

let serving: { readonly ring: CallRing; readonly fn: Handler };

/** What `weft_call_ring_serve` calls for an answer. */
export function handler(
  _: number,
  request: number,
  length: number,
  space: number,
): number {
  const { ring, fn } = serving;
  return fn(ring.view(request, length), ring.view(space, ring.maxReply));
}

class CallRing extends Twin {
  readonly #bytes: Uint8Array;

  constructor(agent: Agent, buffer: SharedArrayBuffer, byteOffset = 0) {
    super(agent, buffer, byteOffset);
    this.#bytes = new Uint8Array(buffer); // seen by the tester
  }

  get maxReply(): number {
    return this.c.weft_call_ring_max_reply!(this.at);
  }

  /** Bytes of the ring that C points to. */
  view(at: number, length: number): Uint8Array {
    const start = at - this.agent.base;
    return this.#bytes.subarray(start, start + length);
  }

  /** A request or a reply, for C to read. */
  given(bytes: Elements): [at: number, length: number] {
    const { buffer, byteOffset, byteLength } = bytes;
    this.bytesOfScratch.set(new Bytes(buffer, byteOffset, byteLength));
    return [this.scratch.at, byteLength];
  }

  /** Where C puts a reply, and its length. */
  get room(): [at: number, length: number] {
    const { at, words } = this.scratch;
    words[60] = 112;
    return [at + 128, at + 240];
  }

  /** The reply that a call ended with; undefined if it has none yet. */
  replied(result: number): Uint8Array | undefined {
    const length = this.scratch.words[60]!;
    const reply = this.bytesOfScratch.slice(128, 128 + length);
    if (result === EOWNERDEAD) throw new this.agent.CallError("", true);
    if (result === EIO) {
      throw new this.agent.CallError(new TextDecoder().decode(reply));
    }
    return this.succeeded(result) ? reply : undefined;
  }

  #pending(result: number): Pending | undefined {
    const { words } = this.scratch;
    return this.succeeded(result) ? new Pending(this, words[60]!) : undefined;
  }

  #taken(result: number): Taken | undefined {
    const { words } = this.scratch;
    return this.succeeded(result) ? new Taken(this, words[60]!) : undefined;
  }

  call(request: Elements): Uint8Array {
    return this.tryCall(request, Infinity)!;
  }

  tryCall(request: Elements, timeout = 0): Uint8Array | undefined {
    const { c, at } = this;
    const given = this.given(request);
    return this.replied(
      c.weft_call_ring_call!(at, ...given, ...this.room, ns(timeout)),
    );
  }

  tryPost(request: Elements): Pending | undefined {
    const { c, at } = this;
    const given = this.given(request);
    return this.#pending(
      c.weft_call_ring_try_post!(at, ...given, given[0] + 240),
    );
  }

  post(request: Elements): Pending {
    const { c, at } = this;
    const given = this.given(request);
    return this.#pending(
      c.weft_call_ring_post!(at, ...given, given[0] + 240, ns()),
    )!;
  }

  tryTake(): Taken | undefined {
    const { c, at, scratch } = this;
    return this.#taken(c.weft_call_ring_try_take!(at, scratch.at + 240));
  }

  take(): Taken {
    const { c, at, scratch } = this;
    return this.#taken(
      c.weft_call_ring_take!(at, scratch.at + 240, ns()),
    )!;
  }

  tryServeOne(fn: Handler): boolean {
    serving = { ring: this, fn };
    return this.succeeded(this.c.race_call_ring_try_serve_one!(this.at));
  }

  serve(fn: Handler): number {
    serving = { ring: this, fn };
    return this.c.race_call_ring_serve!(this.at, ns());
  }

  close(): void {
    this.c.weft_call_ring_close!(this.at);
  }

  abandon(id: number): number {
    return this.c.weft_call_ring_abandon!(this.at, id);
  }

  /** A function of a call that is under way: of its slot. */
  of(slot: number, name: string, ...args: unknown[]): number {
    return this.c[`weft_call_ring_${name}`]!(this.at, slot, ...args);
  }
}

/** A call that was posted; it has no slot when it is over. */
class Pending {
  constructor(readonly ring: CallRing, private slot: number) {}

  #received(result: number): Uint8Array | undefined {
    if (result !== EBUSY && result !== ETIMEDOUT) this.slot = 0;
    return this.ring.replied(result);
  }

  tryReceive(): Uint8Array | undefined {
    const { ring, slot } = this;
    return this.#received(ring.of(slot, "try_receive", ...ring.room));
  }

  tryReceiveInto(dst: Uint8Array): number | undefined {
    const reply = this.tryReceive();
    if (reply !== undefined) dst.set(reply);
    return reply?.length;
  }

  receive(): Uint8Array {
    const { ring, slot } = this;
    return this.#received(ring.of(slot, "receive", ...ring.room, ns()))!;
  }

  cancel(): void {
    const { ring, slot } = this;
    this.slot = 0;
    if (slot !== 0) ring.of(slot, "cancel");
  }
}

/** A call that was taken. */
class Taken {
  readonly request: Uint8Array;
  readonly space: Uint8Array;

  constructor(readonly ring: CallRing, readonly slot: number) {
    const { at, words } = ring.scratch;
    const request = ring.of(slot, "request", at);
    this.request = ring.view(request, words[0]!);
    this.space = ring.view(ring.of(slot, "space"), ring.maxReply);
  }

  reply(reply: Elements | number): boolean {
    const { ring, slot } = this;
    const given = typeof reply === "number" ? [0, reply] : ring.given(reply);
    return ring.succeeded(ring.of(slot, "reply", ...given));
  }
}

class WorkCounter extends Twin {
  next(): number {
    const { at, words } = this.scratch;
    words[0] = words[1] = 0;
    return this.c.weft_work_counter_next!(this.at, at);
  }

  nextRange(): { start: number; end: number } | undefined {
    const { at, words } = this.scratch;
    const n = this.c.weft_work_counter_next_range!(this.at, at);
    return n !== 0 ? { start: words[0]!, end: words[1]! } : undefined;
  }

  done(n = 1): void {
    this.succeeded(this.c.weft_work_counter_done!(this.at, n));
  }

  wait(): void {
    this.tryWait(Infinity);
  }

  tryWait(timeout = 0): boolean {
    return this.succeeded(this.c.weft_work_counter_wait!(this.at, ns(timeout)));
  }

  cancel(): void {
    this.c.weft_work_counter_cancel!(this.at);
  }

  get completed(): number {
    return this.c.weft_work_counter_completed!(this.at);
  }
}

class WorkDeque extends Twin {
  push(item: number): boolean {
    return this.succeeded(this.c.weft_work_deque_push!(this.at, item));
  }

  pop(): number | undefined {
    return this.out(this.c.weft_work_deque_pop!(this.at, this.scratch.at));
  }

  adopt(): void {
    this.c.weft_work_deque_adopt!(this.at);
  }

  steal(): number | undefined {
    return this.out(this.c.weft_work_deque_steal!(this.at, this.scratch.at));
  }
}

class SlabPool extends Twin {
  get #cache(): number {
    return (this.c.race_cache as unknown as WebAssembly.Global).value as number;
  }

  useCache(limit: number): void {
    const { memory } = this.c as unknown as { memory: WebAssembly.Memory };
    new Words(memory.buffer, this.#cache, 1)[0] = limit;
  }

  allocate(): number {
    const block = this.c.weft_slab_pool_allocate!(this.at, this.#cache);
    return block === 0 ? -1 : block - this.agent.base;
  }

  free(at: number): void {
    const { c, agent: { base } } = this;
    const result = c.weft_slab_pool_free!(this.at, base + at, this.#cache);
    if (result === EINVAL) throw new RangeError("it is free already");
    this.succeeded(result);
  }

  release(): void {
    this.c.weft_slab_pool_release!(this.at, this.#cache);
  }

  abandon(id: number, everything = false): number {
    return this.c.weft_slab_pool_abandon!(this.at, id, everything ? 1 : 0);
  }
}

class StripedCounter extends Twin {
  #stripe = 0;

  add(n: number): void {
    const { c } = this;
    if (this.#stripe === 0) {
      this.#stripe = c.weft_striped_counter_claim!(this.at);
    }
    c.weft_striped_counter_add_to!(this.#stripe, n);
  }

  sum(): number {
    return Number(this.c.weft_striped_counter_sum!(this.at));
  }
}

/** The twins, by the names of the classes they stand for. */
export const twins = {
  Mutex,
  RwLock,
  Condition,
  Semaphore,
  Event,
  Latch,
  Barrier,
  Once,
  Snapshot,
  SpscQueue,
  MpmcQueue,
  LockFreeQueue,
  RecordRing,
  Broadcast,
  Subscription,
  Channel,
  CallRing,
  WorkCounter,
  WorkDeque,
  SlabPool,
  StripedCounter,
} as const;
