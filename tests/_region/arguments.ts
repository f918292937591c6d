/**
 * Calls every constructor, method, accessor and function that `mod.ts` exports
 * with arguments of all kinds. They are read from the exports, so that new ones
 * take part. A call works, or throws a documented error and changes nothing.
 *
 * @module
 */
import * as weft from "../../mod.ts";
import {
  agentId,
  Broadcast,
  CallRing,
  Channel,
  ClosedError,
  codec,
  encodeValue,
  MpmcQueue,
  Mutex,
  type Region,
  RwLock,
  Semaphore,
  setAgentId,
  struct,
  viewValue,
} from "../../mod.ts";
import { type Kind, KINDS } from "../_run/kinds.ts";

/** Thrown by getters of arguments: the only error that may pass through. */
class Thrown extends Error {}
/** Thrown in place of a sleep: the call was correct and would wait. */
class WouldSleep extends Error {}

/** Bytes around the primitive, which nothing may change. */
const MARGIN = 64;
const MARK = 0x5a;

const detached = () => {
  const bytes = new Uint8Array(8);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
};

type Resizable = new (
  length: number,
  options: { maxByteLength: number },
) => ArrayBuffer & { resize(length: number): void };

/** A view of a buffer that has shrunk since. */
const shrunk = () => {
  const buffer = new (ArrayBuffer as unknown as Resizable)(16, {
    maxByteLength: 64,
  });
  const bytes = new Uint8Array(buffer, 8);
  buffer.resize?.(4);
  return bytes;
};

const growable = () =>
  new (SharedArrayBuffer as unknown as Resizable)(8, { maxByteLength: 64 });

const throws = (name: string) => ({
  get [name](): never {
    throw new Thrown(name);
  },
});

/** A name, a message or a value that no error may quote whole. */
const LONG = "a\u00e9\n".repeat(30_000);

class Long {}
Object.defineProperty(Long, "name", { value: LONG });

const locked = () => {
  const mutex = Mutex.create();
  mutex.lock();
  return mutex;
};

/** Makes an argument: fresh, because a call may change it. */
const ARGUMENTS: Record<string, () => unknown> = {
  ...Object.fromEntries(
    [
      undefined,
      null,
      true,
      NaN,
      -0,
      0,
      1,
      2,
      4,
      64,
      -1,
      1.5,
      2 ** 31,
      -(2 ** 31),
      2 ** 32,
      2 ** 53,
      Number.MIN_VALUE,
      Infinity,
      -Infinity,
      0n,
      1n,
      2n ** 64n,
      "",
      "1",
      "mutex",
    ].map((value) => [`${typeof value} ${String(value)}`, () => value]),
  ),
  "a long text": () => LONG,
  "a long symbol": () => Symbol(LONG),
  "a long bigint": () => 1n << 10_000n,
  "an object with a long tag": () => ({ [Symbol.toStringTag]: LONG }),
  "an object with a long name": () => ({ [LONG]: undefined }),
  "a long path": () => ({ [LONG]: [{ [LONG]: [undefined] }] }),
  "a long path in a list": () => [{ [LONG]: [() => {}] }],
  "a handle of a long kind": () => ({ kind: LONG, buffer: 1, byteOffset: 0 }),
  "an instance of a class with a long name": () => new Long(),
  "a class with a long name": () => Long,
  "a long option": () => ({ timeout: LONG, signal: LONG, capacity: LONG }),
  "a codec with a long name": () => ({
    name: LONG,
    encode: () => LONG,
    decode: () => LONG,
  }),
  "a symbol": () => Symbol("s"),
  "a function": () => () => {},
  "{}": () => ({}),
  "[]": () => [],
  "[1]": () => [1],
  "a date": () => new Date(0),
  "a frozen object": () => Object.freeze({}),
  "an object without a prototype": () => Object.create(null),
  "{ timeout: 1 }": () => ({ timeout: 1 }),
  "{ timeout: 1n }": () => ({ timeout: 1n }),
  "{ timeout: NaN }": () => ({ timeout: NaN }),
  "{ signal: 5 }": () => ({ signal: 5 }),
  "{ signal }": () => ({ signal: AbortSignal.abort(new Thrown("abort")) }),
  "{ ref: 0 }": () => ({ ref: 0 }),
  "{ arrived: true }": () => ({ arrived: true }),
  "{ arrived: 1 }": () => ({ arrived: 1 }),
  "{ capacity: 8 }": () => ({ capacity: 8 }),
  "{ size: 8 }": () => ({ size: 8 }),
  "{ capacity: 1n }": () => ({ capacity: 1n }),
  "{ capacity: 8, blockSize: 8 }": () => ({ capacity: 8, blockSize: 8 }),
  "{ kind, buffer }": () => ({ kind: "mutex", buffer: 1, byteOffset: 0 }),
  "a getter that throws": () => throws("timeout"),
  "a capacity that throws": () => throws("capacity"),
  "a kind that throws": () => throws("kind"),
  "an ArrayBuffer": () => new ArrayBuffer(8),
  "a SharedArrayBuffer": () => new SharedArrayBuffer(4096),
  "an odd SharedArrayBuffer": () => new SharedArrayBuffer(4101),
  "a growable buffer": growable,
  "4 bytes": () => new Uint8Array(4),
  "a word": () => new Int32Array(1),
  "a double": () => new Float64Array(1),
  "a DataView": () => new DataView(new ArrayBuffer(4)),
  "detached bytes": detached,
  "shrunk bytes": shrunk,
  "a locked mutex": locked,
  "a free mutex": () => Mutex.create(),
};

