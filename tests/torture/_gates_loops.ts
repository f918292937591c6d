/**
 * What agents of the storm on gates do, in a thread of their own or as one of
 * several loops of the main thread: they read and write under a lock, take
 * tokens by a condition, and wait at events, a latch, a group, a barrier and
 * onces.
 */
import {
  Barrier,
  Condition,
  type Handle,
  Once,
  type Passage,
  type RwWriteGuard,
  WaitGroup,
} from "../../mod.ts";
import { classes, isInKernel } from "./_kernels.ts";
import { type Ends, type Note, StormLoop, type Timed } from "./_loop.ts";

/** What opens, and nothing else. */
type Gate = "auto" | "open" | "latch" | "group";

/** One operation, or several that a loop which awaits begins at a time. */
export interface Step extends Timed {
  /**
   * `down` writes, then reads by a downgrade; `take` takes a token by the
   * condition, `work` is counted by the group, `meet` waits for all that meet.
   * The gates are an event that lets one through, one that lets all through, a
   * latch, and the group.
   */
  readonly what:
    | "read"
    | "write"
    | "down"
    | "take"
    | "work"
    | "once"
    | "meet"
    | Gate;
  /** Which once it is. */
  readonly n: number;
  readonly tries: boolean;
  readonly timeout: number;
}

/** What a loop is told. */
export interface Orders {
  readonly handles: Handles;
  /** Whether it uses the kernel. */
  readonly inKernel: boolean;
  readonly blocks: boolean;
  /** Which of those that meet it is; -1: it does not meet. */
  readonly party: number;
  readonly steps: readonly Step[];
  /** The number of runs of each once that throw. */
  readonly failures: number;
  readonly words: Int32Array<SharedArrayBuffer>;
}

/** The memory of each gate. */
export interface Handles {
  readonly lock: Handle<"rw_lock">;
  readonly mutex: Handle<"mutex">;
  readonly condition: Handle<"condition">;
  readonly auto: Handle<"event">;
  readonly open: Handle<"event">;
  readonly latch: Handle<"latch">;
  readonly group: Handle<"wait_group">;
  readonly barrier: Handle<"barrier">;
  readonly onces: readonly Handle<"once">[];
}

/** In `words`: how many read, and write. */
const READERS = 0, WRITERS = 1;
/** In `words`: tokens, and how many an event has let through. */
export const TOKENS = 2, AUTO = 3;
/** In `words`: whether the latch is open, and the last phase with a leader. */
export const LATCHED = 4;
const LEADERS = 5;
/** In `words`: the runs of each once, and whether one runs. */
const RUNS = 16, RUNNING = 32;
/** In `words`: the phase of each party. */
export const PHASES = 48;
/** The number of words. */
export const WORDS = 64;
/** The number of onces. */
export const ONCES = 12;
/** The phase of a party that has left. */
const LEFT = 1 << 30;

/** What all loops use. */
export function viewsOf(
  { handles, inKernel }: Pick<Orders, "handles" | "inKernel">,
) {
  const { Event, Latch, Mutex, RwLock } = classes(inKernel);
  return {
    lock: RwLock.from(handles.lock),
    mutex: Mutex.from(handles.mutex),
    condition: Condition.from(handles.condition),
    auto: Event.from(handles.auto),
    open: Event.from(handles.open),
    latch: Latch.from(handles.latch),
    group: WaitGroup.from(handles.group),
    barrier: Barrier.from(handles.barrier),
    onces: handles.onces.map((handle) => Once.from(handle)),
  };
}

/** A failure of a once's function. */
class Failure extends Error {}

/** One loop. */
export class Loop extends StormLoop<Step> {
  readonly #orders: Orders;
  readonly #views: ReturnType<typeof viewsOf>;
  #phase = 0;

