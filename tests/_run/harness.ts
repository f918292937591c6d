/**
 * uvu with a time limit for each test, honest counts and no `run()` to forget.
 *
 * A test that never ran, a hook that threw, a string that was thrown and a file
 * without tests all count as failures. `run.ts` runs every file in a process of
 * its own; a file also runs alone, by `deno run -A tests/mutex/unit.ts`.
 *
 * @module
 */

import { whySkipped } from "./missing.ts";

/** A test or a hook; it fails by throwing, rejecting or taking too long. */
export type Body = () => unknown | Promise<unknown>;

/** Declares tests, in the order they run in. */
export interface Test {
  /** Declares a test that may take `limit` milliseconds. */
  (name: string, body: Body, limit?: number): void;
  /** Runs `hook` before the first test of the suite. */
  before(hook: Body): void;
  /** Runs `hook` before each test of the suite. */
  beforeEach(hook: Body): void;
  /** Runs `hook` after the last test of the suite. */
  after(hook: Body): void;
  /** Runs `hook` after each test of the suite. */
  afterEach(hook: Body): void;
}

/**
 * The events in a file, in their order; `at` is the time in ms, and `used` the
 * processor time in seconds.
 */
export type Note =
  | { begun: string; at: number }
  | { declared: number }
  | { started: string }
  | { passed: string }
  | { cut: string }
  | { skipped: string; why: string }
  | { finished: Counts; at: number }
  | { used: number };

/** The result of a file. */
export interface Counts {
  passed: number;
  failed: number;
  /** Tests that this machine, or this user, cannot run. */
  skipped: number;
}

/** Thrown by {@linkcode skip}. */
class Skipped extends Error {}

/** Why a test that `error` ends is skipped; undefined if it has failed. */
const reasonOf = (error: unknown): string | undefined =>
  error instanceof Skipped ? error.message : whySkipped(error);

/** Ends the test that calls it and counts it as skipped, for this reason. */
export function skip(why: string): never {
  throw new Skipped(why);
}

/** Says that `--all` explores more of this scenario than its test did. */
export function cut(name: string): void {
  state.note?.({ cut: name });
}

/** Whether the agent is one of WebKit. */
export const IN_WEBKIT: boolean = /AppleWebKit(?!.*Chrom)/.test(
  globalThis.navigator?.userAgent ?? "",
);

/** As `structuredClone`; skips the test where that copies shared memory. */
export function cloned<T>(value: T): T {
  if (IN_WEBKIT) skip("WebKit's structuredClone copies shared memory");
  return structuredClone(value);
}

interface State {
  /** Starts each suite of the file. */
  suites: (() => void)[];
  declared: number;
  passed: number;
  skipped: number;
  /** Failures that no test stands for. */
  problems: number;
  /** Set if `child.ts` runs the file; otherwise the file runs itself. */
  note?: (note: Note) => void;
}

// Global, as a bundle for Node holds a copy of this module in every file.
const globals = globalThis as unknown as {
  weftTests?: State;
  UVU_DEFER: number;
  UVU_INDEX: number;
  UVU_QUEUE: (null | (() => unknown))[][];
};
const fresh: State = {
  suites: [],
  declared: 0,
  passed: 0,
  skipped: 0,
  problems: 0,
};
const state = globals.weftTests ??= fresh;

globals.UVU_DEFER = 1; // read when uvu loads: collect tests, do not start them
const uvu = await import("uvu");

/** Only a hanging test takes this long: the machine may be busy. */
const LIMIT = 300_000;

/** Opens a suite; its tests may take `limit` ms each unless they say more. */
export function suite(title: string, limit: number = LIMIT): Test {
  if (state === fresh && state.suites.length === 0 && !state.note) runAlone();
  const inner = uvu.suite(title);
  state.suites.push(() => inner.run());
  /** Why none of its tests can run: what its `before` needs is not here. */
  let lacks: string | undefined;

  const test = (name: string, body: Body, ownLimit = limit) => {
    state.declared++;
    inner(name, async () => {
      state.note?.({ started: `${title}: ${name}` });
      try {
        if (lacks === undefined) await within(ownLimit, body);
        else skip(lacks);
      } catch (error) {
        const why = reasonOf(error);
        if (why === undefined) throw error;
        state.skipped++;
        state.note?.({ skipped: `${title}: ${name}`, why });
        if (!state.note) console.log(`\nskipped: ${why}: ${name}`);
        return;
      }
      state.passed++;
      state.note?.({ passed: `${title}: ${name}` });
    });
  };
  const failing = (name: string, hook: Body) => async () => {
    state.note?.({ started: `${title}: ${name}` });
    try {
      await within(limit, hook);
    } catch (error) {
      lacks = name === "before" ? reasonOf(error) : undefined;
      if (lacks !== undefined) return;
      // uvu loses an error of `before`, and stops at an error of `after`.
      console.error(`\n  ${title}: ${name} failed:`, error);
      state.problems++;
      if (name === "before") throw error;
    }
  };
  return Object.assign(test, {
    before: (hook: Body) => inner.before(failing("before", hook)),
    beforeEach: (hook: Body) => inner.before.each(() => within(limit, hook)),
    after: (hook: Body) => inner.after(failing("after", hook)),
    afterEach: (hook: Body) => inner.after.each(failing("afterEach", hook)),
  });
}

async function within(limit: number, body: Body): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`no end within ${limit} ms`);
    timer = setTimeout(() => reject(error), limit);
  });
  try {
    await Promise.race([body(), late]);
  } catch (error) {
    // uvu fails itself at anything that is not an Error.
    throw error instanceof Error ? error : new Error(`threw ${String(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs every suite declared since the last call. */
export async function runAll(): Promise<Counts> {
  state.note?.({ declared: state.declared });
  globals.UVU_INDEX = globals.UVU_QUEUE.push([null]) - 1;
  for (const start of state.suites) start();
  try {
    await uvu.exec();
  } catch (error) {
    console.error(error);
    state.problems++;
  }
  const { declared, passed, skipped, problems } = state;
  state.suites = [];
  state.declared =
    state.passed =
    state.skipped =
    state.problems =
      0;
  if (declared === 0) console.error("no tests in this file");
  const failed = declared - passed - skipped + problems ||
    (declared === 0 ? 1 : 0);
  state.note?.({ finished: { passed, failed, skipped }, at: Date.now() });
  return { passed, failed, skipped };
}

/** `N passed, N failed`, and the number of skipped tests if there are any. */
export function summaryOf({ passed, failed, skipped }: Counts): string {
  const more = skipped === 0 ? "" : `, ${skipped} skipped`;
  return `${passed} passed, ${failed} failed${more}`;
}

/** Sends the notes to `note`; the caller must run the tests. */
export function runFor(note: (note: Note) => void): void {
  state.note = note;
}

function runAlone() {
  setTimeout(async () => {
    const { default: process } = await import("node:process");
    const { pathToFileURL } = await import("node:url");
    const main = pathToFileURL(process.argv[1]!).href;
    await import(main); // loaded, but waits until it has declared all
    const counts = await runAll();
    console.log(summaryOf(counts));
    process.exit(counts.failed === 0 ? 0 : 1);
  });
}
