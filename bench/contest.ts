/**
 * Compares implementations fairly on a machine that others use, too. The
 * implementations take turns (A B A B ...). A turn during which other processes
 * were busy is repeated, and the median counts.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { cpus } from "node:os";
import process from "node:process";
import { ensureNavigator } from "./_navigator.ts";
import { hello, spawn, type Thread } from "../tests/_run/workers.ts";

/**
 * The figures of one turn, by name. `ns` is the time of one operation.
 * `disturbed` is the share of the turn for which threads waited for a core, if
 * that is known better than from the machine's load.
 */
export type Measured = Record<string, number>;

/** An implementation that takes turns with others. */
export interface Contestant {
  readonly name: string;
  /** One turn. */
  turn(): Promise<Measured>;
  /** Whether its turns find quiet moments by themselves. */
  readonly looksForQuiet?: boolean;
  /** Ends its threads. */
  stop?(): void;
}

/** The medians over all turns of one contestant, and how many were quiet. */
export interface Summary {
  readonly medians: Measured;
  readonly turns: number;
  readonly quiet: number;
  /** The turns that count, by the number of their round. */
  readonly rounds: ReadonlyMap<number, Measured>;
}

/** A turn counts if other processes took no larger share of it than this. */
const DISTURBED = 0.05;
/** The same, if only the load of all other processes is known. */
const FOREIGN = 0.15;

/** How many ms a contest may go on because quiet turns are missing. */
const PATIENCE = 1000 * Number(process.env.BENCH_PATIENCE ?? 40);

/** A turn, and how much it was disturbed: beyond 1 it does not count. */
interface Taken {
  readonly round: number;
  readonly noise: number;
  readonly it: Measured;
}

/** Lets each contestant take `turns` turns, after one that does not count. */
export async function contest<Name extends string>(
  contestants: readonly (Contestant & { readonly name: Name })[],
  turns = 5,
): Promise<Record<Name, Summary>> {
  const all = contestants.map(() => [] as Taken[]);
  const quiet = (k: number) => all[k]!.filter(({ noise }) => noise <= 1);
  for (const contestant of contestants) await contestant.turn();
  const begin = performance.now();
  for (let round = 0;; round++) {
    const wanting = contestants.filter((_, k) => quiet(k).length < turns);
    if (round >= turns && wanting.length === 0) break;
    if (round >= turns && performance.now() - begin > PATIENCE) break;
    // All take their turns again, so that their turns lie at the same times.
    for (const [k, contestant] of contestants.entries()) {
      const before = contestant.looksForQuiet
        ? busy()
        : await calm(begin + PATIENCE);
      const it = await contestant.turn();
      const noise = it.disturbed === undefined
        ? foreign(before, busy()) / FOREIGN
        : it.disturbed / DISTURBED;
      all[k]!.push({ round, noise, it });
    }
    progress(round + 1, turns, contestants.map(({ name }) => name));
  }
  for (const contestant of contestants) contestant.stop?.();
  const summaries = contestants.map(({ name }, k) => {
    // On a machine that is never quiet, the quietest turns are used.
    const kept = quiet(k).length >= 3
      ? quiet(k)
      : all[k]!.sort((a, b) => a.noise - b.noise).slice(0, 3);
    const medians = middle(kept.map(({ it }) => it));
    const calm = quiet(k).length;
    const rounds: ReadonlyMap<number, Measured> = new Map(
      kept.map(({ round, it }) => [round, it]),
    );
    const summary = { medians, turns: kept.length, quiet: calm, rounds };
    return [name, summary] as const;
  });
  return Object.fromEntries(summaries) as Record<Name, Summary>;
}

/** Shows on a terminal how far a contest is. */
function progress(round: number, turns: number, names: readonly string[]) {
  if (!process.stderr.isTTY) return;
  const text = `      round ${round} of ${turns}: ${names.join(", ")}`;
  process.stderr.write(`\r${text.slice(0, 78)}\x1b[K`);
  if (round >= turns) process.stderr.write("\r\x1b[K");
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2
    ? sorted[half]!
    : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Processor time in ticks of 10 ms: of the whole machine, and our own. */
interface Busy {
  readonly all: number;
  readonly own: number;
  readonly at: number;
}

function busy(): Busy {
  try {
    const cpu = fs.readFileSync("/proc/stat", "utf8").split("\n", 1)[0]!
      .trim().split(/ +/).slice(1).map(Number);
    const [user, nice, system, , , irq, soft, steal] = cpu;
    const all = user! + nice! + system! + irq! + soft! + steal!;
    return { all, own: ownTicks("self"), at: performance.now() };
  } catch {
    return { all: 0, own: 0, at: performance.now() }; // not Linux: no gate
  }
}

/** Ticks that a process and its ended children used. */
function ownTicks(pid: number | "self"): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}

