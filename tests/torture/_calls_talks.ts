/**
 * What callers of the storm on calls do with what stays on its side: functions
 * and iterators that are arguments, and iterators, instances and properties of
 * the server. They do so in the main thread, or in one of their own.
 *
 * @module
 */
import {
  type CallRing,
  type Codec,
  codec,
  connect,
  type Handle,
  type Remote,
} from "../../mod.ts";
import {
  type Api,
  ENDED,
  type Fn,
  type Hear,
  MOST,
  OPENED,
  Rows,
} from "./_calls_api.ts";

/** One call, with what follows it. */
export interface Talk {
  readonly kind:
    | "back"
    | "keep"
    | "sum"
    | "rows"
    | "drop"
    | "make"
    | "deep"
    | "join"
    | "tell";
  /** How many times it calls back, or how many rows there are. */
  readonly n: number;
  /** A loop is left, or a function throws, at this row or call. */
  readonly leave: number;
  /** When it is aborted: as in `storm_calls.ts`. */
  readonly abort: number;
  /** The caller goes on after this many ms; -1: at once. */
  readonly then: number;
}

/** What a caller is told. */
export interface TalkOrders {
  readonly ring: Handle<"call_ring">;
  readonly codec: "json" | "structured";
  readonly blocks: boolean;
  readonly timeout: number;
  readonly talks: readonly Talk[];
  /** The number of its first call. */
  readonly at: number;
  /** Whether a server may die. */
  readonly mayDie: boolean;
}

/** Notes a promise of the layer, in the main thread. */
export type Note = <T>(what: string, promise: T) => T;

/** How often something ended in which way. */
export type Ends = Record<string, number>;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** What a function throws, and what leaves a loop. */
class Mine extends Error {}

/** A function that was passed to `keep`. */
interface Kept {
  readonly what: string;
  readonly n: number;
  heard: number;
}

/** A caller. */
export class Talker {
  readonly #orders: TalkOrders;
  readonly #ring: CallRing;
  readonly #remote: Remote<Api>;
  readonly #note: Note;
  readonly #ends: Ends = {};
  readonly #counts = new Int32Array(MOST);
  readonly #kept: Kept[] = [];
  /** The functions, which must be given back. */
  readonly functions: object[] = [];
  /** What is wrong, found where nobody can be told. */
  #wrong: Error | undefined;

  constructor(
    orders: TalkOrders,
    ring: CallRing,
    note: Note = (_, promise) => promise,
  ) {
    this.#orders = orders;
    this.#ring = ring;
    this.#note = note;
    const { blocks, timeout } = orders;
    const options = { codec: codec[orders.codec] as Codec<unknown>, timeout };
    this.#remote = blocks
      ? connect.blocking<Api>(ring, options) as unknown as Remote<Api>
      : connect<Api>(ring, options);
  }

  /** Makes all calls, and waits until they have ended. */
  async run(): Promise<Ends> {
    const { talks, at, blocks } = this.#orders;
    const ends: Promise<void>[] = [];
    for (const [i, talk] of talks.entries()) {
      const end = this.#talk(at + i, talk);
      ends.push(end);
      end.catch(() => {}); // it is told below
      if (blocks) await end;
      if (talk.then >= 0) await pause(talk.then);
    }
    await Promise.all(ends);
    if (this.#wrong !== undefined) throw this.#wrong;
    return this.#ends;
  }

  /** Functions that were not called as often as they shall be. */
  get unheard(): string[] {
    return this.#kept.filter(({ heard, n }) => heard < n).map((kept) =>
      `${kept.what}: the function was called ${kept.heard} of ${kept.n} times`
    );
  }

  /** The iterators that have not ended. */
  get open(): number {
    return this.#counts[OPENED]! - this.#counts[ENDED]!;
  }