  constructor(orders: Orders, note?: Note) {
    super(orders, note);
    this.#orders = orders;
    this.#views = viewsOf(orders);
    if (isInKernel(this.#views.lock)) this.end("in the kernel");
  }

  /** Takes all steps, and leaves those that meet. */
  override async run(): Promise<Ends> {
    const ends = await super.run();
    const { party, words } = this.#orders;
    if (party >= 0) {
      Atomics.store(words, PHASES + party, LEFT);
      this.#views.barrier.leave();
    }
    return ends;
  }

  /** A party arrives once at a time. */
  protected override isAlone({ what }: Step): boolean {
    return what === "meet";
  }

  // ---- a loop that blocks ---------------------------------------------------

  protected override block(step: Step): void {
    const { lock, mutex, condition, group, barrier } = this.#views;
    const { what, tries, timeout } = step;
    switch (what) {
      case "read": {
        const guard = tries ? lock.tryRead(timeout) : lock.read();
        if (guard === undefined) return this.end("late");
        this.#reads(1);
        this.hold(step);
        this.#reads(-1);
        guard.unlock();
        return this.end("read");
      }
      case "write":
      case "down": {
        const guard = tries ? lock.tryWrite(timeout) : lock.write();
        if (guard === undefined) return this.end("late");
        this.#writes(1);
        this.hold(step);
        this.#writes(-1);
        return this.#written(guard, step);
      }
      case "take": {
        using _lock = mutex.lock();
        while (this.#tokens() === 0) {
          if (!tries) condition.wait(mutex);
          else if (!condition.tryWait(mutex, timeout)) break;
        }
        return this.#take();
      }
      case "work":
        group.add();
        this.hold(step);
        group.done();
        return this.end("worked");
      case "meet": {
        if (this.#orders.party < 0) return;
        this.#arrives();
        const passage = tries
          ? barrier.tryArriveAndWait(timeout)
          : barrier.arriveAndWait();
        if (passage === undefined) this.end("late");
        return this.#met(passage);
      }
      case "once": {
        const once = this.#onceOf(step);
        const run = () => {
          this.#begins(step.n);
          this.hold(step);
          this.#ended(step.n);
        };
        try {
          if (tries && !once.tryRun(run, timeout)) return this.end("late");
          if (!tries) once.run(run);
        } catch (error) {
          return this.#failed(error);
        }
        return this.#isDone(step.n);
      }
      default: {
        const gate = this.#views[what];
        if (tries && !gate.tryWait(timeout)) return this.end("late");
        if (!tries) gate.wait();
        return this.#through(what);
      }
    }
  }

  // ---- a loop that awaits ---------------------------------------------------

  protected override async wait(step: Step): Promise<void> {
    const { lock, group, barrier } = this.#views;
    const { what, tries, timeout } = step;
    switch (what) {
      case "read": {
        const guard = await this.call(
          step,
          (signal) =>
            tries
              ? lock.tryReadAsync({ timeout, signal })
              : lock.readAsync({ signal }),
        );
        if (guard === undefined) return;
        this.#reads(1);
        await this.holdAsync(step);
        this.#reads(-1);
        guard.unlock();
        return this.end("read");
      }
      case "write":
      case "down": {
        const guard = await this.call(
          step,
          (signal) =>
            tries
              ? lock.tryWriteAsync({ timeout, signal })
              : lock.writeAsync({ signal }),
        );
        if (guard === undefined) return;
        this.#writes(1);
        await this.holdAsync(step);
        this.#writes(-1);
        return this.#written(guard, step);
      }
      case "take":
        return await this.#takes(step);
      case "work":
        group.add();
        await this.holdAsync(step);
        group.done();
        return this.end("worked");
      case "meet": {
        if (this.#orders.party < 0) return;
        this.#arrives();
        const passage = await this.call(
          step,
          (signal) =>
            tries
              ? barrier.tryArriveAndWaitAsync({ timeout, signal })
              : barrier.arriveAndWaitAsync({ signal }),
        );
        return this.#met(passage);
      }
      case "once":
        return await this.#runs(step);
      default: {
        const gate = this.#views[what];
        const opened = await this.call(step, async (signal) => {
          if (tries) {
            return await gate.tryWaitAsync({ timeout, signal }) || undefined;
          }
          await gate.waitAsync({ signal });
          return true;
        });
        if (opened) this.#through(what);
      }
    }
  }

  async #takes(step: Step): Promise<void> {
    const { mutex, condition } = this.#views;
    const { tries, timeout } = step;
    using _lock = await mutex.lockAsync();
    while (this.#tokens() === 0) {
      const told = await this.call(step, async (signal) => {
        if (!tries) return (await condition.waitAsync(mutex, { signal }), true);
        const options = { timeout, signal };
        return await condition.tryWaitAsync(mutex, options) || undefined;
      });
      if (!told) break;
    }
    this.#take();
  }

  async #runs(step: Step): Promise<void> {
    const { n, tries, timeout } = step;
    const once = this.#onceOf(step);
    const run = async () => {
      this.#begins(n);
      await this.holdAsync(step);
      this.#ended(n);
    };
    try {
      const done = await this.call(step, async (signal) => {
        if (!tries) return (await once.runAsync(run, { signal }), true);
        return await once.tryRunAsync(run, { timeout, signal }) || undefined;
      });
      if (done) this.#isDone(n);
    } catch (error) {
      this.#failed(error);
    }
  }

  // ---- what the model says --------------------------------------------------

  #reads(n: number): void {
    const { words } = this.#orders;
    Atomics.add(words, READERS, n);
    const writers = Atomics.load(words, WRITERS);
    if (writers !== 0) throw new Error(`a reader beside ${writers} writers`);
  }

  #writes(n: number): void {
    const { words } = this.#orders;
    const before = Atomics.add(words, WRITERS, n);
    const readers = Atomics.load(words, READERS);
    if (before + n > 1 || readers > 0) {
      throw new Error(`a writer beside ${before} writers, ${readers} readers`);
    }
  }

