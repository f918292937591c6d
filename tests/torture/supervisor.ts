/**
 * The parts of the torture that are made of threads, run by Node: `main.ts`
 * bundles this and starts it as
 * `node supervisor.js PART MILLISECONDS SEED ONLY`. Each line of the output is
 * a {@linkcode Row}, as JSON.
 *
 * Node, as it can end a thread at any step, also one that never returns to its
 * event loop.
 *
 * @module
 */
import process from "node:process";
import type { Worker } from "node:worker_threads";
import {
  Barrier,
  CallRing,
  type Handle,
  HashMap,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  RecordRing,
  recover,
  RwLock,
  Semaphore,
} from "../../mod.ts";
import { spawn, type Thread } from "../_run/workers.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { LOCK_FREE, MPMC, SPSC } from "../_queue/model.ts";
import { wordsOf } from "../_run/model.ts";
import type { Order } from "./_agent.ts";
import type { Round } from "./_crowd.ts";
import { CODECS, heapFor, heapForKeys, SHARED } from "./_maps.ts";
import { loadRow, type Longest, matches, type Row } from "./_row.ts";
import {
  BEGUN,
  LENGTH,
  OPERATIONS,
  PROBLEMS,
  RECEIVED,
  SEATS,
  STOP,
} from "./_seats.ts";
import { type Victim, victims } from "./_victims.ts";
import { say, watchman } from "./_watchman.ts";

const AGENT = new URL("./_agent.ts", import.meta.url);
const CROWD = new URL("./_crowd.ts", import.meta.url);
const DAMAGE = new URL("./_damage.ts", import.meta.url);
const STREAM = new URL("./_stream.ts", import.meta.url);
const ARGUMENTS = new URL("./_arguments.ts", import.meta.url);
const ABORTS = new URL("./_aborts.ts", import.meta.url);

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Ends a thread, and comes back when it has ended. */
async function kill({ worker }: Thread): Promise<void> {
  await (worker as Worker).terminate();
}

let state = 1;

/** A number from 0 to n - 1. */
function random(n: number): number {
  state = Math.imul(state, 1664525) + 1013904223 | 0;
  return (state >>> 8) % n;
}

// ---- kills ------------------------------------------------------------------

/** The longest time of a call, or of the last steps of a thread, in ms. */
const HANGS = 30_000;

let nextId = 1;

async function killAll(time: number, only: string): Promise<void> {
  const all = victims().filter(({ name }) => matches(name, only));
  for (const victim of all) {
    say(`kills, ${victim.name}, seed ${state}`);
    await killUsers(victim, time / all.length);
  }
}

/**
 * Kills one or two users at a time. They are recovered by this thread, and now
 * and then by another one at the same time, which may be killed as it does so.
 */