/**
 * Waits for a moment in which other processes do little, but not beyond `end`.
 */
async function calm(end: number): Promise<Busy> {
  for (let before = busy();;) {
    if (performance.now() > end) return before;
    await new Promise((resolve) => setTimeout(resolve, 50));
    const after = busy();
    if (foreign(before, after) <= FOREIGN) return after;
    before = after;
  }
}

/** The share of a core that others used between two looks. */
function foreign(from: Busy, to: Busy): number {
  const ticks = to.all - from.all - (to.own - from.own);
  // Both counters move in ticks, and each is a little late.
  return Math.max(ticks - 1, 0) * 10 / Math.max(to.at - from.at, 1);
}

// ---- one thread -------------------------------------------------------------

/** Operations in a lap of {@linkcode timed}, and laps in its turn. */
const TIMED = 20_000;
const TIMED_LAPS = 15;

/** A contestant that does `n` operations in this thread, again and again. */
export function timed<Name extends string>(
  name: Name,
  run: (n: number) => void,
): Contestant & { readonly name: Name } {
  const lap = () => {
    const begin = performance.now();
    run(TIMED);
    return (performance.now() - begin) * 1e6 / TIMED;
  };
  const turn = () => {
    const ns = median(Array.from({ length: TIMED_LAPS }, lap));
    return Promise.resolve({ ns });
  };
  return { name, turn };
}

// ---- threads ----------------------------------------------------------------

/** One thread of a contestant: runs a function that a module makes. */
export interface Role {
  /**
   * The name of the module's export. It takes `data` and returns the function.
   */
  readonly make: string;
  readonly data?: unknown;
  /** Objects in `data` that are transferred. */
  readonly ports?: MessagePort[];
}

/** The argument of a role's function in each turn. */
export interface Turn {
  /** Not 0 once the turn is over, for turns that last a given time. */
  readonly words: Int32Array;
}

/** Does a turn's work in one thread; returns how many operations it did. */
export type Run = (turn: Turn) => Did | Promise<Did>;

/** Operations done, and other figures. */
export interface Did extends Measured {
  ops: number;
}

/**
 * Indices in {@linkcode Turn.words}: whether the turn is over, and how many
 * threads have arrived.
 */
export const OVER = 0;
const ARRIVED = 32;
/** How many laps the turn will have. */
const LAST = 33;

interface Report {
  begin: number;
  end: number;
  /** ms of processor time, and spent waiting for a processor. */
  cpu: number | undefined;
  delay: number | undefined;
  did: Did;
}

/**
 * A contestant whose threads run roles of `module`. A turn consists of many
 * short laps, or of one lap of `ms`. All threads begin a lap together. Even on
 * a busy machine, some laps of a millisecond are undisturbed. The `ns` of a lap
 * is its time divided by the operations of the roles that do any; `share`
 * compares the busiest with the idlest of them.
 */
export async function threads<Name extends string>(
  name: Name,
  module: URL,
  roles: readonly Role[],
  { ms, laps, byTurns = false, check }: {
    ms?: number;
    /** How many laps a turn has; by default one of `ms`, or many. */
    laps?: number;
    /** The threads wait for each other, on one core if the system likes. */
    byTurns?: boolean;
    /** Throws if the laps of a turn went wrong. */
    check?: (did: readonly Did[]) => void;
  } = {},
): Promise<Contestant & { readonly name: Name }> {
  const count = roles.length;
  const words = new Int32Array(new SharedArrayBuffer(256));
  const url = new URL("./_thread.ts", import.meta.url);
  const started: Thread[] = [];
  for (const [index, { make, data, ports }] of roles.entries()) {
    const role = { make, data };
    const order = { module: module.href, role, words, index, count };
    started.push(await spawn(url, order, ports));
  }
  for (const thread of started) await thread.next();
  const last = laps ?? (ms === undefined && count > 1 ? LAPS : 1);
  const turn = async () => {
    Atomics.store(words, ARRIVED, 0);
    Atomics.store(words, LAST, last);
    for (const thread of started) thread.post("go");
    if (ms !== undefined) {
      setTimeout(() => Atomics.store(words, OVER, 1), ms);
    }
    const all: Report[][] = [];
    for (const thread of started) all.push(await thread.next<Report[]>());
    check?.(all.flat().map(({ did }) => did));
    const measured = all[0]!.map((_, lap) =>
      measure(all.map((reports) => reports[lap]!))
    );
    if (byTurns) measured.forEach((lap) => delete lap.disturbed);
    const noise = (lap: Measured) => lap.disturbed ?? 0;
    const least = Math.min(...measured.map(noise));
    const limit = Math.max(least, DISTURBED);
    return middle(measured.filter((lap) => noise(lap) <= limit));
  };
  const looksForQuiet = count === 1 || last > 1 && !byTurns;
  const stop = () => {
    for (const thread of started) thread.post("stop");
  };
  return { name, turn, stop, looksForQuiet };
}

