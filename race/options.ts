/**
 * Checks what users pass to `race`, so that a misspelt option or a misplaced
 * list is an error instead of a test that checks less than it seems to.
 *
 * @module
 */
import { show } from "./engine/values.ts";

/** The types of the values of each option. */
export type Allowed = Readonly<Record<string, readonly string[]>>;

const NUMBER = ["number"];
const BOOLEAN = ["boolean"];

/** The options of an exploration. */
export const OPTIONS: Allowed = {
  progress: ['"lock-free"'],
  kill: BOOLEAN,
  spurious: ["boolean", "number"],
  timeouts: ["boolean", "number"],
  states: NUMBER,
  runs: NUMBER,
  sample: ['"random"', '"order"', '"pct"'],
  depth: NUMBER,
  seed: NUMBER,
  time: NUMBER,
  races: ["boolean", "function"],
  rescue: BOOLEAN,
  looks: NUMBER,
  polls: BOOLEAN,
  maxSteps: NUMBER,
  lines: BOOLEAN,
  shorten: BOOLEAN,
  reduce: [
    "boolean",
    '"order"',
    '"groups"',
    '"alike"',
    '"unused"',
    '"remembered"',
  ],
  coverage: BOOLEAN,
  then: ['"explore"'],
  spins: NUMBER,
  begin: NUMBER,
  end: NUMBER,
  memoryless: BOOLEAN,
  primitives: ['"atomic"'],
  starvation: BOOLEAN,
};

/** The options of generated programs. */
export const PROGRAMS: Allowed = {
  ...OPTIONS,
  agents: NUMBER,
  ops: NUMBER,
  programs: NUMBER,
  complete: BOOLEAN,
};

/** The options of `assert`. */
export const ASSERT: Allowed = { ...PROGRAMS, failures: ["string"] };

/** The options of the free form. */
export const FREE: Allowed = { ...OPTIONS, after: ["function"] };

/** The options of a stress test. */
export const STRESS: Allowed = {
  seconds: NUMBER,
  agents: NUMBER,
  ops: NUMBER,
  seed: NUMBER,
  name: ["string"],
};

/** The options of a compiled module. */
export const WASM: Allowed = { from: NUMBER, imports: ["object"] };

/** The least value of an option that is a number, and the greatest one. */
interface Range {
  readonly from: number;
  readonly to?: number;
  /** Whether it counts something; then it is an integer. */
  readonly counts?: boolean;
}

const NONE: Range = { from: 0, counts: true };
const ONE: Range = { from: 1, counts: true };

/** The ranges of the options that are numbers. */
const RANGES: Readonly<Record<string, Range>> = {
  states: ONE,
  runs: NONE,
  timeouts: NONE,
  spurious: NONE,
  time: { from: 0 },
  looks: { from: 0 },
  maxSteps: ONE,
  spins: ONE,
  depth: ONE,
  seed: { from: -Infinity, counts: true },
  begin: NONE,
  end: NONE,
  agents: { from: 1, to: 16, counts: true },
  ops: ONE,
  programs: NONE,
  seconds: { from: 0 },
};

/** Options that may be `Infinity`, which means that there is no bound. */
const ENDLESS = ["states", "runs", "timeouts", "spurious", "time", "maxSteps"];

/** Throws a RangeError if the option is a number that it cannot be. */
function checkRange(name: string, value: unknown): void {
  const range = RANGES[name];
  if (typeof value !== "number" || range === undefined) return;
  const { from, to = Infinity, counts = false } = range;
  if (value === Infinity && ENDLESS.includes(name)) return;
  const finite = counts ? Number.isInteger(value) : Number.isFinite(value);
  if (finite && from <= value && value <= to) return;
  const what = counts ? "an integer" : "a number";
  const where = from === -Infinity
    ? ""
    : to === Infinity
    ? ` from ${from} on`
    : ` from ${from} to ${to}`;
  throw new RangeError(
    `The option "${name}" must be ${what}${where}: received ${value}`,
  );
}

/**
 * Throws a TypeError if an option is unknown or of the wrong type, and a
 * RangeError if it is a number that it cannot be.
 */