/**
 * Messages of engines about mistakes in a program. A wrong argument must never
 * cause one.
 */
const ACCIDENT =
  /Cannot (read|destructure|convert|mix|access|set)|is not a function|not iterable|undefined is|null is|is not a constructor|not an integer/i;

/** The most letters of a message, whatever the arguments are. */
const MOST = 500;

/** Whether an error is one that the documentation promises. */
function isDocumented(error: unknown): boolean {
  if (error instanceof Thrown || error instanceof WouldSleep) return true;
  if ((error as Error).message.length > MOST) return false;
  if (error instanceof ClosedError) return true;
  return (error instanceof TypeError || error instanceof RangeError) &&
    !ACCIDENT.test(error.message);
}

/** Methods that only the classes themselves call, with checked arguments. */
const PROTECTED = /Of(Slot|Record)$|^inspected$|^(block|async|tryAsync)At$/;

/** A primitive between two margins. */
function placed(kind: Kind): { view: Region; bytes: Uint8Array } {
  const length = kind.byteLength + 2 * MARGIN;
  const bytes = new Uint8Array(new SharedArrayBuffer(length)).fill(MARK);
  const view = kind.init(bytes.buffer as SharedArrayBuffer, MARGIN);
  return { view, bytes };
}

const isWhole = (bytes: Uint8Array): boolean =>
  [bytes.subarray(0, MARGIN), bytes.subarray(-MARGIN)]
    .every((margin) => margin.every((byte) => byte === MARK));

type Callable = (...args: unknown[]) => unknown;

/** What a call is made on. */
interface Made {
  /** The receiver; undefined for a function. */
  readonly target: unknown;
  readonly call: Callable;
  /** Bytes that a refused call leaves as they were. */
  readonly bytes: Uint8Array;
  /** Whether the bytes lie between two margins. */
  readonly margins: boolean;
}

/** One method, constructor or function. */
export interface Subject {
  readonly name: string;
  /** Fresh, because a call may change everything. */
  make(): Made;
}

const globals = globalThis as unknown as { setInterval: unknown };

/**
 * Runs `body` where no call sleeps, and no pending wait keeps the process
 * alive.
 */
async function awake<T>(body: () => Promise<T>): Promise<T> {
  const { wait } = Atomics;
  const { setInterval } = globals;
  const id = agentId();
  (Atomics as { wait: unknown }).wait = () => {
    throw new WouldSleep();
  };
  globals.setInterval = () => ({ ref() {}, unref() {} });
  try {
    return await body();
  } finally {
    (Atomics as { wait: unknown }).wait = wait;
    globals.setInterval = setInterval;
    setAgentId(id);
  }
}

/** The names of all methods and accessors of an object. */
function membersOf(target: object): [name: string, call: Callable][] {
  const members = new Map<string, Callable>();
  let from = Object.getPrototypeOf(target);
  while (from !== Object.prototype && from !== null) {
    for (const name of Object.getOwnPropertyNames(from)) {
      if (name === "constructor" || PROTECTED.test(name)) continue;
      const found = Object.getOwnPropertyDescriptor(from, name)!;
      if (members.has(name)) continue;
      if (typeof found.value === "function") members.set(name, found.value);
      else if (found.get) members.set(name, found.get);
    }
    from = Object.getPrototypeOf(from);
  }
  return [...members];
}

