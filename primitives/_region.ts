import { type ConfiguredStem, KIND, SIGNATURE, VERSION } from "./_layout.ts";
import { bufferOf, type Memory } from "./_memory.ts";

export {
  allocate,
  bufferOf,
  inRange,
  isSupported,
  type Memory,
} from "./_memory.ts";

/**
 * A primitive as a message: structured-cloneable, so that `postMessage` takes
 * it to another agent, where `X.from(handle)` attaches.
 */
export interface Handle<Kind extends string = string> {
  /** The name of the primitive, such as `"mutex"`. */
  readonly kind: Kind;
  /** The memory it lies in. */
  readonly buffer: Memory;
  /** Where it begins, in bytes. */
  readonly byteOffset: number;
}

/** Checks a place for `byteLength` bytes, and views it as words. */
export function wordsAt(
  name: string,
  buffer: SharedArrayBuffer,
  byteOffset: number,
  byteLength: number,
): Int32Array<SharedArrayBuffer> {
  if (!Number.isInteger(byteOffset) || byteOffset < 0 || byteOffset % 4 !== 0) {
    throw new RangeError(
      `Cannot place a ${name}: byteOffset must be a multiple of 4, not below ` +
        `0: received ${byteOffset}`,
    );
  }
  if (byteOffset + byteLength > buffer.byteLength) {
    throw new RangeError(
      `Cannot place a ${name}: ${byteLength} bytes at ${byteOffset} do not ` +
        `fit in memory of ${buffer.byteLength} bytes`,
    );
  }
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

/** What `inspect` can tell of a primitive, and how; masks are next to it. */
export interface WordsInspection {
  /** Its row in `_layout.ts`. */
  readonly row: Readonly<Record<string, number>>;
  /** Finds its owner in a copy of its words. */
  readonly owner?: (words: Int32Array) => number;
  /** Counts who waits: 1 for each flag that says that somebody may. */
  readonly waiters?: (words: Int32Array) => number;
}

/** Of what has no words of its own. */
const NOTHING: WordsInspection = { row: {} };

/** What a primitive's words say, as `inspect` answers. */
export interface Inspection {
  /** The name of the primitive, such as `"mutex"`. */
  readonly kind: string;
  /** Where it begins, in bytes. */
  readonly byteOffset: number;
  /** Its words by name, each as it was at some moment of the look. */
  readonly words: Readonly<Record<string, number>>;
  /** The id of the agent that owns it, or 0; missing where nobody can. */
  readonly owner?: number;
  /**
   * How many wait for it; missing where nobody can. Where the words only note
   * that somebody may wait, that counts as 1.
   */
  readonly waiters?: number;
}

/** Looks at the primitive that begins where `at` does; writes nothing. */
export function inspectWords(
  kind: string,
  { row, owner, waiters }: WordsInspection,
  at: Int32Array,
): Inspection {
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

/**
 * A view of one primitive's words. `buffer` and `byteOffset` are its whole
 * identity: two views of the same bytes are the same primitive.
 */
export abstract class Region<Kind extends string = string> {
  /** The memory the primitive lies in. */
  readonly buffer: SharedArrayBuffer;
  /** Where it begins in `buffer`, in bytes. */
  readonly byteOffset: number;
  /** The bytes it occupies. */
  readonly byteLength: number;
  /** Names the primitive's algorithm and layout, such as `"mutex"`. */
  readonly kind: Kind;
  readonly #shown: WordsInspection;

  /**
   * Views `words`, whose place was checked.
   *
   * @ignore
   */
  protected constructor(
    kind: Kind,
    words: Int32Array,
    shown: WordsInspection = NOTHING,
  ) {
    this.kind = kind;
    this.#shown = shown;
    this.buffer = words.buffer as SharedArrayBuffer;
    this.byteOffset = words.byteOffset;
    this.byteLength = words.byteLength;
  }

  /** What `postMessage` can take to another agent. */
  get handle(): Handle<Kind> {
    const { kind, buffer, byteOffset } = this;
    return { kind, buffer, byteOffset };
  }

  /** What Node's console shows: what `inspect` tells of it. */
  [IN_NODE](): unknown {
    const words = new Int32Array(this.buffer, this.byteOffset);
    return inspectWords(this.kind, this.#shown, words);
  }

  /** The same for Deno's, which `show` makes a text of. */
  [IN_DENO](
    show: (value: unknown, options?: unknown) => string,
    options?: unknown,
  ): string {
    return show(this[IN_NODE](), options);
  }
}

/** The memory a handle names; a TypeError if it is of another kind. */
export function fromHandle(
  kind: string,
  handle: Handle,
): [memory: Memory, byteOffset: number] {
  if (handle?.kind === kind) return [handle.buffer, handle.byteOffset];
  throw new TypeError(
    `Cannot open a ${kind} from a handle of kind ${handle?.kind}`,
  );
}

/** What is needed of a primitive's row in `_layout.ts`. */
interface Row {
  readonly length: number;
}

/** The same of one that carries its configuration. */
interface ConfiguredRow extends Row {
  /** The index of `seal`: after `magic` and the configuration words. */
  readonly seal: number;
}

/** Views the words of a primitive that zeroed memory already is. */
export function viewPlain(
  kind: string,
  row: Row,
  memory: Memory,
  byteOffset: number,
): Int32Array<SharedArrayBuffer> {
  return wordsAt(kind, bufferOf(memory), byteOffset, row.length * 4);
}

const magicOf = (kind: ConfiguredStem): number =>
  SIGNATURE << 16 | KIND[kind] << 8 | VERSION;

/** A check word over the configuration, so that torn memory is noticed. */
function sealOf(magic: number, first: number, second: number): number {
  return ~(magic ^ Math.imul(first, 31) ^ Math.imul(second, 0x9e3779b1));
}

/**
 * Zeroes a region and writes its configuration. The `magic` word goes in last,
 * by an atomic store, so that whoever sees it sees the rest.
 */
export function format(
  kind: ConfiguredStem,
  { seal }: ConfiguredRow,
  memory: Memory,
  byteOffset: number,
  byteLength: number,
  config: readonly number[],
  fill?: (words: Int32Array<SharedArrayBuffer>) => void,
): void {
  const words = wordsAt(kind, bufferOf(memory), byteOffset, byteLength);
  const magic = magicOf(kind);
  words.fill(0);
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
 * Attaches to a formatted region: checks kind, version and seal, asks
 * `byteLength` how long a region of this configuration is, and views it.
 */
export function attach(
  kind: ConfiguredStem,
  { seal, length }: ConfiguredRow,
  memory: Memory,
  byteOffset: number,
  byteLength: (first: number, second: number) => number,
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
      `Cannot attach a ${kind} at ${byteOffset}: its configuration ` +
        `(${head.slice(1, seal).join(", ")}) does not match its seal`,
    );
  }
  return wordsAt(kind, buffer, byteOffset, byteLength(first, second));
}

function mismatch(kind: string, magic: number, expected: number): string {
  const found = `found ${hex(magic)}, expected ${hex(expected)}`;
  if (magic >>> 16 !== SIGNATURE) {
    return `Cannot attach a ${kind}: no initialized primitive here: ${found}`;
  }
  if ((magic & 0xff00) !== (expected & 0xff00)) {
    const number = magic >>> 8 & 0xff;
    const other = Object.entries(KIND).find(([, n]) => n === number)?.[0];
    return `Cannot attach a ${kind}: this is a ${other ?? "newer kind"}: ` +
      found;
  }
  return `Cannot attach a ${kind}: layout version ${magic & 0xff}, this ` +
    `library has ${VERSION}: ${found}`;
}

const hex = (word: number): string =>
  `0x${(word >>> 0).toString(16).padStart(8, "0")}`;