export function checkOptions(options: unknown, allowed: Allowed): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `The options must be an object: received ${show(options)}`,
    );
  }
  for (const [name, value] of Object.entries(options)) {
    const types = Object.hasOwn(allowed, name) ? allowed[name]! : undefined;
    if (types === undefined) {
      const names = Object.keys(allowed).join(", ");
      throw new TypeError(`Unknown option "${name}": the options are ${names}`);
    }
    const type = typeof value === "string" ? `"${value}"` : typeof value;
    const right = value === undefined || types.includes(type) ||
      types.includes(typeof value);
    if (right && !Number.isNaN(value)) {
      checkRange(name, value);
      continue;
    }
    throw new TypeError(
      `The option "${name}" must be ${types.join(" or ")}: ` +
        `received ${show(value)}`,
    );
  }
  const { primitives, starvation, ...others } = options as {
    primitives?: string;
    starvation?: boolean;
    kill?: boolean;
    progress?: string;
  };
  if (primitives === "atomic" && (others.kill || others.progress)) {
    const other = others.kill ? "kill" : "progress";
    throw new TypeError(
      `The option "primitives" cannot be given with "${other}": it lets no ` +
        `agent stop within an operation of a primitive`,
    );
  }
  const other = ["kill", "begin", "end", "sample", "primitives"]
    .find((name) => Boolean((options as Record<string, unknown>)[name]));
  if (starvation === true && other !== undefined) {
    throw new TypeError(
      `The option "starvation" cannot be given with "${other}": every agent ` +
        `repeats its calls for ever, step by step`,
    );
  }
}

/** What a specification may have. */
const SPEC = [
  "memory",
  "agent",
  "wasm",
  "agents",
  "init",
  "ops",
  "invariant",
  "final",
  "recover",
  "recovered",
  "hints",
  "words",
  "stateless",
  "async",
];

/** What an operation of a specification may have. */
const OPERATION = ["run", "model", "arg", "agents", "lockFree"];

/** What the first argument of the free form may have. */
const MEMORY = ["memory", "hints", "words", "invariant", "workers"];

/** Throws a TypeError unless `spec` is what `race.spec` returns. */
export function checkIsSpec(spec: unknown): void {
  if ((spec as { scenario?: unknown } | null)?.scenario !== undefined) return;
  throw new TypeError(
    `The first argument must be a result of race.spec(): received ${
      show(spec)
    }`,
  );
}

/** Throws a TypeError if a specification has what it may not have. */
export function checkSpec(definition: unknown): void {
  checkNames("A specification", definition, SPEC);
  const { ops } = definition as { ops?: Readonly<Record<string, unknown>> };
  for (const [name, operation] of Object.entries(ops ?? {})) {
    checkNames(`The operation "${name}"`, operation, OPERATION);
  }
}

/** The same for the first argument of the free form. */
export function checkMemory(definition: unknown): void {
  checkNames("The memory", definition, MEMORY);
}

function checkNames(what: string, given: unknown, names: string[]): void {
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`${what} must be an object: received ${show(given)}`);
  }
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const isOption = Object.hasOwn(FREE, unknown);
  throw new TypeError(
    `${what} has no "${unknown}"; it may have ${names.join(", ")}` +
      (isOption ? "; options are the last argument" : ""),
  );
}

/** Throws a TypeError if `bodies` are not the functions of agents. */
export function checkBodies(bodies: readonly unknown[]): void {
  if (bodies.length === 0) throw new TypeError("A program needs an agent");
  for (const [id, body] of bodies.entries()) {
    if (typeof body === "function") continue;
    throw new TypeError(
      `Agent ${id} needs a function: received ${show(body)}; options are ` +
        `the last argument`,
    );
  }
}

/** Throws a TypeError if `program` is not a list of calls for each agent. */
export function checkProgram(program: readonly unknown[]): void {
  if (program.length === 0) throw new TypeError("A program needs an agent");
  for (const [id, calls] of program.entries()) {
    const all = Array.isArray(calls) ? calls : [calls];
    for (const call of all) {
      if (Array.isArray(calls) && isCall(call)) continue;
      throw new TypeError(
        `Agent ${id} needs a list of calls such as [["add"], ["set", 1]]: ` +
          `received ${show(calls)}`,
      );
    }
  }
}

const isCall = (call: unknown): boolean =>
  Array.isArray(call) && call.length > 0 && call.length < 3 &&
  typeof call[0] === "string";
