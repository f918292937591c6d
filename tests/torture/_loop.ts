/**
 * A loop of a storm: steps that an agent takes one after the other, in a thread
 * of its own, where it may block, or as one of several loops of a thread, where
 * it awaits.
 *
 * @module
 */
/** When a step is taken, whatever it does. */
export interface Timed {
  readonly what: string;
  /** How many begin at a time, in a loop that awaits. */
  readonly count: number;
  /**
   * When each call is aborted: in microtasks, or from 6 on in ms; -1: never.
   */
  readonly abort: number;
  /** How long something is held, in ms; -1: two microtasks, or not at all. */
  readonly hold: number;
  /** Whether it waits for what it began before the next step. */
  readonly waits: boolean;
}

/** Notes a promise, in the main thread; what it returns has been noted. */
export type Note = <T>(what: string, promise: Promise<T>) => Promise<T>;

/** How often something ended in which way. */
export type Ends = Record<string, number>;

/** Makes calls, some of which are aborted, and counts how they have ended. */
export class Caller {
  /** How many calls have ended in which way. */
  protected readonly ends: Ends = {};
  protected readonly blocks: boolean;
  protected readonly note: Note;

  constructor(
    { blocks }: { readonly blocks: boolean },
    note: Note = (_, promise) => promise,
  ) {
    this.blocks = blocks;
    this.note = note;
  }

  /** Counts a call that has ended. */
  protected end(name: string): void {
    this.ends[name] = (this.ends[name] ?? 0) + 1;
  }

  protected async pause(ms: number): Promise<void> {
    if (this.blocks) Atomics.wait(NEVER, 0, 0, ms);
    else await new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Awaits one call, which is aborted as {@linkcode Timed} says of `abort`. */
  protected async abortable<T>(
    what: string,
    abort: number,
    wait: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | "aborted"> {
    const reason = new Error(`abort of ${what}`);
    const control = new AbortController();
    try {
      const promise = wait(control.signal);
      if (abort >= 0) void abortAfter(abort, () => control.abort(reason));
      return await this.note(what, promise);
    } catch (error) {
      if (error !== reason) throw error;
      this.end("aborted");
      return "aborted";
    }
  }
}

/** Takes steps, and counts how each call has ended. */
export abstract class StormLoop<Step extends Timed> extends Caller {
  readonly #steps: readonly Step[];

  constructor(
    orders: { readonly steps: readonly Step[]; readonly blocks: boolean },
    note?: Note,
  ) {
    super(orders, note);
    this.#steps = orders.steps;
  }

  /** Takes a step in a loop that blocks. */
  protected abstract block(step: Step): void;

  /** Takes a step in a loop that awaits. */
  protected abstract wait(step: Step): Promise<void>;

  /** Whether a loop that awaits ends this step before it takes the next. */
  protected isAlone(_step: Step): boolean {
    return false;
  }

  /** Takes all steps. */
  async run(): Promise<Ends> {
    const begun: Promise<void>[] = [];
    for (const step of this.#steps) {
      if (this.blocks) this.block(step);
      else if (this.isAlone(step)) await this.wait(step);
      else {
        for (let i = 0; i < step.count; i++) begun.push(this.wait(step));
      }
      if (step.waits) await Promise.all(begun.splice(0));
    }
    await Promise.all(begun);
    return this.ends;
  }

  /** Awaits one call; undefined if it was aborted, or had not enough time. */
  protected async call<T>(
    { what, abort }: Timed,
    wait: (signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const value = await this.abortable(what, abort, wait);
    if (value === undefined) this.end("late");
    return value === "aborted" ? undefined : value;
  }

  /** Holds something, in a loop that awaits. */
  protected async holdAsync({ hold }: Timed): Promise<void> {
    if (hold < 0) { for (let i = 0; i < 2; i++) await undefined; }
    else await new Promise((resolve) => setTimeout(resolve, hold));
  }

  /** Holds something, in a loop that blocks. */
  protected hold({ hold }: Timed): void {
    if (hold >= 0) Atomics.wait(NEVER, 0, 0, hold);
  }
}

const NEVER = new Int32Array(new SharedArrayBuffer(4));

async function abortAfter(when: number, abort: () => void): Promise<void> {
  if (when > 5) await new Promise((done) => setTimeout(done, when - 6));
  else for (let i = 0; i < when; i++) await undefined;
  abort();
}