async function killUsers(victim: Victim, time: number): Promise<void> {
  const { name, view, roles, isAlone = false } = victim;
  const notes = new SharedArrayBuffer(LENGTH * 4);
  const seen = new SharedArrayBuffer(8 * 2 ** 19);
  const words = new Int32Array(notes);
  const problems: string[] = [];
  const threads: Thread[] = [];
  const ended = new Set<Thread>();
  const ids: number[] = [];
  const start = async (seat: number) => {
    const id = ids[seat] = nextId++;
    const role = roles[seat] ?? "recover";
    const order: Order = { role, id, seat, notes, seen, handle: view.handle };
    const thread = threads[seat] = await spawn(AGENT, order);
    await thread.next(); // it has started
    void listen(thread, problems, ended);
  };
  /** Recovers those who sat there. */
  const recoverAll = (seats: readonly number[]) => {
    for (const found of recover(seats.map((seat) => ids[seat]!), view)) {
      const isBroken = ["damaged", "queue blocked"].includes(found.what);
      if (isBroken) problems.push(`${name}: ${found.what}`);
    }
  };
  const seats = [...roles.keys()];
  const helper = roles.length;
  if (!isAlone) seats.push(helper);
  await Promise.all(seats.map(start));
  const end = performance.now() + time;
  let kills = 0;
  while (performance.now() < end && words[PROBLEMS] === 0) {
    await sleep(random(3));
    const dying = new Set([random(roles.length)]);
    if (!isAlone && random(3) === 0) dying.add(random(roles.length));
    for (const seat of dying) await kill(threads[seat]!);
    kills += dying.size;
    if (!isAlone) {
      threads[helper]!.post([...dying].map((seat) => ids[seat]!));
      await sleep(random(2));
      if (random(3) === 0) {
        await kill(threads[helper]!);
        dying.add(helper);
      }
      recoverAll([...dying]);
    }
    for (const seat of dying) {
      const wrong = await victim.after?.(ids[seat]!, seat, words);
      if (wrong) problems.push(wrong);
    }
    if (problems.length > 0) break;
    for (const seat of dying) await start(seat);
  }
  Atomics.store(words, STOP, 1);
  const users = threads.slice(0, helper);
  const late = performance.now() + HANGS;
  const isOver = () =>
    problems.length > 0 || users.every((user) => ended.has(user));
  while (!isOver() && performance.now() < late) await sleep(10);
  if (!isOver()) {
    const waits = roles.filter((_, seat) => !ended.has(users[seat]!));
    problems.push(`${name}: these never end: ${waits.join(", ")}`);
  }
  for (const thread of threads) await kill(thread);
  if (!isAlone) recoverAll(seats);
  const sum = (index: number) =>
    roles.reduce((n, _, seat) => n + words[SEATS + 32 * seat + index]!, 0);
  let lost = 0;
  if (victim.drain) {
    let received = sum(RECEIVED);
    for (let i = 0; i < 1e6 && victim.drain() !== undefined; i++) received++;
    lost = sum(BEGUN) - received;
    const allowed = kills + roles.length;
    if (Math.abs(lost) > allowed) {
      problems.push(`${lost} elements are lost, and ${kills} kills`);
    }
  }
  const wrong = victim.check?.(ids, words);
  if (wrong !== undefined) problems.push(wrong);
  tell({
    what: `${name}: threads killed`,
    volume: kills,
    unit: "kills",
    ...(victim.drain && { lost, allowed: kills }),
    problems,
  });
  tell({
    what: `${name}: steps beside kills`,
    volume: sum(OPERATIONS),
    unit: "operations",
    problems: [],
  });
}

/** Keeps what a thread reports, until it ends. */
async function listen(
  thread: Thread,
  problems: string[],
  ended: Set<Thread>,
): Promise<void> {
  try {
    for (;;) {
      const message = await thread.next<{ problem?: string; ended?: true }>();
      if (message.ended) ended.add(thread);
      if (message.problem !== undefined) problems.push(message.problem);
    }
  } catch (error) {
    const { message } = error as Error;
    if (!/exit|stopp|ended|terminat/i.test(message)) problems.push(message);
  }
}

// ---- damage -----------------------------------------------------------------

async function damage(time: number, only: string, seed: number) {
  const buffer = new SharedArrayBuffer(12 + 2 * 256);
  const progress = new Int32Array(buffer, 0, 3);
  const problems = new Map<string, string>();
  const end = performance.now() + time;
  let from = 0;
  let calls = 0;
  let hung = 0;
  while (performance.now() < end && hung < 40) {
    const left = end - performance.now();
    const order = { progress: buffer, from, seed, time: left, only };
    const thread = await spawn(DAMAGE, order);
    const done = thread.next<{ found: [string, string][] }>();
    let over = false;
    done.then(({ found }) => {
      over = true;
      for (const [key, text] of found) problems.set(key, text);
    }, (error) => {
      over = true;
      problems.set("thread", String(error));
    });
    let at = -1;
    let since = performance.now();
    while (!over) {
      await sleep(50);
      const now = Atomics.load(progress, 0);
      if (now !== at) {
        at = now;
        since = performance.now();
      } else if (performance.now() - since > HANGS) break;
    }
    calls = progress[1]!;
    if (over) break;
    await kill(thread);
    hung++;
    const text = String.fromCharCode(
      ...new Uint16Array(buffer, 12, progress[2]!),
    );
    const key = text.replace(/word \d+ = -?\d+(, )?/g, "");
    problems.set(key, `hangs: ${text}`);
    from = at + 1;
  }
  if (calls === 0 && problems.size === 0) return; // none has that name
  tell({
    what: "JavaScript: calls on damaged words",
    volume: calls >>> 0,
    unit: "calls",
    problems: [...problems.values()],
  });
}

