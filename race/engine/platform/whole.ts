/**
 * Whole operations of primitives, as one step each: the option `primitives:
 * "atomic"`. The table below names operations of which the scenarios of this
 * library prove that they are linearizable: each answers as if it happened at
 * one moment, and the model leaves no choice which answer that is. So a program
 * over them has the same outcomes if they do (Filipović, O'Hearn, Rinetzky,
 * Yang: Abstraction for concurrent objects, 2010). Operations that may answer
 * otherwise because another one is under way, such as `tryPop` of an
 * `MpmcQueue`, are not in it.
 *
 * @module
 */
import { rangesAt, type Told } from "./guests.ts";
import { keptBy, mayTell } from "./kept.ts";
import { type Target, unwrap } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const QUEUE = ["tryPushInt", "tryPopInt", "pushInt", "popInt", "close"];

/** The operations, by the kind of primitive. */
export const WHOLE: Readonly<Record<string, readonly string[]>> = {
  mutex: ["lock", "tryLock", "unlock"],
  rw_lock: ["read", "write", "unlockRead", "unlockWrite"],
  semaphore: ["acquire", "release"],
  latch: ["countDown", "wait", "tryWait"],
  wait_group: ["add", "done", "wait", "tryWait"],
  work_deque: ["push", "pop", "steal"],
  snapshot: ["write", "read"],
  spsc_queue: QUEUE,
  lock_free_queue: QUEUE,
};

const SLEEPS = ["wait", "tryWait"];
const ARRIVES = ["arriveAndWait", "tryArriveAndWait"];

/**
 * Operations of primitives whose views keep nothing: what an agent does after
 * such an operation depends on what it did before, and on what was returned.
 * `step/returns.ts` says what is made of it.
 */
export const RETURNS: Readonly<Record<string, readonly string[]>> = {
  mutex: ["lock", "tryLock", "unlock"],
  rw_lock: [
    ...["read", "tryRead", "write", "tryWrite"],
    ...["unlockRead", "unlockWrite", "downgrade"],
  ],
  semaphore: ["acquire", "tryAcquire", "release"],
  condition: [...SLEEPS, "notify", "notifyAll"],
  event: [...SLEEPS, "set", "reset"],
  latch: [...SLEEPS, "countDown", ...ARRIVES],
  wait_group: [...SLEEPS, "add", "done"],
  barrier: [...ARRIVES, "leave"],
  mpmc_queue: QUEUE,
  lock_free_queue: QUEUE,
  record_ring: [
    ...["tryPush", "push", "pushRecord", "endClaim", "close"],
    ...["peekRecord", "consumeRecord", "lookAtRecord", "unpeek"],
    ...["wakeProducer", "passRoom", "handRoomOn"],
  ],
  channel: [
    ...["send", "trySend", "receive", "tryReceive", "close"],
    ...["sender", "receiver", "leaveSender", "leaveReceiver"],
  ],
  broadcast: ["tryPushInt", "pushInt", "subscribe", "close"],
  subscription: ["tryPopInt", "popInt", "leave"],
};

/** An agent, as far as it is in whole operations. */
interface Caller {
  readonly pos: number;
  depth: number;
  within: string;
  wholes: number;
  going: boolean;
  entered: number;
  keeper: object | null;
}

/** Which operations are one step in an exploration. */
export class Whole {
  /** Whether any are. */
  on = false;
  /** The classes of primitives that agents have made views of. */
  readonly #met = new Set<object>();
  /** What the operations were before, by the object that has them. */
  readonly #before = new Map<object, Map<string, Any>>();
  /** The words that agents use otherwise, too. */
  opened: Set<Told> = new Set();
  /** The kinds of primitives whose operations were one step. */
  readonly kinds: Set<string> = new Set();

  /** Whether an operation's end is told. */
  #tells = false;

  /**
   * Is told which agent runs. Tells that an operation of `RETURNS` has returned
   * a value, and how long the replay was when it began.
   */
  constructor(
    readonly running: () => Caller | null,
    readonly returned: (what: string, value: unknown, begin: number) => void,
  ) {}