/** The most and the fewest laps of a turn, and how many ms it may last. */
const LAPS = 60;
const FEW_LAPS = 5;
const LONG = 400;

/** What the threads of one lap did, together. */
function measure(reports: readonly Report[]): Measured {
  const did = reports.map((report) => report.did);
  const begins = reports.map(({ begin }) => begin);
  const ends = reports.map(({ end }) => end);
  const wall = Math.max(...ends) - Math.min(...begins);
  // If a thread is alone and never sleeps, others have not slowed it down.
  const time = reports.length === 1 ? reports[0]!.cpu ?? wall : wall;
  const ops = did.map((one) => one.ops).filter((n) => n > 0);
  const measured: Measured = {
    ns: time * 1e6 / ops.reduce((a, b) => a + b, 0),
    share: Math.max(...ops) / Math.min(...ops),
  };
  // With more threads than cores, threads also wait for each other.
  if (reports.length <= cpus().length && reports[0]!.delay !== undefined) {
    const delay = reports.reduce((sum, { delay }) => sum + delay!, 0);
    const late = Math.max(...begins) - Math.min(...begins);
    measured.disturbed = reports.length === 1 ? 0 : (delay + late) / wall;
  }
  for (const key of Object.keys(did[0]!)) {
    if (key !== "ops") {
      measured[key] = Math.max(...did.map((one) => one[key] ?? 0));
    }
  }
  return measured;
}

/** The medians of all figures. */
function middle(measured: readonly Measured[]): Measured {
  const result: Measured = {};
  for (const key of Object.keys(measured[0]!)) {
    result[key] = median(measured.map((one) => one[key]!));
  }
  return result;
}

/** The other side of {@linkcode threads}: the code of `_thread.ts`. */
export async function serve(): Promise<void> {
  interface Order {
    module: string;
    role: Role;
    words: Int32Array<SharedArrayBuffer>;
    index: number;
    count: number;
  }
  const { data, post, next } = await hello<Order>();
  const { words, index, count, role } = data;
  ensureNavigator();
  const made = await import(data.module);
  const run: Run = await made[role.make](role.data);
  post("ready");
  while (await next() === "go") {
    const reports: Report[] = [];
    const start = now();
    for (let lap = 1; lap <= Atomics.load(words, LAST); lap++) {
      const before = scheduled();
      if (index === 0) {
        // The others have seen that the last lap is over.
        awaitOthers(words, lap * count - 1);
        Atomics.store(words, OVER, 0);
        if (lap >= FEW_LAPS && now() - start > LONG) {
          Atomics.store(words, LAST, lap);
        }
      }
      arrive(words, lap * count);
      const begin = now();
      const running = run({ words });
      const did = running instanceof Promise ? await running : running;
      const end = now();
      const after = scheduled();
      const [cpu, delay] = [0, 1].map((k) =>
        before === undefined ? undefined : after![k]! - before[k]!
      );
      reports.push({ begin, end, cpu, delay, did });
    }
    post(reports);
  }
  close();
}

/** Arrives at the start, and waits until `all` threads have. */
function arrive(words: Int32Array<SharedArrayBuffer>, all: number) {
  Atomics.add(words, ARRIVED, 1);
  Atomics.notify(words, ARRIVED);
  awaitOthers(words, all);
}

/** Waits for `all` threads to arrive: spins first, and sleeps later. */
function awaitOthers(words: Int32Array<SharedArrayBuffer>, all: number) {
  for (let looks = 0; looks < 2000; looks++) {
    if (Atomics.load(words, ARRIVED) >= all) return;
  }
  for (let n; (n = Atomics.load(words, ARRIVED)) < all;) {
    Atomics.wait(words, ARRIVED, n, 1000);
  }
}

/**
 * The ms that this thread ran, and that it waited for a core. Only Linux tells.
 */
function scheduled(): number[] | undefined {
  try {
    const text = fs.readFileSync("/proc/thread-self/schedstat", "utf8");
    return text.split(" ", 2).map((ns) => Number(ns) / 1e6);
  } catch {
    return undefined;
  }
}

