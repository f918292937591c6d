/**
 * Lines of waiters: one line for each address at which this agent awaits.
 *
 * A native wait (`Atomics.waitAsync`) cannot be withdrawn. A native wait that
 * nobody needs any more would take wakes from other agents. So each line has at
 * most one native wait, which stands for the first waiter in line. If the line
 * becomes empty before that wait was woken, this agent wakes it itself. That
 * wakes all agents at that address: the others look again, and sleep on.
 *
 * @module
 */

import { ownOf } from "../_memory/explored.ts";
import { homeOf } from "../_memory/memory.ts";
import { mustPoll, poll } from "./poll.ts";
import { schedule } from "./times.ts";
import type { Line, Waiter, Woken } from "./waiter.ts";

const own = /* @__PURE__ */ ownOf(() => ({
  /** The lines of each memory, by their offset in bytes. */
  places: new WeakMap<SharedArrayBuffer, Map<number, Line>>(),
  /** The lines in `places`; each has a waiter or a native wait. */
  lines: new Set<Line>(),
}));

let served = 0; // waiters resumed, for the pace of polling

/** Puts a waiter in line at the address it sleeps on. */
export function park(waiter: Waiter): void {
  const { words, index, value, turn } = waiter.sleep;
  // If the line has a native wait already, every wake after this look reaches
  // that wait.
  if (!turn && Atomics.load(words, index) !== value) {
    return waiter.resume(waiter, "not-equal");
  }
  const line = waiter.line = lineAt(words, index);
  const { end } = line;
  waiter.before = end.before;
  waiter.behind = end;
  end.before = end.before.behind = waiter;
  // A lock that is taken again, behind a wait, has no priority of its own.
  if (waiter.sleep.patient) line.runs?.enter(waiter, 0);
  schedule(waiter);
  if (!line.serving && !line.armed) serve(line, "not-equal");
}

/** Takes a waiter out of its line, wherever it stands. */
export function leave(waiter: Waiter): void {
  const { line, before, behind } = waiter;
  if (line === undefined) return;
  line.runs?.leave(waiter);
  before.behind = behind;
  behind.before = before;
  waiter.line = undefined;
  if (!isEmpty(line)) return;
  if (line.armed) withdraw(line);
  else forget(line);
}

/** Keeps a waiter in line that sleeps on the same word again. */
export function stay(waiter: Waiter, line: Line): void {
  // The function that serves the line looks at the word.
  if (line.serving) return schedule(waiter);
  const { words, index, value, turn } = waiter.sleep;
  if (!turn && Atomics.load(words, index) !== value) {
    return waiter.resume(waiter, "not-equal");
  }
  schedule(waiter);
  if (!line.armed) serve(line, "not-equal");
}

const addressOf = (words: Int32Array, index: number): number =>
  words.byteOffset + index * 4;

/** The end mark of the line at an address, if there is one. */
export function endAt(
  words: Int32Array<SharedArrayBuffer>,
  index: number,
): Waiter | undefined {
  const there = own.now.places.get(homeOf(words.buffer));
  return there?.get(addressOf(words, index))?.end;
}

function lineAt(words: Int32Array<SharedArrayBuffer>, index: number): Line {
  const { places, lines } = own.now;
  const home = homeOf(words.buffer);
  let there = places.get(home);
  if (there === undefined) places.set(home, there = new Map());
  const address = addressOf(words, index);
  let line = there.get(address);
  if (line === undefined) {
    const end = {} as Waiter;
    line = {
      words,
      index,
      end,
      runs: undefined,
      serving: false,
      armed: false,
      left: false,
    };
    end.before = end.behind = end;
    end.line = line;
    there.set(address, line);
    lines.add(line);
  }
  return line;
}

/** Whether no waiter stands in the line. */
const isEmpty = ({ end }: Line): boolean => end.behind === end;

/** Whether a waiter of this agent stands in line at an address. */
export function isAwaited(
  words: Int32Array<SharedArrayBuffer>,
  index: number,
): boolean {
  if (own.now.lines.size === 0) return false;
  const end = endAt(words, index);
  return end !== undefined && end.behind !== end;
}

