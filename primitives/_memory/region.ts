import { aKind, brief, describe } from "./describe.ts";
import { explorer, kept } from "./explored.ts";
import { type ConfiguredStem, KIND, SIGNATURE, VERSION } from "./layout.ts";
import { bufferOf, isNew, type Memory, offsetOf } from "./memory.ts";

export {
  allocate,
  bufferOf,
  inNewMemory,
  inRange,
  isSupported,
  type Memory,
} from "./memory.ts";

/**
 * A primitive as a message. It can be cloned by `postMessage`, and
 * `X.from(handle)` attaches to the primitive in another agent.
 */
export interface Handle<Kind extends string = string> {
  /** The name of the primitive, such as `"mutex"`. */
  readonly kind: Kind;
  /** The memory that the primitive lies in. */
  readonly buffer: Memory;
  /** Where it begins, in bytes. */
  readonly byteOffset: number;
}

/**
 * Checks the place of `byteLength` bytes at `byteOffset` of `buffer`, and views
 * them as words. An address of wasm64 is a bigint.
 */
export function wordsAt(
  name: string,
  buffer: SharedArrayBuffer,
  byteOffset: number | bigint,
  byteLength: number,
): Int32Array<SharedArrayBuffer> {
  const at = offsetOf(byteOffset);
  if (!Number.isInteger(at) || at < 0 || at % 4 !== 0) {
    throw new RangeError(
      `Cannot place ${aKind(name)}: byteOffset must be a multiple of 4, not ` +
        `below 0: received ${describe(byteOffset)}`,
    );
  }
  if (at + byteLength > buffer.byteLength) {
    throw new RangeError(
      `Cannot place ${aKind(name)}: ${byteLength} bytes at ${at} do not fit ` +
        `in memory of ${buffer.byteLength} bytes`,
    );
  }
  const words = new Int32Array(buffer, at, byteLength / 4);
  explorer()?.enter(words, kept);
  return words;
}

/**
 * Checks that `config` is an object whose names are all among `known`: a
 * misspelt name would otherwise be ignored silently.
 *
 * @throws {TypeError} If it is not.
 */
export function assertConfig(
  kind: string,
  config: unknown,
  known: readonly string[],
): void {
  if (typeof config !== "object" || config === null) {
    throw new TypeError(
      `The configuration of ${aKind(kind)} must be an object with ` +
        `${known.join(", ")}: received ${describe(config)}`,
    );
  }
  for (const name in config) {
    if (known.includes(name) || name in Object.prototype) continue;
    throw new TypeError(
      `Unknown name ${describe(name)} in the configuration of ` +
        `${aKind(kind)}: expected ${known.join(", ")}`,
    );
  }
}

/**
 * Checks that `value` is true or false.
 *
 * @throws {TypeError} If it is not.
 */
export function assertBoolean(what: string, value: boolean): void {
  if (typeof value === "boolean") return;
  throw new TypeError(`${what} must be a boolean: received ${describe(value)}`);
}

/**
 * Checks that `fn` can be called, before a lock is taken for it.
 *
 * @throws {TypeError} If it is not a function.
 */
export function assertFunction(fn: unknown): void {
  if (typeof fn === "function") return;
  throw new TypeError(`Expected a function: received ${describe(fn)}`);
}

/**
 * Checks that `bytes` is a typed array or a DataView. A buffer itself, an
 * ordinary array and a string are refused: they have no bytes at a place.
 *
 * @throws {TypeError} If it is not.
 */
export function assertView(bytes: unknown): void {
  if (ArrayBuffer.isView(bytes)) return;
  throw new TypeError(
    `Bytes must be a typed array or a DataView: received ${describe(bytes)}`,
  );
}

/**
 * The facts that `inspect` needs to read the words of one kind of primitive.
 */
export interface WordsInspection {
  /** The kind's row in `layout.ts`. */
  readonly row: Readonly<Record<string, number>>;
  /** Finds the owner in a copy of its words. */
  readonly owner?: (words: Int32Array) => number;
  /** Counts the waiters; a flag that says that somebody may wait counts 1. */
  readonly waiters?: (words: Int32Array) => number;
}

/** The value for a view without words of its own. */
const NO_WORDS: WordsInspection = { row: {} };