  /** Is told of a view of a primitive. */
  meet(primitive: object): void {
    const prototype = Object.getPrototypeOf(primitive);
    if (this.#met.has(prototype)) return;
    this.#met.add(prototype);
    if (this.on || this.#tells) this.#watch(prototype);
  }

  /**
   * Begins an exploration: `on` says whether operations are one step, `tells`
   * whether their ends are told.
   */
  begin(on: boolean, tells: boolean, opened: Set<Told>): void {
    this.end();
    this.on = on;
    this.#tells = tells;
    this.opened = opened;
    this.kinds.clear();
    if (!on && !tells) return;
    for (const prototype of this.#met) this.#watch(prototype);
  }

  /** Ends it: the classes are as they were. */
  end(): void {
    this.on = this.#tells = false;
    for (const [owner, methods] of this.#before) {
      for (const [name, method] of methods) define(owner, name, method);
    }
    this.#before.clear();
  }

  /** Whether an operation at `address` may be a part of a larger step. */
  holds(target: Target | null, address: number): boolean {
    if (!this.on || target === null) return false;
    const { buffer, base } = target.region;
    const ranges = rangesAt(buffer, address - base);
    return ranges.length > 0 && !ranges.some((range) => this.opened.has(range));
  }

  /**
   * Notes that an agent uses the word by other code than whole operations: from
   * now on, every operation of that primitive is explored step by step.
   */
  open({ region: { buffer, base } }: Target, address: number): void {
    for (const range of rangesAt(buffer, address - base)) {
      this.opened.add(range);
    }
  }

  /** Whether the words of a view are used by other code, too. */
  #isOpen({ buffer, byteOffset }: Any): boolean {
    const ranges = rangesAt(unwrap(buffer), byteOffset);
    return ranges.length > 0 && ranges.every((range) => this.opened.has(range));
  }

  /** Has the operations of a class tell when they begin and end. */
  #watch(prototype: object): void {
    for (
      let owner = prototype;
      owner !== Object.prototype;
      owner = Object.getPrototypeOf(owner)
    ) {
      if (this.#before.has(owner)) continue;
      const methods = new Map<string, Any>();
      this.#before.set(owner, methods);
      for (const name of NAMES) {
        const before = Object.getOwnPropertyDescriptor(owner, name)?.value;
        if (typeof before !== "function" || Object.isFrozen(owner)) continue;
        methods.set(name, before);
        define(owner, name, this.#told(name, before));
      }
    }
  }

  #told(name: string, method: Any): Any {
    const { running, returned, on } = this;
    const isOpen = (view: Any) => this.#isOpen(view);
    return function (this: Any, ...args: Any[]) {
      const agent = running();
      const { kind } = this;
      const among = (table: typeof WHOLE) =>
        table[kind]?.includes(name) === true;
      if (agent === null || !among(RETURNS) && !(on && among(WHOLE))) {
        return method.apply(this, args);
      }
      // Before other code was seen to use its words, nothing else is known.
      const isStep = on && !isOpen(this);
      if (isStep && !among(WHOLE)) return method.apply(this, args);
      const begin = agent.pos;
      const returns = among(RETURNS) && mayTell(this, args);
      const { within, entered, keeper } = agent;
      agent.depth++;
      if (isStep && ++agent.wholes === 1) agent.going = false;
      agent.within = kind;
      agent.entered = returns ? begin : -1;
      agent.keeper = this;
      let value;
      let threw = false;
      try {
        value = method.apply(this, args);
      } catch (error) {
        value = error;
        threw = true;
      }
      agent.within = within;
      agent.entered = entered;
      agent.keeper = keeper;
      agent.depth--;
      if (isStep && --agent.wholes === 0) agent.going = false;
      if (returns) {
        const what = `${kind}.${name} ${threw} ${keptBy(this)}`;
        returned(what, value, begin);
      }
      if (threw) throw value;
      return value;
    };
  }
}

const NAMES = new Set([WHOLE, RETURNS].flatMap((o) => Object.values(o).flat()));

function define(owner: object, name: string, value: Any): void {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name)!;
  Object.defineProperty(owner, name, { ...descriptor, value });
}