  /** The tokens; the mutex must be held, so they may be read without atomics. */
  #tokens(): number {
    const { owner } = this.#views.mutex;
    if (owner === 0) throw new Error("nobody holds the mutex");
    return this.#orders.words[TOKENS]!;
  }

  #take(): void {
    if (this.#tokens() === 0) return this.end("none");
    this.#orders.words[TOKENS]!--;
    this.end("taken");
  }

  /** Reads on if the step says so; the lock is free after it. */
  #written(guard: RwWriteGuard, { what }: Step): void {
    if (what === "write") {
      guard.unlock();
      return this.end("written");
    }
    const reading = guard.downgrade();
    this.#reads(1);
    this.#reads(-1);
    reading.unlock();
    this.end("downgraded");
  }

  #through(gate: Gate): void {
    const { words } = this.#orders;
    if (gate === "auto") Atomics.add(words, AUTO, 1);
    if (gate === "latch" && Atomics.load(words, LATCHED) === 0) {
      throw new Error("the latch opened too early");
    }
    this.end(`through ${gate}`);
  }

  #arrives(): void {
    const { words, party } = this.#orders;
    Atomics.store(words, PHASES + party, this.#phase + 1);
  }

  #met(passage: Passage | undefined): void {
    const { words, party } = this.#orders;
    if (passage === undefined) {
      Atomics.store(words, PHASES + party, this.#phase);
      return;
    }
    const phase = ++this.#phase;
    if (passage.leader) {
      const before = Atomics.exchange(words, LEADERS, phase);
      if (before >= phase) throw new Error(`two leaders of phase ${phase}`);
    }
    for (let i = PHASES; i < WORDS; i++) {
      const other = Atomics.load(words, i);
      if (other < phase) {
        throw new Error(`phase ${phase} is over, party ${i} in ${other}`);
      }
    }
    this.end("met");
  }

  #onceOf({ n }: Step): Once {
    return this.#views.onces[n]!;
  }

  #begins(i: number): void {
    const { words, failures } = this.#orders;
    const running = Atomics.add(words, RUNNING + i, 1);
    if (running !== 0) throw new Error(`once ${i} runs ${running + 1} times`);
    if (Atomics.add(words, RUNS + i, 1) >= failures) return;
    Atomics.sub(words, RUNNING + i, 1);
    throw new Failure("this run fails");
  }

  #ended(i: number): void {
    Atomics.sub(this.#orders.words, RUNNING + i, 1);
  }

  #failed(error: unknown): void {
    if (!(error instanceof Failure)) throw error;
    this.end("failed");
  }

  #isDone(i: number): void {
    const { words, failures } = this.#orders;
    const runs = Atomics.load(words, RUNS + i);
    if (runs !== failures + 1) throw new Error(`once ${i} ran ${runs} times`);
    if (!this.#views.onces[i]!.done) throw new Error(`once ${i} is not done`);
    this.end("once");
  }
}
