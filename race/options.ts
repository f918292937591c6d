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

/** The options of `replay`. */
export const REPLAY: Allowed = { ...OPTIONS };

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
/** As many calls as fit into memory, and into a lifetime. */
const CALLS = 10_000;

/** The most agents of a program. */
const AGENTS = 16;

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
  depth: { from: 1, to: 1000, counts: true },
  seed: { from: -Infinity, counts: true },
  begin: { from: 0, to: CALLS, counts: true },
  end: { from: 0, to: CALLS, counts: true },
  agents: { from: 1, to: AGENTS, counts: true },
  ops: { from: 1, to: CALLS, counts: true },
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
  // A list or a map has no options, and would ask for nothing.
  if (Object.prototype.toString.call(options) !== "[object Object]") {
    throw new TypeError(
      `The options must be an object: received ${show(options)}`,
    );
  }
  for (const [name, value] of Object.entries(options as object)) {
    const types = Object.hasOwn(allowed, name) ? allowed[name]! : undefined;
    if (types === undefined) {
      const names = Object.keys(allowed).join(", ");
      throw new TypeError(`Unknown option "${name}": the options are ${names}`);
    }
    const type = typeof value === "string" ? `"${value}"` : typeof value;
    const right = value === undefined || types.includes(type) ||
      types.includes(typeof value);
    if (right) {
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
    then?: string;
    depth?: number;
    sample?: string;
  };
  if (others.then !== undefined && allowed !== REPLAY) {
    throw new TypeError(
      'The option "then" is for race.replay(): it says what follows the ' +
        "schedule",
    );
  }
  if (others.depth !== undefined && others.sample !== "pct") {
    throw new TypeError(
      'The option "depth" needs the option sample: "pct", whose depth it is',
    );
  }
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

/** What a field must be, in words, and whether a value is that. */
type Field = readonly [what: string, is: (value: unknown) => boolean];

const isNumber = (value: unknown, from: number): value is number =>
  typeof value === "number" && value >= from;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether `value` has these functions. */
const has = (value: unknown, ...names: string[]): boolean =>
  isObject(value) && names.every((name) => typeof value[name] === "function");

const isRange = (range: unknown): boolean =>
  Array.isArray(range) && isNumber(range[0], 0) &&
  isNumber(range[1], range[0]) &&
  (range[2] === undefined || range[2] === "written");

const FUNCTION: Field = ["a function", (value) => typeof value === "function"];
const FLAG: Field = ["a boolean", (value) => typeof value === "boolean"];
const HINTS: Field = [
  'a function, or ranges such as [[0, 8], [8, 12, "written"]],',
  (value) =>
    typeof value === "function" || Array.isArray(value) && value.every(isRange),
];
const WORDS: Field = [
  "byte offsets by name",
  (value) =>
    isObject(value) &&
    Object.values(value).every((at) => Number.isInteger(at) && isNumber(at, 0)),
];

/** What a specification may have. */
const SPEC: Readonly<Record<string, Field>> = {
  memory: FUNCTION,
  agent: FUNCTION,
  wasm: ["a result of race.wasm()", (value) => has(value, "enter", "memory")],
  agents: ['a list of "js" and "wasm"', Array.isArray],
  init: ["a state", () => true],
  ops: ["operations by name", isObject],
  invariant: FUNCTION,
  final: FUNCTION,
  recover: FUNCTION,
  recovered: FUNCTION,
  hints: HINTS,
  words: WORDS,
  stateless: FLAG,
  async: FLAG,
};

/** What an operation of a specification may have. */
const OPERATION: Readonly<Record<string, Field>> = {
  run: FUNCTION,
  model: FUNCTION,
  arg: ["an arbitrary of fast-check", (value) => has(value, "generate", "map")],
  agents: [
    `a list of ids from 0 to ${AGENTS - 1}`,
    (value) =>
      Array.isArray(value) &&
      value.every((id) =>
        Number.isInteger(id) && isNumber(id, 0) && id < AGENTS
      ),
  ],
  lockFree: FLAG,
};

/** What the first argument of the free form may have. */
const MEMORY: Readonly<Record<string, Field>> = {
  memory: FUNCTION,
  hints: HINTS,
  words: WORDS,
  invariant: FUNCTION,
  workers: ["ids of agents by the end of an address", isObject],
};

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
  checkFields("A specification", definition, SPEC);
  const { ops } = definition as { ops?: Readonly<Record<string, unknown>> };
  for (const [name, operation] of Object.entries(ops ?? {})) {
    const what = `The operation "${name}"`;
    checkFields(what, operation, OPERATION);
    checkRuns(what, (operation as { run?: unknown }).run);
  }
}

/** Throws a TypeError if a call of `run` would run nothing of its body. */
function checkRuns(what: string, run: unknown): void {
  if (!/Generator/.test(Object.prototype.toString.call(run))) return;
  throw new TypeError(
    `${what} is a generator, so a call would run nothing of it: use a ` +
      `function, which may take values from a generator`,
  );
}

/** The same for the first argument of the free form. */
export function checkMemory(definition: unknown): void {
  checkFields("The memory", definition, MEMORY, "memory");
}

function checkFields(
  what: string,
  given: unknown,
  fields: Readonly<Record<string, Field>>,
  needed?: string,
): void {
  if (!isObject(given)) {
    throw new TypeError(`${what} must be an object: received ${show(given)}`);
  }
  const names = Object.keys(fields);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const isOption = Object.hasOwn(FREE, unknown);
    throw new TypeError(
      `${what} has no "${unknown}"; it may have ${names.join(", ")}` +
        (isOption ? "; options are the last argument" : ""),
    );
  }
  for (const [name, [must, is]] of Object.entries(fields)) {
    const value = given[name];
    if (value === undefined ? name !== needed : is(value)) continue;
    throw new TypeError(
      `${what} needs ${must} as its "${name}": received ${show(value)}`,
    );
  }
}

/** The same if `bodies` are not the functions of agents. */
export function checkBodies(bodies: readonly unknown[]): void {
  checkCount(bodies);
  for (const [id, body] of bodies.entries()) {
    checkRuns(`Agent ${id}`, body);
    if (typeof body === "function") continue;
    throw new TypeError(
      `Agent ${id} needs a function: received ${show(body)}; options are ` +
        `the last argument`,
    );
  }
}

/**
 * Throws a TypeError if `program` is not a list of calls for each agent, and a
 * RangeError if it has too many agents.
 */
export function checkProgram(program: unknown): void {
  if (!Array.isArray(program)) {
    throw new TypeError(
      `A program is a list of calls for each agent, such as ` +
        `[[["add"]], [["set", 1]]]: received ${show(program)}`,
    );
  }
  checkCount(program);
  for (const [id, calls] of program.entries()) {
    const all: unknown[] = Array.isArray(calls) ? calls : [calls];
    for (const call of all) {
      if (Array.isArray(calls) && isCall(call)) continue;
      throw new TypeError(
        `Agent ${id} needs a list of calls such as [["add"], ["set", 1]]: ` +
          `received ${show(calls)}`,
      );
    }
  }
}

function checkCount({ length }: readonly unknown[]): void {
  if (length === 0) throw new TypeError("A program needs an agent");
  if (length <= AGENTS) return;
  throw new RangeError(
    `A program has at most ${AGENTS} agents: received ${length}`,
  );
}

const isCall = (call: unknown): boolean =>
  Array.isArray(call) && call.length > 0 && call.length < 3 &&
  typeof call[0] === "string";