/** What is made of a primitive, and where its bytes are. */
const OFFSPRING: Readonly<Record<string, () => [object, SharedArrayBuffer]>> = {
  MutexGuard() {
    const mutex = Mutex.create();
    return [mutex.lock(), mutex.buffer];
  },
  RwReadGuard() {
    const lock = RwLock.create();
    return [lock.read(), lock.buffer];
  },
  RwWriteGuard() {
    const lock = RwLock.create();
    return [lock.write(), lock.buffer];
  },
  SemaphorePermit() {
    const semaphore = Semaphore.create(1);
    return [semaphore.permit(), semaphore.buffer];
  },
  Subscription() {
    const cast = Broadcast.create({ capacity: 4 });
    const subscription = cast.subscribe();
    cast.tryPushInt(1);
    return [subscription, cast.buffer];
  },
  TypedQueue() {
    const element = struct({ x: "i32" });
    const queue = MpmcQueue.create({ capacity: 4, element });
    return [queue, queue.untyped.buffer];
  },
  PendingCall() {
    const ring = CallRing.create({ slots: 2, request: 8, reply: 8 });
    return [ring.tryPost(new Uint8Array(4))!, ring.buffer];
  },
  TakenCall() {
    const ring = CallRing.create({ slots: 2, request: 8, reply: 8 });
    ring.tryPost(new Uint8Array(4));
    return [ring.tryTake()!, ring.buffer];
  },
  PeekedMessage() {
    const channel = Channel.create({ codec: codec.binary, capacity: 4 });
    channel.send(Uint8Array.of(1));
    return [channel.peek(), channel.buffer];
  },
  ReservedMessage() {
    const channel = Channel.create({ codec: codec.binary, capacity: 4 });
    return [channel.reserve(8), channel.buffer];
  },
  ValueView() {
    const buffer = new SharedArrayBuffer(64);
    const bytes = new Uint8Array(buffer);
    const length = encodeValue({ items: [1, "two"] }, bytes);
    return [viewValue(bytes.subarray(0, length)), buffer];
  },
};

/** Bases, which nobody makes, and errors, which take any text. */
const NOT_MADE = /^(Region|Printable|TypedQueueBase|ReservedBase|\w+Error)$/;

const isClass = (value: unknown): value is Callable =>
  typeof value === "function" &&
  /^class\b/.test(Function.prototype.toString.call(value));

/** The methods of every class, and every function. */
export function subjectsOf(): Subject[] {
  const subjects: Subject[] = [];
  for (const kind of KINDS) addKind(kind, subjects);
  const regions = KINDS.map((kind) => placed(kind).view.constructor);
  for (const [name, value] of Object.entries(weft)) {
    if (NOT_MADE.test(name) || regions.includes(value as never)) continue;
    if (isClass(value)) {
      const make = OFFSPRING[name];
      if (!make) throw new Error(`say in OFFSPRING how a ${name} is made`);
      addOffspring(name, make, subjects);
    } else {
      addFunctions(name, value, subjects);
    }
  }
  addCodecs(subjects);
  return subjects;
}

function addKind(kind: Kind, subjects: Subject[]): void {
  const { stem } = kind;
  for (const [name, call] of membersOf(placed(kind).view)) {
    subjects.push({
      name: `${stem}: ${name}`,
      make() {
        const { view, bytes } = placed(kind);
        return { target: view, call, bytes, margins: true };
      },
    });
  }
  // A channel's codec is not checked in full yet.
  if (stem === "channel") return;
  const Class = placed(kind).view.constructor as unknown as
    & Record<string, Callable>
    & (new (...args: unknown[]) => unknown);
  const ways = Object.getOwnPropertyNames(Class)
    .filter((name) => typeof Class[name] === "function");
  for (const way of ["new", ...ways]) {
    for (const here of way === "create" ? [false] : [false, true]) {
      subjects.push({
        name: `${stem}: ${way}${here ? " in a region" : ""}`,
        make() {
          const { bytes } = placed(kind);
          const call = (...args: unknown[]) => {
            const all = here ? [bytes.buffer, ...args] : args;
            return way === "new" ? new Class(...all) : Class[way]!(...all);
          };
          return { target: Class, call, bytes, margins: false };
        },
      });
    }
  }
}

