/**
 * Helpers of the primitives' tests: they play other agents in this one, check
 * that memory did not change, and run one operation in the middle of another.
 *
 * @module
 */

import * as assert from "uvu/assert";
import { agentId, setAgentId } from "../../mod.ts";
import { IN_WEBKIT } from "./harness.ts";

/** The words of a primitive. */
export function wordsOf(
  { buffer, byteOffset, byteLength }: {
    buffer: SharedArrayBuffer;
    byteOffset: number;
    byteLength: number;
  },
): Int32Array<SharedArrayBuffer> {
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

/**
 * Makes a view as agent `id` would. A view keeps the id under which it was
 * made.
 */
export function asAgent<T>(id: number, make: () => T): T {
  const own = agentId();
  setAgentId(id);
  try {
    return make();
  } finally {
    setAgentId(own);
  }
}

/** What is spoken with a vowel first. */
const VOWELS = ["event", "mpmc_queue", "rw_lock", "spsc_queue"];

/** The name of a kind with its article. */
export const aKind = (kind: string): string =>
  `${VOWELS.includes(kind) ? "an" : "a"} ${kind}`;

/** The bytes of `buffer` now. */
export function bytesOf(buffer: ArrayBufferLike): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer).slice();
}

/**
 * Asserts that `wrong` throws an error of this type whose message contains
 * each of `parts`, and that `buffer` is byte for byte what it was.
 */
export function refuses(
  buffer: ArrayBufferLike,
  wrong: () => unknown,
  type: new (message: string) => Error,
  ...parts: string[]
): void {
  const before = bytesOf(buffer);
  try {
    wrong();
  } catch (error) {
    assertError(error, type, parts);
    assertSame(buffer, before);
    return;
  }
  assert.unreachable(`nothing was thrown, wanted a ${type.name}`);
}

/** As {@linkcode refuses}, for an operation that rejects. */
export async function rejects(
  buffer: ArrayBufferLike,
  wrong: Promise<unknown>,
  type: new (message: string) => Error,
  ...parts: string[]
): Promise<void> {
  const before = bytesOf(buffer);
  const error = await wrong.then(() => undefined, (error) => error);
  assertError(error, type, parts);
  assertSame(buffer, before);
}

function assertSame(buffer: ArrayBufferLike, before: Uint8Array): void {
  const changed = bytesOf(buffer).findIndex((byte, i) => byte !== before[i]);
  assert.is(changed, -1, `byte ${changed} of the memory changed`);
}

function assertError(
  error: unknown,
  type: new (message: string) => Error,
  parts: string[],
): void {
  assert.instance(error, type, `a ${type.name} was wanted, not: ${error}`);
  const { message } = error as Error;
  for (const part of parts) {
    assert.ok(message.includes(part), `"${message}" lacks "${part}"`);
  }
}

/** Passes `ms` of time. */
export function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How many ms a turn lasts: WebKit brings wakes later than others. */
const TURN = IN_WEBKIT ? 10 : 0;

/** Passes enough turns of the event loop for every wake to arrive. */
export async function turns(count = 3): Promise<void> {
  for (; count > 0; count--) await passed(TURN);
}

/**
 * Whether each interval that `begin` sets keeps the process alive. It returns
 * the function that ends what it began.
 */
export function intervalsOf(begin: () => () => void): boolean[] {
  const { setInterval } = globalThis;
  const timers: { hasRef?(): boolean }[] = [];
  const noted = (...args: Parameters<typeof setInterval>) => {
    const timer = setInterval(...args);
    timers.push(timer as { hasRef?(): boolean });
    return timer;
  };
  globalThis.setInterval = noted as typeof setInterval;
  try {
    const end = begin();
    const kept = timers.map((timer) => timer.hasRef?.() ?? false); // pages: no
    end();
    return kept;
  } finally {
    globalThis.setInterval = setInterval;
  }
}

/** Passes turns until `done`, or for a second: pages take long for a wake. */
export async function until(done: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !done(); i++) await passed(5);
}

/** The result of `promise`, or `"pending"` if it has none after some turns. */
export function nowOf<T>(promise: Promise<T>): Promise<T | "pending"> {
  return Promise.race([promise, turns().then(() => "pending" as const)]);
}

/**
 * Whether a wake ended the sleeps, and not the look that each sleeper takes
 * after a second: `run` sleeps, wakes, and returns the ms that this took. A
 * lost wake makes each of five runs slow, and a busy machine only some.
 */
export async function isWoken(run: () => Promise<number>): Promise<boolean> {
  for (let i = 0; i < 5; i++) if (await run() < 700) return true;
  return false;
}

/**
 * Whether `promise` ends within `ms`, as this machine counts them now: timers
 * of 10 ms, one after the other, which a busy machine makes late as well.
 */
export async function endsWithin(
  ms: number,
  promise: Promise<unknown>,
): Promise<boolean> {
  let ended = false;
  const ends = promise.then(() => true).finally(() => ended = true);
  const late = async () => {
    for (let left = ms; left > 0 && !ended; left -= 10) await passed(10);
    return false;
  };
  return await Promise.race([ends, late()]);
}

const STEPS = [
  "add",
  "and",
  "compareExchange",
  "exchange",
  "load",
  "notify",
  "or",
  "store",
  "sub",
] as const;

/**
 * Runs `operation`, and all of `intruder` before the operation's atomic step
 * number `at`, as another agent would. Returns how many steps `operation` took;
 * if that is not more than `at`, the intruder did not run.
 */
export function preempted(
  operation: () => void,
  at: number,
  intruder: () => void,
): number {
  const atomics = Atomics as unknown as Record<string, (...a: never[]) => void>;
  const originals = {
    ...Object.fromEntries(STEPS.map((s) => [s, atomics[s]])),
  };
  let steps = 0;
  let within = false;
  for (const step of STEPS) {
    const original = originals[step]!;
    atomics[step] = (...args: never[]) => {
      if (!within && steps++ === at) {
        within = true;
        try {
          intruder();
        } finally {
          within = false;
        }
      }
      return original.apply(Atomics, args);
    };
  }
  try {
    operation();
  } finally {
    for (const step of STEPS) atomics[step] = originals[step]!;
  }
  return steps;
}

/**
 * Runs `operation` until before its atomic step number `at`, where its agent is
 * terminated. Returns whether the operation ended before that.
 */
export function endsBefore(at: number, operation: () => void): boolean {
  const dead = {};
  try {
    return preempted(operation, at, () => {
      throw dead;
    }) <= at;
  } catch (error) {
    if (error === dead) return false;
    throw error;
  }
}

/**
 * Runs a scenario again and again, with the intruder before the first atomic
 * step of the operation, before the second, and so on. `make` builds the
 * scenario anew each time, and `check` checks its end.
 */
export function preemptedAnywhere<S>(
  make: () => S,
  operation: (scenario: S) => void,
  intruder: (scenario: S) => void,
  check: (scenario: S, at: number) => void,
): void {
  for (let at = 0;; at++) {
    const scenario = make();
    const steps = preempted(
      () => operation(scenario),
      at,
      () => intruder(scenario),
    );
    if (at >= steps) {
      // The last of them: the intruder comes after the operation.
      intruder(scenario);
      return check(scenario, at);
    }
    check(scenario, at);
  }
}

/** Start values near which a 32-bit counter wraps, as signed words. */
export const NEAR_WRAP = [0x7fff_ffff, 0xffff_ffff].map((n) => n | 0);