/** The words of a primitive, and what they say. */
export interface InspectedWords {
  /** The name of the primitive, such as `"mutex"`. */
  readonly kind: string;
  /** Where it begins, in bytes. */
  readonly byteOffset: number;
  /** The words by name. Each was read at a different moment. */
  readonly words: Readonly<Record<string, number>>;
  /**
   * The id of the owner, or 0; missing if primitives of this kind have no
   * owner.
   */
  readonly owner?: number;
  /**
   * How many agents wait; missing if no agent can wait for this kind. If the
   * words only note that somebody may wait, this is 1.
   */
  readonly waiters?: number;
}

/** Reads the primitive at the place of `at`; writes nothing. */
export function inspectWords(
  kind: string,
  { row, owner, waiters }: WordsInspection,
  at: Int32Array,
): InspectedWords {
  const copy = new Int32Array(row.length ?? 0);
  const words: Record<string, number> = {};
  for (const [field, index] of Object.entries(row)) {
    if (field === "length") continue;
    words[field] = copy[index] = Atomics.load(at, index);
  }
  return {
    kind,
    byteOffset: at.byteOffset,
    words,
    ...owner && { owner: owner(copy) },
    ...waiters && { waiters: waiters(copy) },
  };
}

const IN_DENO: unique symbol = /* @__PURE__ */ Symbol.for("Deno.customInspect");
const IN_NODE: unique symbol = /* @__PURE__ */ Symbol.for(
  "nodejs.util.inspect.custom",
);

/** Makes the class of objects that consoles print as `inspected` says. */
// This is a function because bundlers keep an unused class with a computed
// name.
function printable(): abstract new () => object {
  abstract class Printable {
    protected abstract inspected(): unknown;

    /** The value that Node's console prints. */
    [IN_NODE](): unknown {
      return this.inspected();
    }

    /** The same for Deno's console, whose `show` turns it into text. */
    [IN_DENO](
      show: (value: unknown, options?: unknown) => string,
      options?: unknown,
    ): string {
      return show(this.inspected(), options);
    }
  }
  return Printable;
}

/**
 * The base of objects that the consoles of Deno and Node can print.
 *
 * @ignore
 */
export const Printable: abstract new () => object = /* @__PURE__ */ printable();

/**
 * A view of one primitive's words. `buffer` and `byteOffset` are its whole
 * identity: two views of the same bytes are the same primitive.
 *
 * Post its {@linkcode Region.handle} to other agents. The identity is kept in
 * private fields, which structured cloning leaves out. So if a view itself is
 * posted, its copy has no `buffer`, and `from` refuses it.
 */
export abstract class Region<Kind extends string = string> extends Printable {
  readonly #kind: Kind;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #inspection: WordsInspection;

  /**
   * Attaches to `words`, whose place was checked.
   *
   * @ignore
   */
  protected constructor(
    kind: Kind,
    words: Int32Array,
    inspection: WordsInspection = NO_WORDS,
  ) {
    super();
    this.#kind = kind;
    this.#words = words as Int32Array<SharedArrayBuffer>;
    this.#inspection = inspection;
    explorer()?.meet?.(this);
  }

  /** Names the primitive's algorithm and layout, such as `"mutex"`. */
  get kind(): Kind {
    return this.#kind;
  }

  /** The memory the primitive lies in. */
  get buffer(): SharedArrayBuffer {
    return this.#words.buffer;
  }

  /** Where it begins in `buffer`, in bytes. */
  get byteOffset(): number {
    return this.#words.byteOffset;
  }

  /** The bytes it occupies. */
  get byteLength(): number {
    return this.#words.byteLength;
  }

  /** The value to post to another agent, which attaches with `from`. */
  get handle(): Handle<Kind> {
    const { kind, buffer, byteOffset } = this;
    return { kind, buffer, byteOffset };
  }

