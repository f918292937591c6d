/**
 * The numbers of the explorer: for operations on shared memory, for what an
 * agent is doing, and for the scheduler's choices.
 *
 * @module
 */

// ---- operations -------------------------------------------------------------

/** What an agent does to shared memory. */
export const LOAD = 1;
export const STORE = 2;
export const ADD = 3;
export const SUB = 4;
export const AND = 5;
export const OR = 6;
export const XOR = 7;
export const EXCHANGE = 8;
export const CAS = 9;
export const WAIT = 10;
export const NOTIFY = 11;
/** A plain (non-atomic) read. */
export const READ = 12;
/** A plain write. */
export const WRITE = 13;
/** A look at the clock. No other agent can step in before it. */
export const CLOCK = 14;
/** `Atomics.waitAsync`. */
export const WAIT_ASYNC = 15;
/** A promise of `waitAsync` settles, or a timer fires. */
export const EVENT = 17;
/** A timer is set, or cleared. */
export const SET_TIMER = 18;
export const CLEAR_TIMER = 19;
/** A function is posted to the agent's event loop, or removed from it. */
export const POST = 20;
export const UNPOST = 21;
/** A message is posted to a port. */
export const SEND = 22;
/** A channel is made; one of its ports is opened, or closed. */
export const CHANNEL = 23;
export const OPEN = 24;
export const CLOSE = 25;
/** A message arrives at a port. */
export const ARRIVE = 26;
/** A port is asked for its next message, by `receiveMessageOnPort`. */
export const TAKE = 27;

/** The operations' names, by number. */
export const OP_NAMES: readonly string[] = [
  "",
  "load",
  "store",
  "add",
  "sub",
  "and",
  "or",
  "xor",
  "exchange",
  "cas",
  "wait",
  "notify",
  "plain read",
  "plain write",
  "clock",
  "waitAsync",
  "",
  "event",
  "set timer",
  "clear timer",
  "post",
  "take back",
  "postMessage",
  "new channel",
  "open port",
  "close port",
  "message",
  "receiveMessageOnPort",
];

/** Whether an operation of this kind can change the word it names. */
export function writes(kind: number): boolean {
  return (kind >= STORE && kind <= CAS) || kind === WRITE;
}

/** Whether it is a plain access. */
export function isPlain(kind: number): boolean {
  return kind === READ || kind === WRITE;
}

/** The address of operations that touch no memory; it is not a byte address. */
export const NOWHERE = 0x1f_ffff_ffff;

// ---- agents -----------------------------------------------------------------

/** The agent's next operation is known and not yet performed. */
export const READY = 0;
/** Asleep in `Atomics.wait`. */
export const BLOCKED = 1;
/** In a loop that changes nothing, until a word it reads changes. */
export const SPINNING = 2;
/** At the end of its program. */
export const DONE = 3;
/** Terminated. */
export const KILLED = 4;
/** Its event loop is empty: it awaits a wake, a timer, or nothing at all. */
export const IDLE = 5;

// ---- choices ----------------------------------------------------------------

/**
 * A choice of the scheduler. Bits 0 to 7 hold the agent, bits 8 to 11 what
 * happens to it, and the bits above a number.
 */
export const STEP = 0 << 8;
/** Its sleep times out. */
export const TIMEOUT = 1 << 8;
/** It is terminated. */
export const KILL = 2 << 8;
/** Its sleep ends without a reason. */
export const SPURIOUS = 3 << 8;
/** It reads a hint that is `number` values old. */
export const STALE = 4 << 8;
/**
 * The promise of one of its `waitAsync` calls settles, or a message arrives at
 * its open port `number - 1`.
 */
export const SETTLE = 5 << 8;
/** The first of its timers fires. */
export const TIMER = 6 << 8;
/** It does the `number` steps that are left of a loop that changes nothing. */
export const LEAP = 7 << 8;