async function callWithAll(time: number, seed: number, only: string) {
  const thread = await spawn(ARGUMENTS, { time, seed, only });
  const row = await thread.next<Row>();
  if (row.volume > 0) tell(row);
  await kill(thread);
}

// ---- streams, aborts --------------------------------------------------------

/** A ring whose next record begins at `start`, modulo 2^32. */
function ringAt(start: number): RecordRing {
  const ring = RecordRing.create({ capacity: 65536 });
  const { tail, head, head_cache, tail_cache } = LAYOUT.record_ring;
  const words = wordsOf(ring);
  for (const word of [tail, head, head_cache, tail_cache]) {
    words[word] = start & ~7;
  }
  return ring;
}

/** The longest time of one round, in ms. */
const ROUND = 20_000;

/**
 * Two threads of one module that share a barrier, round by round. The counters
 * begin near 0, 2^31 or 2^32.
 */
async function pair(url: URL, time: number, seed: number, only: string) {
  const rounds = Math.ceil(time / ROUND);
  const sums = new Map<string, Row>();
  for (let i = 0; i < rounds; i++) {
    const near = 2 ** 31 * ((seed + 1 + i) % 3);
    // A ticket is half of a word, or a quarter of it.
    const at = (unit: number) => Math.max(near / unit - 20_000, 0);
    const start = Barrier.create(2).handle;
    const spsc = SPSC.startAt(4096, 4, at(4)).handle;
    const mpmc = MPMC.startAt(4096, 4, at(2)).handle;
    const lockFree = LOCK_FREE.startAt(4096, 4, at(1)).handle;
    const ring = ringAt(at(1)).handle;
    const mutex = Mutex.create().handle;
    const semaphore = Semaphore.create(1).handle;
    const sent = new SharedArrayBuffer(1024);
    const orders = [0, 1].map((side) => ({
      ...{ side, time: time / rounds, seed: seed + i, start, spsc, mpmc },
      ...{ lockFree, ring, mutex, semaphore, sums: sent, only },
    }));
    const threads = await Promise.all(orders.map((o) => spawn(url, o)));
    const rows = await Promise.all(threads.map((t) => t.next<Row[]>()));
    for (const thread of threads) await kill(thread);
    for (const row of rows.flat()) sums.set(row.what, sum(row, sums));
  }
  for (const row of sums.values()) tell(row);
}

/** A row and what earlier rounds did. */
function sum(row: Row, sums: ReadonlyMap<string, Row>): Row {
  const before = sums.get(row.what);
  if (before === undefined) return row;
  return {
    ...row,
    volume: before.volume + row.volume,
    ...(row.lost !== undefined && { lost: before.lost! + row.lost }),
    problems: [...before.problems, ...row.problems],
  };
}

// ---- load -------------------------------------------------------------------

/** How many threads use one primitive, and how many use none meanwhile. */
const CROWDED = 64;
const CONTROLS = 4;

/** A primitive that many threads use. */
interface Shared {
  readonly handle: Handle;
  close?(): void;
}

