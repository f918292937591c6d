// also: node
// limit: 300 s
// Calls every constructor and method of every class with arguments of all
// kinds. The methods are read from the classes, so that new ones take part.
import * as assert from "uvu/assert";
import fc from "fast-check";
import { ClosedError, Mutex, type Region } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { type Kind, KINDS } from "../_run/kinds.ts";

const test = suite("Wrong arguments");

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
      2 ** 53,
      Infinity,
      -Infinity,
      0n,
      1n,
      "",
      "1",
      "mutex",
    ].map((value) => [`${typeof value} ${String(value)}`, () => value]),
  ),
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

/** Whether an error is one that the documentation promises. */
function isDocumented(error: unknown): boolean {
  if (error instanceof Thrown || error instanceof WouldSleep) return true;
  if (error instanceof ClosedError) return true;
  return (error instanceof TypeError || error instanceof RangeError) &&
    !ACCIDENT.test(error.message);
}

/** Methods that only the classes themselves call, with checked arguments. */
const PROTECTED = /Of(Slot|Record)$|^inspected$|^(block|async|tryAsync)At$/;

/** The names of all methods of a view. */
function methodsOf(view: Region): string[] {
  const names = new Set<string>();
  let from = Object.getPrototypeOf(view);
  while (from !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(from)) {
      const { value } = Object.getOwnPropertyDescriptor(from, name)!;
      if (name === "constructor" || PROTECTED.test(name)) continue;
      if (typeof value === "function") {
        names.add(name);
      }
    }
    from = Object.getPrototypeOf(from);
  }
  return [...names];
}

/** A primitive between two margins. */
function placed(kind: Kind): { view: Region; bytes: Uint8Array } {
  const length = kind.byteLength + 2 * MARGIN;
  const bytes = new Uint8Array(new SharedArrayBuffer(length)).fill(MARK);
  const view = kind.init(bytes.buffer as SharedArrayBuffer, MARGIN);
  return { view, bytes };
}

const isWhole = (bytes: Uint8Array): boolean =>
  bytes.every((byte, i) =>
    i >= MARGIN && i < bytes.length - MARGIN || byte === MARK
  );

const globals = globalThis as unknown as { setInterval: unknown };

/**
 * Runs `body` where no call sleeps, and no pending wait keeps the process
 * alive.
 */
async function awake(body: () => Promise<void>): Promise<void> {
  const { wait } = Atomics;
  const { setInterval } = globals;
  (Atomics as { wait: unknown }).wait = () => {
    throw new WouldSleep();
  };
  globals.setInterval = () => ({ ref() {}, unref() {} });
  try {
    await body();
  } finally {
    (Atomics as { wait: unknown }).wait = wait;
    globals.setInterval = setInterval;
  }
}

const names = Object.keys(ARGUMENTS);
const call = fc.array(fc.constantFrom(...names), { maxLength: 3 });

/** How a call ended: `"pending"` if it waits. */
async function endOf(run: () => unknown): Promise<unknown> {
  const later = async () => {
    for (let i = 0; i < 20; i++) await null;
    return "pending";
  };
  try {
    const result = run();
    if (result instanceof Promise) {
      result.catch(() => {});
      return await Promise.race([result.then(() => undefined), later()]);
    }
    return undefined;
  } catch (error) {
    return { error };
  }
}

for (const kind of KINDS) {
  const methods = methodsOf(placed(kind).view);

  for (const method of methods) {
    test(`${kind.stem}: ${method}() works, or refuses and changes nothing`, async () => {
      await awake(() =>
        fc.assert(
          fc.asyncProperty(call, async (call) => {
            const { view, bytes } = placed(kind);
            const before = bytes.slice();
            const args = call.map((name) => ARGUMENTS[name]!());
            const fn = Reflect.get(view, method) as (
              ...a: unknown[]
            ) => unknown;
            const end = await endOf(() => fn.apply(view, args));
            assert.ok(isWhole(bytes), "it wrote outside of its memory");
            const error = (end as { error?: unknown } | undefined)?.error;
            if (error === undefined) return;
            assert.ok(isDocumented(error), `it threw ${error}`);
            if (error instanceof WouldSleep) return;
            const at = bytes.findIndex((byte, i) => byte !== before[i]);
            assert.is(at, -1, `byte ${at} changed, and it threw ${error}`);
          }),
          { numRuns: 120 },
        )
      );
    });
  }

  // A channel's codec is not checked in full yet.
  if (kind.stem === "channel") continue;

  test(`${kind.stem}: every way to make one works, or refuses`, async () => {
    const Class = placed(kind).view.constructor as unknown as
      & Record<string, (...args: unknown[]) => unknown>
      & (new (...args: unknown[]) => unknown);
    const ways = Object.getOwnPropertyNames(Class)
      .filter((name) => typeof Class[name] === "function");
    const way = fc.constantFrom("new", ...ways);
    const run = fc.tuple(way, fc.boolean(), call);
    await awake(() =>
      fc.assert(
        fc.asyncProperty(run, async ([way, here, call]) => {
          const { bytes } = placed(kind);
          const before = bytes.slice();
          const wild = call.map((name) => ARGUMENTS[name]!());
          const args = here ? [bytes.buffer, ...wild] : wild;
          const end = await endOf(() =>
            way === "new" ? new Class(...args) : Class[way]!(...args)
          );
          const error = (end as { error?: unknown } | undefined)?.error;
          if (error === undefined) return;
          assert.ok(isDocumented(error), `${way} threw ${error}`);
          const at = bytes.findIndex((byte, i) => byte !== before[i]);
          assert.is(at, -1, `byte ${at} changed, and ${way} threw ${error}`);
        }),
        { numRuns: 300 },
      )
    );
  });
}