/** ms, on a clock that all threads share. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

// ---- other processes --------------------------------------------------------

/** A contestant that is a program, which prints one JSON object a turn. */
export function program<Name extends string>(
  name: Name,
  path: string,
  args: readonly string[],
): Contestant & { readonly name: Name } {
  const turn = () => {
    const { status, stdout, stderr } = spawnSync(path, [...args], {
      encoding: "utf8",
      timeout: 60_000,
    });
    if (status !== 0) throw new Error(`${name}: ${stderr || status}`);
    return Promise.resolve(JSON.parse(stdout) as Measured);
  };
  return { name, turn };
}

// ---- results ----------------------------------------------------------------

/** The answer to a question, and how far it is to be trusted. */
export interface Figure {
  /** The median: most often of a ratio. */
  readonly figure: number;
  /** `"x"` for a ratio. */
  readonly unit: string;
  /** The smallest and the largest answer of a round. */
  readonly low?: number;
  readonly high?: number;
  /** How many rounds there were. */
  readonly rounds?: number;
  /** The medians it comes from. */
  readonly from: string;
}

/** One line of the table of results. */
export interface Row extends Figure {
  /** The question. */
  readonly name: string;
  /** The title of the table that it is in, if not of the group's first one. */
  readonly part?: string;
  /**
   * The target: the figure must be at most, or at least, this. Without it, the
   * row only states a fact.
   */
  readonly target?: { readonly most?: number; readonly least?: number };
}

/** Whether a row's figure meets its target. */
export function reached({ figure, target }: Row): boolean | undefined {
  if (target === undefined) return undefined;
  return figure <= (target.most ?? Infinity) &&
    figure >= (target.least ?? -Infinity);
}

/** Whether a row's figure comes from turns that others disturbed. */
export function disturbed({ from }: Row): boolean {
  return /\d turns quiet\)/.test(from);
}

/** A number as people read it. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

/**
 * How many times `over` is as large as `under`: the quotient of their medians.
 * Its spread comes from the rounds in which both have a turn that counts, as
 * these lie side by side.
 */
export function ratio<Name extends string>(
  results: Record<Name, Summary>,
  over: Name,
  under: Name,
  key = "ns",
): Figure {
  const [above, below] = [results[over], results[under]];
  const each = [...above.rounds].flatMap(([round, it]) => {
    const other = below.rounds.get(round);
    return other === undefined ? [] : [it[key]! / other[key]!];
  });
  if (each.length < 3) {
    // On a busy machine, few rounds are quiet for both.
    const others = [...below.rounds.values()];
    each.length = 0;
    [...above.rounds.values()].slice(0, others.length)
      .forEach((it, k) => each.push(it[key]! / others[k]![key]!));
  }
  const names = Object.keys(results) as Name[];
  const figure = above.medians[key]! / below.medians[key]!;
  return {
    figure,
    unit: "x",
    ...spread([...each, figure]),
    rounds: each.length,
    from: medians(
      results,
      names.filter((name) => name === over || name === under),
      key,
    ),
  };
}

/** A figure of one contestant itself, and its spread over the rounds. */
export function plain<Name extends string>(
  results: Record<Name, Summary>,
  name: Name,
  key: string,
  unit: string,
): Omit<Figure, "from"> {
  const { medians, rounds } = results[name];
  const each = [...rounds.values()].map((it) => it[key]!);
  return { figure: medians[key]!, unit, ...spread(each) };
}

/** The limits of some values, if there are any. */
export function spread(
  values: readonly number[],
): Pick<Figure, "low" | "high" | "rounds"> {
  if (values.length === 0) return {};
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return { low, high, rounds: values.length };
}

/** As in `mine 12.1 ns (11.8 to 12.6), theirs 34.5 ns (33.0 to 36.2)`. */
export function medians(
  results: Record<string, Summary>,
  names: readonly string[] = Object.keys(results),
  key = "ns",
  unit = "ns",
): string {
  const parts = names.map((name) => {
    const { medians, quiet, turns, rounds } = results[name]!;
    const { low, high } = spread([...rounds.values()].map((it) => it[key]!));
    const noisy = quiet < turns ? `; ${quiet}/${turns} turns quiet` : "";
    return `${name} ${show(medians[key]!)} ${unit} ` +
      `(${show(low!)} to ${show(high!)}${noisy})`;
  });
  return parts.join(", ");
}

/**
 * The words after the runtime's own name that run the TypeScript program
 * `file`, or its bundle under Node; `flags` are V8's.
 */
export function programWords(file: string, flags: string[] = []): string[] {
  if (!("Deno" in globalThis)) return [...flags, file];
  const own = flags.length > 0 ? [`--v8-flags=${flags.join(",")}`] : [];
  return ["run", "-A", ...own, file];
}