/** What the threads use, by the name of its kind. */
const LOADED: Readonly<Record<string, () => Shared>> = {
  mutex: () => Mutex.create(),
  rw_lock: () => RwLock.create(),
  semaphore: () => Semaphore.create(4),
  mpmc_queue: () => MpmcQueue.create({ capacity: 64 }),
  lock_free_queue: () =>
    LockFreeQueue.create({ capacity: 64, agents: CROWDED }),
  record_ring: () => RecordRing.create({ capacity: 4096 }),
  call_ring: () => CallRing.create({ slots: 16, request: 4, reply: 4 }),
  hash_map: () => HashMap.create({ ...CODECS, capacity: 1.25 * SHARED }),
  hash_map_long: () =>
    HashMap.create({
      ...CODECS,
      ...heapFor(1.25 * SHARED),
      capacity: 1.25 * SHARED,
    }),
  hash_map_long_keys: () =>
    HashMap.create({
      ...CODECS,
      ...heapForKeys(1.25 * SHARED, 5 * SHARED),
      capacity: 1.25 * SHARED,
    }),
};

/** Many threads use one primitive after the other; each must get its turn. */
async function load(time: number, only: string) {
  const names = Object.keys(LOADED)
    .filter((name) => matches(name.replaceAll("_", ""), only));
  if (names.length === 0) return;
  const ms = time / names.length;
  const crowd = await Crowd.start();
  for (const name of names) {
    const measure = () => crowd.use(name, LOADED[name]!(), ms);
    tell(await loadRow(`JavaScript: ${name}`, ms / 1000, measure));
  }
}

/** The threads that use one primitive after the other. */
class Crowd {
  readonly #threads: Thread[] = [];

  /** Starts the threads, and waits until all of them run. */
  static async start(): Promise<Crowd> {
    const crowd = new Crowd();
    await crowd.use("control", Mutex.create(), 0);
    return crowd;
  }

  /** Lets all but the last threads use `shared` for `ms`. */
  async use(name: string, shared: Shared, ms: number): Promise<Longest> {
    const over = new SharedArrayBuffer(4);
    const notes = new Float64Array(
      new SharedArrayBuffer(16 * (CROWDED + CONTROLS)),
    );
    const seats = Array.from({ length: CROWDED + CONTROLS }, (_, i) => i);
    for (const seat of seats) {
      const { handle } = shared;
      const kind = seat < CROWDED ? name : "control";
      const round: Round = { kind, handle, seat, over, notes: notes.buffer };
      this.#threads[seat]?.post(round);
      this.#threads[seat] ??= await spawn(CROWD, round);
    }
    // The threads begin one after the other.
    while (seats.some((seat) => notes[2 * seat] === 0)) await sleep(10);
    await sleep(ms);
    Atomics.store(new Int32Array(over), 0, 1);
    const noted = (i: number, seats: number[]) =>
      seats.map((seat) => notes[2 * seat + i]!);
    const crowd = seats.slice(0, CROWDED);
    const result = {
      volume: noted(0, crowd).reduce((sum, turns) => sum + turns),
      longest: Math.max(...noted(1, crowd)),
      control: Math.max(...noted(1, seats.slice(CROWDED))),
    };
    shared.close?.();
    await Promise.all(this.#threads.map((thread) => thread.next()));
    return result;
  }
}

function tell(row: Row): void {
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

const [, , part, time = "1000", seed = "1", only = ""] = process.argv;
state = Number(seed);
await watchman();
say(`${part}, seed ${seed}`);
switch (part) {
  case "kills":
    await killAll(Number(time), only);
    break;
  case "damage":
    await damage(Number(time), only, Number(seed));
    break;
  case "arguments":
    await callWithAll(Number(time), Number(seed), only);
    break;
  case "load":
    await load(Number(time), only);
    break;
  case "stream":
    await pair(STREAM, Number(time), Number(seed), only);
    break;
  case "aborts":
    await pair(ABORTS, Number(time), Number(seed), only);
    break;
  default:
    process.stderr.write(`no part is called ${part}\n`);
    process.exit(2);
}
process.exit(0); // whoever still runs has nothing left to say