  /**
   * The state of the primitive, as `inspect` returns it.
   *
   * @ignore
   */
  protected inspected(): unknown {
    return inspectWords(this.#kind, this.#inspection, this.#words);
  }
}

/**
 * The memory that a handle names.
 *
 * @throws {TypeError} If it is not a handle of this kind.
 */
export function fromHandle(
  kind: string,
  handle: Handle,
): [memory: Memory, byteOffset: number] {
  const found: unknown = handle?.kind;
  if (found === kind) return [handle.buffer, handle.byteOffset];
  throw new TypeError(
    typeof found === "string"
      ? `Cannot open ${aKind(kind)} from a handle of kind ${brief(found)}`
      : `Cannot open ${aKind(kind)}: expected a handle: received ` +
        `${describe(handle)}; post the \`handle\` of a primitive, not the ` +
        "primitive itself",
  );
}

/** The part of a row in `layout.ts` that is used here. */
interface Row {
  readonly length: number;
}

/** The row of a primitive that carries its configuration. */
interface ConfiguredRow extends Row {
  /** The index of `seal`: after `magic` and the configuration words. */
  readonly seal: number;
}

/** Views the words of a primitive for which zeroed memory is valid. */
export function viewPlain(
  kind: string,
  row: Row,
  memory: Memory,
  byteOffset: number | bigint,
): Int32Array<SharedArrayBuffer> {
  return wordsAt(kind, bufferOf(memory), byteOffset, row.length * 4);
}

const magicOf = (kind: ConfiguredStem): number =>
  SIGNATURE << 16 | KIND[kind] << 8 | VERSION;

/**
 * A check word over the configuration. It shows that memory was overwritten.
 */
export function sealOf(magic: number, first: number, second: number): number {
  return ~(magic ^ Math.imul(first, 31) ^ Math.imul(second, 0x9e3779b1));
}

/**
 * Zeroes a region and writes its configuration. The `magic` word is stored
 * last and atomically, so that an agent that sees it sees the rest, too.
 */
export function format(
  kind: ConfiguredStem,
  { seal }: ConfiguredRow,
  memory: Memory,
  byteOffset: number | bigint,
  byteLength: number,
  config: readonly number[],
  fill?: (words: Int32Array<SharedArrayBuffer>) => void,
): void {
  const words = wordsAt(kind, bufferOf(memory), byteOffset, byteLength);
  const magic = magicOf(kind);
  if (!isNew(words.buffer)) words.fill(0);
  words.set(config, 1);
  words[seal] = sealOf(
    magic,
    seal > 1 ? config[0]! : 0,
    seal > 2 ? config[1]! : 0,
  );
  fill?.(words);
  Atomics.store(words, 0, magic);
}

/**
 * Attaches to a formatted region: checks its kind, version and seal, asks
 * `byteLength` how long a region of this configuration is, and views it.
 * `byteLength` throws a RangeError for a configuration that `format` never
 * gets: then the seal was forged.
 *
 * @throws {TypeError} If no such primitive was initialized there.
 * @throws {RangeError} If it does not fit there.
 */
export function attach(
  kind: ConfiguredStem,
  { seal, length }: ConfiguredRow,
  memory: Memory,
  byteOffset: number | bigint,
  byteLength: (first: number, second: number, head: Int32Array) => number,
): Int32Array<SharedArrayBuffer> {
  const buffer = bufferOf(memory);
  const head = wordsAt(kind, buffer, byteOffset, length * 4);
  const magic = Atomics.load(head, 0);
  const expected = magicOf(kind);
  if (magic !== expected) throw new TypeError(mismatch(kind, magic, expected));
  const first = seal > 1 ? head[1]! : 0;
  const second = seal > 2 ? head[2]! : 0;
  if (head[seal] !== sealOf(magic, first, second)) {
    throw new TypeError(
      `Cannot attach ${aKind(kind)} at ${head.byteOffset}: its configuration ` +
        `(${head.slice(1, seal).join(", ")}) does not match its seal`,
    );
  }
  return wordsAt(
    kind,
    buffer,
    byteOffset,
    bytesOf(kind, first, second, head, byteLength),
  );
}

/** The length of a region, unless its configuration is impossible. */
function bytesOf(
  kind: string,
  first: number,
  second: number,
  head: Int32Array,
  byteLength: (first: number, second: number, head: Int32Array) => number,
): number {
  try {
    return byteLength(first, second, head);
  } catch (error) {
    throw new TypeError(
      `Cannot attach ${aKind(kind)}: its configuration is impossible: ` +
        (error as Error).message,
    );
  }
}

function mismatch(kind: string, magic: number, expected: number): string {
  const found = `found ${hex(magic)}, expected ${hex(expected)}`;
  return `Cannot attach ${aKind(kind)}: ${why(magic, expected)}: ${found}`;
}

/** Why these words are no such primitive. */
function why(magic: number, expected: number): string {
  if (magic >>> 16 !== SIGNATURE) return "no initialized primitive here";
  if ((magic & 0xff00) !== (expected & 0xff00)) {
    const number = magic >>> 8 & 0xff;
    const other = Object.entries(KIND).find(([, n]) => n === number)?.[0];
    return `this is ${aKind(other ?? "newer kind")}`;
  }
  return `layout version ${magic & 0xff}, this library has ${VERSION}`;
}

const hex = (word: number): string =>
  `0x${(word >>> 0).toString(16).padStart(8, "0")}`;
