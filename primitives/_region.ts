import { type ConfiguredStem, KIND, SIGNATURE, VERSION } from "./_layout.ts";

/** Memory that agents can share; anything else is refused with a TypeError. */
export type Memory = SharedArrayBuffer | WebAssembly.Memory;

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

/** Whether this realm can share memory, and if not, why. */
export function isSupported(): { ok: boolean; reason?: string } {
  if (typeof SharedArrayBuffer === "undefined") {
    const reason = "SharedArrayBuffer is missing: a page needs the headers " +
      "Cross-Origin-Opener-Policy: same-origin and " +
      "Cross-Origin-Embedder-Policy: require-corp";
    return { ok: false, reason };
  }
  if (typeof Atomics === "undefined") {
    return { ok: false, reason: "Atomics is missing" };
  }
  return { ok: true };
}

// By tag and not by `instanceof`, which fails for another realm's objects.
const tagOf = (value: unknown): string =>
  Object.prototype.toString.call(value).slice(8, -1);

/** The current buffer of `memory`; a TypeError if it is not shared. */
export function bufferOf(memory: Memory): SharedArrayBuffer {
  const { ok, reason } = isSupported();
  if (!ok) throw new TypeError(`Cannot share memory: ${reason}`);
  const buffer: unknown = tagOf(memory) === "WebAssembly.Memory"
    ? (memory as WebAssembly.Memory).buffer
    : memory;
  if (tagOf(buffer) === "SharedArrayBuffer") return buffer as SharedArrayBuffer;
  throw new TypeError(
    `Cannot use ${tagOf(memory)} as shared memory: expected a ` +
      "SharedArrayBuffer or a shared WebAssembly.Memory",
  );
}

/** `value`, if it is an integer from `low` to `high`; else a RangeError. */
export function inRange(
  what: string,
  value: number,
  low: number,
  high: number,
): number {
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  throw new RangeError(
    `${what} must be an integer from ${low} to ${high}: received ${value}`,
  );
}

/** Checks a place for `byteLength` bytes, and views it as words. */
function wordsAt(
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

  /** Views `words`, whose place was checked. */
  protected constructor(kind: Kind, words: Int32Array) {
    this.kind = kind;
    this.buffer = words.buffer as SharedArrayBuffer;
    this.byteOffset = words.byteOffset;
    this.byteLength = words.byteLength;
  }

  /** What `postMessage` can take to another agent. */
  get handle(): Handle<Kind> {
    const { kind, buffer, byteOffset } = this;
    return { kind, buffer, byteOffset };
  }
}

/** The memory a handle names; a TypeError if it is of another kind. */
export function opened(
  kind: string,
  handle: Handle,
): [memory: Memory, byteOffset: number] {
  if (handle?.kind === kind) return [handle.buffer, handle.byteOffset];
  throw new TypeError(
    `Cannot open a ${kind} from a handle of kind ${handle?.kind}`,
  );
}

/** Fresh memory of `byteLength` bytes, all zero. */
export function allocate(byteLength: number): SharedArrayBuffer {
  const { ok, reason } = isSupported();
  if (!ok) throw new TypeError(`Cannot share memory: ${reason}`);
  return new SharedArrayBuffer(byteLength);
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
