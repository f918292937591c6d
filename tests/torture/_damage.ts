/**
 * A thread that damages the words of primitives, one at a time, and calls all
 * that must not wait. Its supervisor watches the number of the case: one that
 * takes long hangs.
 */
import { inspect, recover } from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { SUBJECTS } from "./_subjects.ts";

/** Bytes before and behind a region that nothing may change. */
const CANARY = 4096;
const PATTERN = 0x5ca1ab1e;

/** What a word is made, besides random values and single bits turned. */
const VALUES = [
  ...[0, 1, -1, 2, 3, 4, 5, 7, 12, 77, 1000, -1000],
  ...[0x7fffffff, -0x80000000, 1 << 28, 1 << 29, 1 << 30, 1 << 15, 3 << 29],
];

/** Errors that a call on damaged words may end in. */
const EXPECTED = ["DamagedError", "ClosedError", "RangeError", "CallError"];

interface Order {
  /** Words 0 to 2: the case, calls in all, characters of the text behind. */
  readonly progress: SharedArrayBuffer;
  /** The first case. */
  readonly from: number;
  readonly seed: number;
  /** Milliseconds. */
  readonly time: number;
  /** Subjects whose name contains this. */
  readonly only: string;
}

const { data, post } = await hello<Order>();
const progress = new Int32Array(data.progress, 0, 3);
const text = new Uint16Array(data.progress, 12);
const names = Object.keys(SUBJECTS).filter((name) => name.includes(data.only));
const found = new Map<string, string>();
const end = performance.now() + data.time;
for (let at = data.from; names.length > 0; at++) {
  if (performance.now() >= end) break;
  Atomics.store(progress, 0, at);
  runCase(at);
}
post({ found: [...found] });

/** A number from 0 to n - 1 that depends on the case and the place alone. */
function random(at: number, place: number, n: number): number {
  let x = Math.imul(at + 1, 0x9e3779b1) ^ Math.imul(place + 1, 0x85ebca6b) ^
    data.seed;
  x = Math.imul(x ^ x >>> 15, 0x2c1b3c6d);
  x = Math.imul(x ^ x >>> 12, 0x297a2d39);
  return ((x ^ x >>> 15) >>> 0) % n;
}

/** Damages one or two words of a fresh primitive, and calls everything. */
function runCase(at: number): void {
  const name = names[at % names.length]!;
  const { byteLength, init, attach, calls } = SUBJECTS[name]!;
  const buffer = new SharedArrayBuffer(byteLength + 2 * CANARY);
  const all = new Int32Array(buffer);
  all.fill(PATTERN);
  const made = init(buffer, CANARY);
  const words = new Int32Array(buffer, CANARY, byteLength / 4);
  const changes: string[] = [];
  const before = at % 3 === 0 ? made : undefined;
  for (let i = 0; i <= random(at, 1, 2); i++) {
    const index = random(at, 2 + 4 * i, words.length);
    const how = random(at, 3 + 4 * i, 3);
    const value = how === 0
      ? words[index]! ^ 1 << random(at, 4 + 4 * i, 32)
      : how === 1
      ? VALUES[random(at, 4 + 4 * i, VALUES.length)]!
      : random(at, 4 + 4 * i, 2 ** 32) | 0;
    words[index] = value;
    changes.push(`word ${index} = ${value | 0}`);
  }
  const title = `${name}: ${changes.join(", ")}`;
  tell(`${title}; attach or inspect`);
  let view;
  try {
    inspect(buffer, CANARY, made.kind);
  } catch (error) {
    judge(title, "inspect", error);
  }
  try {
    view = before ?? attach(buffer, CANARY);
  } catch (error) {
    return judge(title, "attach", error);
  }
  const entries = Object.entries(calls);
  const first = random(at, 20, entries.length);
  for (let i = 0; i < entries.length; i++) {
    const [call, run] = entries[(first + i) % entries.length]!;
    Atomics.add(progress, 1, 1);
    tell(`${title}; ${call}`);
    try {
      run(view as never);
    } catch (error) {
      judge(title, call, error);
    }
  }
  for (const ids of [[5], [5, 6]]) {
    Atomics.add(progress, 1, 1);
    tell(`${title}; recover`);
    try {
      recover(ids, view);
    } catch (error) {
      note(`${name} recover: ${error}`, title); // it tells of damage
    }
  }
  for (const from of [0, (CANARY + byteLength) / 4]) {
    for (let i = from; i < from + CANARY / 4; i++) {
      if (all[i] !== PATTERN) {
        note(`${name}: wrote outside its region`, title);
        return;
      }
    }
  }
}

/** Says what is done now, for a supervisor that finds us hanging. */
function tell(what: string): void {
  const length = Math.min(what.length, text.length);
  for (let i = 0; i < length; i++) text[i] = what.charCodeAt(i);
  progress[2] = length;
}

function judge(title: string, call: string, error: unknown): void {
  const { name, message } = error as Error;
  if (EXPECTED.includes(name)) return;
  // Such as "agent 5 does not hold it", but not an accident of the engine.
  const accident = /undefined|not a function|Invalid|iterable|offset is out/;
  if (name === "TypeError" && !accident.test(message)) return;
  if (name === "SyntaxError" && title.startsWith("channel")) return; // JSON
  note(`${title.split(":")[0]} ${call}: ${name}: ${message}`, title);
}

/** Keeps one example of each finding. */
function note(what: string, title: string): void {
  const key = what.replace(/-?\d+/g, "N");
  if (!found.has(key)) found.set(key, `${what} (${title})`);
}
