/**
 * The part of the torture in which threads of Emscripten are killed, run by
 * Node: `main.ts` compiles `kills.c`, bundles this and starts it as
 * `node emscripten.js MODULE MILLISECONDS SEED ONLY`. Each line of the output
 * is a {@linkcode Row}, as JSON.
 *
 * Node, as it can end a thread at any step, also one that never returns to its
 * event loop.
 *
 * @module
 */
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { matches, type Row } from "./_row.ts";

/** The functions at the end of `kills.c`. */
interface Module {
  readonly wasmMemory: WebAssembly.Memory;
  readonly PThread: { readonly pthreads: Record<number, Worker> };
  _kind_name(number: number): number;
  _begin_round(number: number): void;
  _begin_agent(seat: number): number;
  _agents_begun(seat: number): number;
  _agents_ended(seat: number): number;
  _is_used_up(seat: number): number;
  _bury(seat: number): void;
  _stop_all(): void;
  _end_round(killed: number): number;
  _has_items(): number;
  _steps(): number;
  _problems(): number;
}

const AGENTS = 6;
/** The longest time a thread may need to begin, or to stop, in ms. */
const HANGS = 60_000;

const [, , file = "", time = "1000", seed = "1", only = ""] = process.argv;
let state = Number(seed);

/** A number from 0 to n - 1. */
function random(n: number): number {
  state = Math.imul(state, 1664525) + 1013904223 | 0;
  return (state >>> 8) % n;
}

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

// Emscripten's workers do not keep Node running, not even while one ends.
setInterval(() => {}, 1000);

const { default: load } = await import(pathToFileURL(file).href);
const c: Module = await load();

/** Waits until `isSo`; whether that took no suspicious time. */
async function comes(isSo: () => boolean): Promise<boolean> {
  const end = performance.now() + HANGS;
  while (!isSo() && performance.now() < end) await sleep(1);
  return isSo();
}

/** Threads at their seats, as many as have been started there. */
class Crew {
  readonly #threads: number[] = [];
  readonly #started: number[] = new Array(AGENTS).fill(0);
  readonly #ended: number[] = new Array(AGENTS).fill(0);

  start(seat: number): void {
    this.#ended[seat] = c._agents_ended(seat);
    const thread = c._begin_agent(seat);
    if (thread === 0) throw new Error("no thread can be started");
    this.#threads[seat] = thread;
    this.#started[seat]!++;
  }

  /**
   * Whether the thread uses the primitive; before, it may hold a heap's lock.
   */
  hasBegun(seat: number): boolean {
    return c._agents_begun(seat) === this.#started[seat];
  }

  /** Ends a thread at whatever step it is. */
  async kill(seat: number): Promise<void> {
    const thread = this.#threads[seat]!;
    const worker = c.PThread.pthreads[thread]!;
    await worker.terminate();
    delete c.PThread.pthreads[thread];
  }

  /** Whether the thread has done its last step, after it was told to stop. */
  hasStopped(seat: number): boolean {
    return c._agents_ended(seat) > this.#ended[seat]!;
  }

  /** Whether Emscripten has taken back the thread. */
  hasEnded(seat: number): boolean {
    return !(this.#threads[seat]! in c.PThread.pthreads);
  }
}

/**
 * Kills users of one primitive until `end`, or until their items are used up.
 */
async function round(kind: number, name: string, end: number) {
  c._begin_round(kind);
  const problems: string[] = [];
  const crew = new Crew();
  const seats = Array.from({ length: AGENTS }, (_, seat) => seat);
  for (const seat of seats) crew.start(seat);
  let kills = 0;
  let over = false;
  while (performance.now() < end && !over && c._problems() === 0) {
    // What a reader holds is not known unless it is tracked: see `kills.c`.
    const seat = random(AGENTS) & (name === "rw_lock" ? ~1 : ~0);
    await sleep(random(3));
    if (!await comes(() => crew.hasBegun(seat))) {
      problems.push(`agent ${seat} does not begin`);
      break;
    }
    await crew.kill(seat);
    kills++;
    c._bury(seat);
    over = c._is_used_up(seat) !== 0;
    crew.start(seat);
  }
  const all = () => seats.every((seat) => crew.hasBegun(seat));
  if (!await comes(all)) problems.push("an agent does not begin");
  c._stop_all();
  const hangs = (seat: number) => !crew.hasStopped(seat);
  if (!await comes(() => !seats.some(hangs))) {
    problems.push(`agents ${seats.filter(hangs)} hang`);
  }
  // The next round's threads have the same stacks. So a thread that has
  // stopped, and that Emscripten does not take back, is ended here.
  const ended = (seat: number) => crew.hasEnded(seat);
  if (problems.length === 0 && !await comes(() => seats.every(ended))) {
    for (const seat of seats) if (!ended(seat)) await crew.kill(seat);
  }
  const lost = c._end_round(kills);
  const broken = c._problems();
  if (broken > 0) problems.push(`${broken} broken promises: see above`);
  return { kills, lost, steps: c._steps(), problems };
}

async function killAll(kind: number, name: string, time: number) {
  const end = performance.now() + time;
  const sum = { kills: 0, lost: 0, steps: 0, problems: [] as string[] };
  do {
    const { kills, lost, steps, problems } = await round(kind, name, end);
    sum.kills += kills;
    sum.lost += lost;
    sum.steps += steps;
    sum.problems.push(...problems);
  } while (performance.now() < end && sum.problems.length === 0);
  tell({
    what: `weft_${name}: threads of Emscripten killed`,
    volume: sum.kills,
    unit: "kills",
    ...(c._has_items() && { lost: sum.lost, allowed: sum.kills }),
    problems: sum.problems,
  });
  tell({
    what: `weft_${name}: steps beside these kills`,
    volume: sum.steps,
    unit: "operations",
    problems: [],
  });
}

function tell(row: Row): void {
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

/** The text at `at` in the memory of C. */
function textAt(at: number): string {
  const bytes = new Uint8Array(c.wasmMemory.buffer);
  return String.fromCharCode(...bytes.slice(at, bytes.indexOf(0, at)));
}

const names: string[] = [];
for (let at; (at = c._kind_name(names.length)) !== 0;) names.push(textAt(at));
const chosen = names.filter((name) => matches(name.replaceAll("_", ""), only));
for (const name of chosen) {
  await killAll(names.indexOf(name), name, Number(time) / chosen.length);
}
process.exit(0); // the workers would go on