function forget(line: Line): void {
  own.now.lines.delete(line);
  own.now.places.get(homeOf(line.words.buffer))!.delete(
    addressOf(line.words, line.index),
  );
}

/**
 * Wakes the first waiter in line, and then the next ones, until the word equals
 * the value that the first in line sleeps on. Then it arms a native wait for
 * that waiter. One wake of the agent may be meant for several of its waiters;
 * only a look at the word tells, because every wake changes the word. With
 * `anyway`, the first waiter is woken even if the word did not change.
 */
function serve(line: Line, woken: Woken, anyway = woken === "ok"): void {
  line.serving = true;
  const { end } = line;
  for (let waiter = end.behind; waiter !== end;) {
    const { before, behind } = waiter;
    // A waiter that sleeps here again stays in line. Check whether its value
    // still matches.
    while (waiter.line === line && (anyway || !sleeps(line, waiter))) {
      served++;
      waiter.resume(waiter, woken);
      woken = "not-equal";
      anyway = false;
    }
    if (waiter.line === line && !waiter.sleep.all) break;
    // Others may have come while the last one was resumed, which has left.
    const last = end.before;
    const came = waiter.line !== line && last !== before && last !== waiter;
    const goesOn = behind.line === line && !(came && behind === end);
    waiter = goesOn ? behind : end.behind;
  }
  line.serving = false;
}

/**
 * Whether a waiter's word still has its value, so that a wake will come; or its
 * turn has not.
 */
function sleeps(line: Line, waiter: Waiter): boolean {
  const { words, index, armed } = line;
  const { value, turn } = waiter.sleep;
  if (turn) return line.end.behind !== waiter;
  if (Atomics.load(words, index) !== value) return false;
  if (armed) return true;
  if (mustPoll()) {
    poll(pollLines);
    return true;
  }
  const wait = Atomics.waitAsync(words, index, value);
  if (!wait.async) return false;
  line.armed = true;
  wait.value.then(() => woke(line));
  return true;
}

/** What tells whether a page was closed, or a frame was removed. */
type Page = { readonly closed: unknown; readonly document: unknown };

/** Called when a line's native wait has ended. */
function woke(line: Line): void {
  const { left } = line;
  line.armed = line.left = false;
  // In Chromium, a frame that was removed from its page still hears wakes. It
  // must take nothing, and those who live look again.
  const { closed, document } = globalThis as Partial<Page>;
  if (closed === true && document !== undefined) {
    Atomics.notify(line.words, line.index);
  } else if (isEmpty(line)) forget(line);
  else serve(line, left ? "not-equal" : "ok");
}

/**
 * Ends a line's native wait by waking every agent that waits at its address,
 * because a wake cannot be sent to one particular agent. If the native wait had
 * used up a wake before, that wake reaches the others, too.
 */
function withdraw(line: Line): void {
  if (!line.armed || line.left) return;
  line.left = true;
  Atomics.notify(line.words, line.index);
}

/**
 * Ends all native waits before this agent blocks. While it is blocked it could
 * not answer their wakes, and these would be lost for that time. The lines arm
 * new native waits afterwards.
 */
export function withdrawAll(): void {
  for (const line of own.now.lines) withdraw(line);
}

/**
 * Serves each line. With `anyway`, the first waiter of each line looks even if
 * its word did not change. Returns false if no operation waits.
 */
export function look(anyway: boolean): boolean {
  let waits = false;
  for (const line of own.now.lines) {
    if (isEmpty(line)) continue;
    waits = true;
    serve(line, anyway ? "looked" : "not-equal", anyway);
  }
  return waits;
}

/** The words at which operations of this agent await. */
export function awaited(): [
  words: Int32Array<SharedArrayBuffer>,
  index: number,
][] {
  return [...own.now.lines].filter((line) => !isEmpty(line))
    .map(({ words, index }) => [words, index]);
}

function pollLines(): number | undefined {
  const before = served;
  return look(false) ? served - before : undefined;
}