/** The end of an execution: no agent can run. */
export const END = -1;
/** The execution is cut short, because it is of no further interest. */
export const CUT = -2;

/** The agent a choice is about. */
export function agentOf(code: number): number {
  return code & 0xff;
}

/** What happens to it. */
export function actionOf(code: number): number {
  return code & 0xf00;
}

/** The number of a choice. */
export function numberOf(code: number): number {
  return code >> 12;
}

const LETTERS = ["", "t", "k", "w", "s", "a", "f"];

/** The schedule with every leap replaced by the steps it consists of. */
function stepByStep(codes: readonly number[]): readonly number[] {
  if (!codes.some((code) => actionOf(code) === LEAP)) return codes;
  return codes.flatMap((code) =>
    actionOf(code) === LEAP ? Array(numberOf(code)).fill(agentOf(code)) : [code]
  );
}

/** A schedule as text: `0*3 1 0t` is three steps, one step, a timeout. */
export function scheduleText(schedule: readonly number[]): string {
  const codes = stepByStep(schedule);
  const words: string[] = [];
  for (let i = 0; i < codes.length;) {
    const code = codes[i]!;
    let j = i;
    while (codes[j] === code) j++;
    const number = numberOf(code) > 0 ? String(numberOf(code)) : "";
    const word = agentOf(code) + LETTERS[actionOf(code) >> 8]! + number;
    words.push(j - i > 1 ? `${word}*${j - i}` : word);
    i = j;
  }
  return words.join(" ");
}

/** The most steps of a schedule: more do not fit into memory. */
const STEPS = 10_000_000;
/** The first agent, and the first number, that a choice has no bits for. */
const AGENTS = 1 << 8;
const NUMBERS = 1 << 19;

/** The schedule a text stands for. */
export function parseSchedule(text: string): number[] {
  const codes: number[] = [];
  for (const word of text.trim().split(/\s+/)) {
    if (word === "") continue;
    const match = /^(\d+)([a-z]?)(\d*)(?:\*(\d+))?$/.exec(word);
    const action = LETTERS.indexOf(match?.[2] ?? "?");
    if (match === null || action < 0) {
      throw new SyntaxError(`Cannot read the schedule: "${word}"`);
    }
    const [agent, number] = [Number(match[1]), Number(match[3])];
    const times = Number(match[4] ?? 1);
    if (agent >= AGENTS || number >= NUMBERS) {
      throw new RangeError(
        `Cannot replay the schedule: "${word}" is not possible: there is no ` +
          (agent >= AGENTS ? `agent ${match[1]}` : `number ${match[3]}`),
      );
    }
    if (codes.length + times > STEPS) {
      throw new RangeError(
        `Cannot replay the schedule: with "${word}", it has more than ` +
          `${STEPS} steps`,
      );
    }
    const code = agent | action << 8 | number << 12;
    for (let n = times; n > 0; n--) codes.push(code);
  }
  return codes;
}

// ---- failures ---------------------------------------------------------------

/** What can be wrong with concurrent code. */
export type FailureKind =
  | "not-linearizable"
  | "deadlock"
  | "lost-wakeup"
  | "data-race"
  | "not-lock-free"
  | "damaged-by-kill"
  | "livelock"
  | "starvation"
  | "exception"
  | "invariant"
  | "out-of-bounds"
  | "use-after-free"
  | "nondeterministic";

/** Something wrong, found at the current state of an exploration. */
export class Fault {
  /** Names what is wrong, and says it; `cause` is what the code threw. */
  constructor(
    readonly kind: FailureKind,
    readonly message: string,
    readonly cause?: unknown,
  ) {}
}

/**
 * The code under test does something that the explorer cannot simulate. It is
 * refused, because an exploration that left it out would prove nothing.
 */
export class Unsupported extends Error {
  /** The class's name. */
  override name = "Unsupported";
}

/** A part of a specification does what it must not: a mistake of the test. */
export class Misuse extends TypeError {}