  async #talk(at: number, talk: Talk): Promise<void> {
    const { timeout, mayDie, blocks } = this.#orders;
    const what = `call ${at}, ${talk.kind} of ${talk.n}`;
    const reason = new Error(`abort of call ${at}`);
    const control = new AbortController();
    if (talk.abort >= 0 && !blocks) {
      void abortAfter(talk.abort, () => control.abort(reason));
    }
    let end;
    try {
      end = await this.#make(at, what, talk, control.signal);
    } catch (error) {
      const { name, message, stack } = (error ?? {}) as Error;
      if (error === reason) end = "aborted";
      else if (error instanceof Mine || message === "mine") end = "failed";
      else if (name === "TimeoutError" && timeout < Infinity) end = "late";
      else if (name === "CallError" && mayDie) end = "died";
      else if (name === "ClosedError" && this.#ring.closed) end = "closed";
      else throw new Error(`${what}: another error: ${stack ?? error}`);
    }
    this.#ends[`${talk.kind} ${end}`] = (this.#ends[`${talk.kind} ${end}`] ??
      0) + 1;
  }

  /** A function that must be called with 0, 1, and so on, and no more often. */
  #fn(what: string, { n, leave }: Talk, throws: boolean): [Fn, Kept] {
    const { blocks } = this.#orders;
    const kept = { what, n, heard: 0 };
    const fn: Fn = (i) => {
      if (i !== kept.heard++ || i >= n) {
        this.#wrong ??= new Error(`${what}: called back with ${i}`);
      }
      if (throws && i === leave) throw new Mine("mine");
      return blocks || i % 3 === 0 ? 2 * i : pause(i % 3).then(() => 2 * i);
    };
    this.functions.push(fn);
    return [fn, kept];
  }

  async #make(
    at: number,
    what: string,
    talk: Talk,
    signal: AbortSignal,
  ): Promise<string> {
    const { n, kind, leave } = talk;
    const remote = this.#remote;
    const { blocks } = this.#orders;
    const note = <T>(promise: T) => this.#note(what, promise);
    const same = (found: unknown, right: unknown): string => {
      if (found === right) return "done";
      throw new Error(`${what}: another result: ${found}, not ${right}`);
    };
    if (kind === "back") {
      const [fn, kept] = this.#fn(what, talk, true);
      const sum = await note(remote.back(at, n, fn, signal));
      same(kept.heard, n);
      return same(sum, n * (n - 1));
    }
    if (kind === "keep") {
      const [fn, kept] = this.#fn(what, talk, false);
      const result = await note(remote.keep(at, n, fn as Fn & Disposable));
      this.#kept.push(kept);
      return same(result, n);
    }
    if (kind === "join") {
      const hear: Hear = (text) => {
        if (text !== "x".repeat(text.length)) {
          this.#wrong ??= new Error(`${what}: another text: ${text}`);
        }
        const { length } = text;
        return blocks || length % 3 === 0
          ? length
          : pause(length % 3).then(() => length);
      };
      return same(await note(remote.join(at, 3 * n, hear, signal)), 3 * n);
    }
    if (kind === "tell") {
      await note(remote.tell(at, "x".repeat(4 * n * leave), signal));
      return "told";
    }
    if (kind === "sum") {
      const rows = new Rows(n, this.#counts);
      const sum = await note(remote.sum(at, leave, rows, signal));
      let right = 0;
      for (let i = 0; i < n && right <= leave; i++) right += i;
      return same(sum, right);
    }
    if (kind === "rows") {
      let next = 0;
      for await (const row of note(remote.rows(at, n, signal))) {
        same(row, next++);
        if (row === leave && n % 2 === 0) return "left";
        if (row === leave) throw new Mine("mine");
      }
      return same(next, n);
    }
    if (kind === "drop") {
      const rows = await note(remote.rows(at, n, signal));
      const iterator = blocks
        ? (rows as unknown as Iterable<number>)[Symbol.iterator]()
        : rows[Symbol.asyncIterator]();
      if (n > 0) same((await note(iterator.next())).value, 0);
      return "dropped";
    }
    if (kind === "make") {
      const counter = await note(
        new remote.Counter(at, n) as PromiseLike<Made>,
      );
      same(await note(counter.add(1)), n + 1);
      same(await this.#read(counter.count), n + 1);
      if (leave % 2 === 0) counter[Symbol.dispose]?.();
      return "done";
    }
    same(await this.#read(remote.version), "1.2");
    return same(await note(remote.math.deep.double(at, n)), 2 * n);
  }

  /** Reads a property; a caller that blocks does so by a call. */
  async #read(property: unknown): Promise<unknown> {
    if (this.#orders.blocks) return (property as () => unknown)();
    return await (property as PromiseLike<unknown>);
  }
}

/** What stands for an instance. */
type Made = {
  add(n: number): Promise<number>;
  readonly count: PromiseLike<number>;
} & Partial<Disposable>;

/** Aborts after microtasks or, above 5, after as many ms, less 6. */
export async function abortAfter(
  when: number,
  abort: () => void,
): Promise<void> {
  if (when > 5) await pause(when - 6);
  else for (let i = 0; i < when; i++) await undefined;
  abort();
}
