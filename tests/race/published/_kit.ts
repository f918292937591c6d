/**
 * What the specifications of published packages are made of. A specification
 * names a package, a version, and the checks; nothing of the package itself is
 * in this repository. `deno task race:published` installs the packages and runs
 * the checks.
 *
 * @module
 */
import { type FailureKind, RaceError, type Result } from "../../../race/mod.ts";

// deno-lint-ignore no-explicit-any
export type Any = any;

/** How a module of a package is loaded. */
export interface Opening {
  /** Stand-ins for modules that it imports, by name. */
  readonly modules?: Readonly<Record<string, Any>>;
  /** Stand-ins for globals, by name. */
  readonly globals?: Readonly<Record<string, Any>>;
  /** Words of the module's text and what stands in for them. */
  readonly replace?: readonly (readonly [from: string, to: string])[];
  /** Names that the module keeps to itself and that a check needs. */
  readonly expose?: readonly string[];
}

/** Loads modules of the package, by their path in the package. */
export interface Open {
  (path: string, opening?: Opening): Promise<Any>;
  /**
   * Returns a function that runs the module anew, for an agent whose module has
   * state of its own.
   */
  anew(path: string, opening?: Opening): Promise<() => Any>;
}

/** How much a finding matters, or why it is none. */
export type Standing = {
  /** "high", "medium" or "low", and what it comes to. */
  readonly severity: string;
  /** What the package, or a standard, says that does not hold. */
  readonly contract: string;
  /** How users of the package come to it. */
  readonly reach: string;
} | {
  /** Why it is no finding, though the tester tells it. */
  readonly none: string;
};

/** What a maintainer would want to know of a finding. */
export interface Finding {
  /** The file and the function. */
  readonly where: string;
  /** What goes wrong, and when. */
  readonly what: string;
  /** One way to mend it. */
  readonly mend: string;
  readonly standing: Standing;
}

/** The same on threads: round after round, until one goes wrong. */
export interface Threads {
  /** The module that each thread loads. */
  readonly path: string;
  readonly opening?: Opening;
  /** Makes the memory of a round. */
  readonly memory: () => SharedArrayBuffer;
  /**
   * What each thread does in a round. The function's text is sent to the
   * thread, so that it must not use names from outside.
   */
  readonly roles: readonly ((code: Any, memory: SharedArrayBuffer) => void)[];
  /** The roles that must end; all by default. */
  readonly must?: readonly number[];
  /** Rounds at most. */
  readonly rounds: number;
  /** What is wrong with the memory after a round, if anything. */
  readonly wrong?: (memory: SharedArrayBuffer) => string | undefined;
}

/** One question to the tester. */
export interface Check {
  /** What is checked, in a few words. */
  readonly title: string;
  /** The kind of the failure, or "complete" if the package is right. */
  readonly verdict: FailureKind | "complete";
  /** What the agents do. */
  readonly program: string;
  explore(open: Open): Result | Promise<Result>;
  readonly finding?: Finding;
  readonly threads?: Threads;
  /**
   * A module that repeats the finding with the package as it is. It is run by
   * Deno, can import the package by name, and prints what it saw.
   */
  readonly script?: string;
}

/** A package, and what is asked about it. */
export interface Published {
  readonly name: string;
  readonly version: string;
  /**
   * A file of `models/`, if the registry does not have the package: it does to
   * shared memory what the package does, in words of our own.
   */
  readonly model?: string;
  /** What is left out, or stood in for. */
  readonly note?: string;
  readonly checks: readonly Check[];
}

/** The result of agents in free form: a failure is a result, too. */
export async function outcome(
  agents: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await agents();
  } catch (error) {
    if (error instanceof RaceError) return error.result;
    throw error;
  }
}

/** A place in a buffer, for code that takes whole buffers only. */
export class Place {
  /** The bytes of `memory` from `at`. */
  constructor(readonly memory: SharedArrayBuffer, readonly at: number) {}
}

/** Stands in for `Int32Array`: it takes a {@linkcode Place}, too. */
export const Int32ArrayAtPlace: Any = new Proxy(Int32Array, {
  // The tester replaces the global constructor while it explores.
  construct: (_, [from, ...rest]) =>
    from instanceof Place
      ? new globalThis.Int32Array(from.memory, from.at)
      : Reflect.construct(globalThis.Int32Array, [from, ...rest]),
});

/** The words of a mailbox. */
const SENT = 0, FIRST = 1;

/**
 * Messages from one agent to another, for code that posts messages between
 * threads. Numbers stand for the messages. Each is a step of the scheduler, as
 * everything that agents do to shared memory.
 */
export class Mail {
  readonly #words: Int32Array;
  #received = 0;

  /** Bytes of a mailbox for `messages` messages. */
  static bytes(messages: number): number {
    return (FIRST + messages) * 4;
  }

  /** A mailbox at `at`. */
  constructor(memory: SharedArrayBuffer, at: number) {
    this.#words = new Int32Array(memory, at);
  }

  /** Sends a message. */
  send(message: number): void {
    const sent = Atomics.load(this.#words, SENT);
    Atomics.store(this.#words, FIRST + sent, message);
    Atomics.store(this.#words, SENT, sent + 1);
    Atomics.notify(this.#words, SENT);
  }

  /** The next message, or `undefined` if there is none. */
  poll(): number | undefined {
    if (Atomics.load(this.#words, SENT) === this.#received) return undefined;
    return Atomics.load(this.#words, FIRST + this.#received++);
  }

  /** The next message. It waits as an event loop waits: outside the package. */
  take(): number {
    while (Atomics.load(this.#words, SENT) === this.#received) {
      Atomics.wait(this.#words, SENT, this.#received);
    }
    return Atomics.load(this.#words, FIRST + this.#received++);
  }
}