function addOffspring(
  name: string,
  make: () => [object, SharedArrayBuffer],
  subjects: Subject[],
): void {
  for (const [member, call] of membersOf(make()[0])) {
    subjects.push({
      name: `${name}: ${member}`,
      make() {
        const [target, buffer] = make();
        return { target, call, bytes: new Uint8Array(buffer), margins: false };
      },
    });
  }
}

/** What takes values: by each codec. */
function addCodecs(subjects: Subject[]): void {
  const record = codec.record(struct({ id: "u32", big: "i64", x: "f64" }));
  const { binary, text, json, i32, f64 } = codec;
  for (
    const one of [binary, text, json, i32, f64, record, weft.valueCodec]
  ) {
    const any = one as weft.Codec<never>;
    const make = (): Pick<Made, "target" | "bytes" | "margins"> & {
      channel: Channel<never>;
    } => {
      const channel = Channel.create<never>({ codec: any, capacity: 4 });
      // It learns the names of objects also from values that are too long.
      const learns = one === weft.valueCodec;
      const bytes = new Uint8Array(learns ? 0 : channel.buffer as never);
      return { channel, target: channel, bytes, margins: false };
    };
    subjects.push({
      name: `channel of ${one.name}: trySend`,
      make() {
        const made = make();
        return { ...made, call: made.channel.trySend as Callable };
      },
    });
    subjects.push({
      name: `hash_map of ${one.name}: set`,
      make() {
        const sizes = "field" in one ? {} : { keySize: 32, valueSize: 32 };
        const map = weft.HashMap.create<never, never>({
          capacity: 4,
          key: any,
          value: any,
          ...sizes,
        });
        const bytes = new Uint8Array(map.buffer);
        return {
          target: map,
          call: map.set as Callable,
          bytes,
          margins: false,
        };
      },
    });
  }
}

/** A function, and the functions that hang on it or on a namespace. */
function addFunctions(
  name: string,
  value: unknown,
  subjects: Subject[],
): void {
  if (typeof value === "function") {
    const call = value as Callable;
    const bytes = new Uint8Array();
    subjects.push({
      name,
      make: () => ({ target: undefined, call, bytes, margins: false }),
    });
  }
  if (name === "field" || name === "codec" || typeof value === "function") {
    for (const [member, inner] of Object.entries(value as object)) {
      if (typeof inner !== "function") continue;
      addFunctions(`${name}.${member}`, inner, subjects);
    }
  }
}

const names = Object.keys(ARGUMENTS);

/** The arguments of call number `i`: none, each one alone, then mixtures. */
function argumentsOf(i: number, seed: number): string[] {
  if (i === 0) return [];
  if (i <= names.length) return [names[i - 1]!];
  let state = Math.imul(seed * 100_003 + i, 0x9e3779b1);
  const random = (n: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
  };
  return Array.from(
    { length: 1 + random(3) },
    () => names[random(names.length)]!,
  );
}

/** How many calls have each argument alone, or none. */
export const SINGLE: number = names.length + 1;

/** Lets promises settle that do not wait. */
async function settled(result: Promise<unknown>): Promise<unknown> {
  result.catch(() => {});
  const later = async () => {
    for (let i = 0; i < 20; i++) await null;
  };
  return await Promise.race([result, later()]);
}

/**
 * Makes the calls from number `from` on with arguments of all kinds. Returns
 * what is wrong, or undefined.
 */
export function callWrongly(
  { name, make }: Subject,
  from: number,
  count: number,
  seed: number,
): Promise<string | undefined> {
  return awake(async () => {
    for (let i = from; i < from + count; i++) {
      const words = argumentsOf(i, seed);
      const wrong = await callOnce(make(), words);
      if (wrong !== undefined) return `${name}(${words.join(", ")}) ${wrong}`;
    }
  });
}

async function callOnce(
  { target, call, bytes, margins }: Made,
  words: readonly string[],
): Promise<string | undefined> {
  const before = bytes.slice();
  try {
    const result = call.apply(target, words.map((word) => ARGUMENTS[word]!()));
    if (result instanceof Promise) await settled(result);
  } catch (error) {
    if (!isDocumented(error)) return `threw ${String(error).slice(0, MOST)}`;
    if (error instanceof WouldSleep) return;
    const at = bytes.findIndex((byte, i) => byte !== before[i]);
    if (at >= 0) return `changed byte ${at} and threw ${error}`;
  }
  return margins && !isWhole(bytes) ? "wrote outside of its memory" : undefined;
}
