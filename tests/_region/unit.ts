// also: node, browsers
// Tests where a primitive may lie, and which places are refused.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  isSupported,
  layout,
  type Memory,
  MpmcQueue,
  Mutex,
  type MutexGuard,
  Semaphore,
  type SemaphorePermit,
  Snapshot,
} from "../../mod.ts";
import { type KIND, LAYOUT, VERSION } from "../../primitives/_memory/layout.ts";
import * as kernel from "../../primitives/kernel/kernel.ts";
import * as realtime from "../../primitives/realtime.ts";
import { cloned, suite } from "../_run/harness.ts";
import { CONFIGURED, type Kind, KINDS } from "../_run/kinds.ts";
import { aKind, bytesOf, refuses } from "../_run/model.ts";
import { forge, IMPOSSIBLE } from "./impossible.ts";

const PAGE = 65536;
const test = suite("Region");

/** Makes a primitive at `at`, uses it by one view and looks by another. */
function works(kind: Kind, memory: Memory, at: number): void {
  const made = kind.init(memory, at);
  assert.is(made.byteOffset, at);
  assert.is(made.byteLength, kind.byteLength);
  kind.use(kind.attach(memory, at));
  assert.ok(kind.used(kind.attach(memory, at)), `${kind.stem} at ${at}`);
}

test("isSupported() says yes here", () => {
  assert.equal(isSupported(), { ok: true });
});

test("a name that all objects have is no unknown option", async () => {
  const all = Object.prototype as { everywhere?: number };
  all.everywhere = 1;
  try {
    const jobs = MpmcQueue.create({ capacity: 2 });
    await jobs.pushIntAsync(3, { ref: false });
    assert.is(await jobs.tryPopIntAsync({ timeout: 0 }), 3);
    const wrong = { capacity: 2, everyone: 1 };
    refuses(jobs.buffer, () => MpmcQueue.create(wrong), TypeError, "everyone");
  } finally {
    delete all.everywhere;
  }
});

for (const kind of KINDS) {
  const { stem, byteLength } = kind;

  test(`a ${stem} works at any multiple of 4, and touches no more`, () => {
    fc.assert(fc.property(fc.nat({ max: 99 }), fc.nat(255), (word, byte) => {
      const at = word * 4;
      const memory = new SharedArrayBuffer(at + byteLength + 8);
      new Uint8Array(memory).fill(byte);
      works(kind, memory, at);
      const outside = bytesOf(memory).fill(byte, at, at + byteLength);
      assert.ok(outside.every((found) => found === byte));
    }));
  });

  test(`a ${stem} works in a WebAssembly.Memory that grows`, () => {
    const memory = new WebAssembly.Memory(
      { initial: 1, maximum: 3, shared: true },
    );
    works(kind, memory, 0);
    const early = kind.init(memory, 4096);
    memory.grow(1);
    kind.use(early);
    assert.ok(kind.used(kind.attach(memory, 4096)), "two sizes, one memory");
    works(kind, memory, PAGE - 8); // across the old end
    works(kind, memory, 2 * PAGE - byteLength);
  });

  test(`a ${stem} works beyond 2 GiB, up to the last byte`, () => {
    const memory = new SharedArrayBuffer(2 ** 31 + PAGE);
    works(kind, memory, 2 ** 31 - 4); // across 2 GiB
    works(kind, memory, 2 ** 31 + 4096);
    works(kind, memory, 2 ** 31 + PAGE - byteLength);
  });

  test(`a ${stem} works at the end of a memory of 4 GiB`, () => {
    const pages = { initial: PAGE, maximum: PAGE, shared: true };
    works(kind, new WebAssembly.Memory(pages), 2 ** 32 - byteLength);
  });

  test(`a ${stem} is attached to without a write`, () => {
    const memory = new SharedArrayBuffer(byteLength);
    kind.init(memory, 0);
    const before = bytesOf(memory);
    kind.attach(memory);
    kind.attach(memory, 0);
    assert.equal(bytesOf(memory), before);
  });

  test(`a ${stem} is refused at an offset that is no multiple of 4`, () => {
    const memory = new SharedArrayBuffer(byteLength + 64);
    for (const at of [1, 2, 3, 6, -4, -1, 0.5, NaN, Infinity, -Infinity]) {
      for (const make of [kind.init, kind.attach]) {
        refuses(memory, () => make(memory, at), RangeError, `received ${at}`);
      }
    }
  });

  test(`a ${stem} is refused where it does not fit`, () => {
    const memory = new SharedArrayBuffer(byteLength + 64);
    const size = `memory of ${byteLength + 64} bytes`;
    refuses(memory, () => kind.init(memory, 68), RangeError, " 68 ", size);
    for (const at of [byteLength + 64, 2 ** 31, 2 ** 32, 2 ** 40]) {
      for (const make of [kind.init, kind.attach]) {
        refuses(memory, () => make(memory, at), RangeError, ` ${at} `, size);
      }
    }
  });

  test(`a ${stem} is refused in memory that is not shared`, () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
    const wrong: [unknown, string][] = [
      [new ArrayBuffer(4096), "ArrayBuffer"],
      [memory, "WebAssembly.Memory"],
      [memory.buffer, "ArrayBuffer"],
      [new Int32Array(new SharedArrayBuffer(4096)), "Int32Array"],
      [{ byteLength: 4096 }, "Object"],
      [4096, "Number"],
      [null, "Null"],
      [undefined, "Undefined"],
    ];
    for (const [value, name] of wrong) {
      for (const make of [kind.init, kind.attach]) {
        const attempt = () => make(value as Memory, 0);
        refuses(memory.buffer, attempt, TypeError, `Cannot use ${name}`);
      }
    }
  });

  test(`a ${stem}'s handle crosses structuredClone, and opens nothing else`, () => {
    const memory = new SharedArrayBuffer(byteLength + 8);
    const view = kind.init(memory, 8);
    assert.equal(
      Object.keys(view.handle).sort(),
      ["buffer", "byteOffset", "kind"],
    );
    const opened = kind.from(cloned(view.handle));
    assert.is(opened.byteOffset, 8);
    kind.use(opened);
    assert.ok(kind.used(view));
    for (const other of KINDS) {
      if (other === kind) continue;
      const attempt = () => other.from(view.handle);
      refuses(memory, attempt, TypeError, other.stem, `kind ${stem}`);
    }
    for (const value of [undefined, null, {}, 7]) {
      refuses(memory, () => kind.from(value as never), TypeError, stem);
    }
  });

  test(`a ${stem} that was posted itself is refused, and says what to post`, () => {
    const memory = new SharedArrayBuffer(byteLength);
    const view = kind.init(memory, 0);
    let copy: unknown;
    try {
      copy = structuredClone(view);
    } catch (error) {
      // The platform itself refuses to copy it.
      assert.is((error as Error).name, "DataCloneError");
      return;
    }
    const attempt = () => kind.from(copy as never);
    refuses(memory, attempt, TypeError, stem, "post the `handle`");
    refuses(memory, () => kind.attach(copy as never), TypeError);
    const own = Object.getOwnPropertyNames(Object.getPrototypeOf(view));
    for (const name of own) {
      if (name === "constructor") continue;
      assert.is.not(typeof Reflect.get(copy as object, name), "function");
    }
  });

  test(`a ${stem} can be printed in a memory of any length`, () => {
    const memory = new SharedArrayBuffer(byteLength + 5);
    const view = kind.init(memory, 4);
    const symbol = Symbol.for("nodejs.util.inspect.custom");
    const print = Reflect.get(view, symbol) as () => { kind: string };
    assert.is(print.call(view).kind, stem);
  });

  test(`an error names a ${stem} as English does`, () => {
    const part = new RegExp(`^Cannot place ${aKind(stem)}: `);
    assert.throws(() => kind.init(new SharedArrayBuffer(64), -4), part);
  });

  test(`a ${stem} can be placed by an address that is a bigint`, () => {
    const memory = new SharedArrayBuffer(byteLength + 8);
    const view = kind.init(memory, 8n);
    assert.is(view.byteOffset, 8);
    assert.is(kind.attach(memory, 8n).byteOffset, 8);
    for (const at of [1n, -4n, 2n ** 40n]) {
      const attempt = () => kind.attach(memory, at as never);
      refuses(memory, attempt, RangeError, ` ${at}`);
    }
  });
}

test("./kernel, ./realtime and layout() take an address that is a bigint", () => {
  const config = { capacity: 4 };
  for (const { MpmcQueue, SpscQueue } of [kernel, realtime]) {
    for (const Queue of [MpmcQueue, SpscQueue]) {
      const memory = new SharedArrayBuffer(4096);
      assert.is(Queue.init(memory, 8n, config).byteOffset, 8);
      assert.is(new Queue(memory, 8n).byteOffset, 8);
    }
  }
  const memory = new SharedArrayBuffer(4096);
  const parts = layout({ lock: Mutex, jobs: [MpmcQueue, config] });
  assert.is(parts.init(memory, 128n).lock.byteOffset, 128);
  assert.is(parts.attach(memory, 128n).jobs.capacity, 4);
});

test("a bigint that is very long is not written out", () => {
  const memory = new SharedArrayBuffer(64);
  for (const sign of [1n, -1n]) {
    const make = (value: bigint) => () =>
      Semaphore.init(memory, 0, value as never);
    const short = sign * (2n ** 299n - 1n);
    refuses(memory, make(short), TypeError, `${short}n`);
    const long = sign * 2n ** 1_000_000n;
    refuses(memory, make(long), TypeError, "a bigint of more than 300 bits");
  }
});

for (const [stem, configs] of Object.entries(IMPOSSIBLE)) {
  test(`a ${stem} of an impossible configuration is refused`, () => {
    const kind = KINDS.find((kind) => kind.stem === stem)!;
    for (const config of configs) {
      const memory = new SharedArrayBuffer(4096);
      kind.init(memory, 0);
      forge(stem, new Int32Array(memory), ...config);
      const attempt = () => kind.attach(memory);
      const says = stem.endsWith("_queue") ? "there is no queue" : "received";
      refuses(memory, attempt, TypeError, stem, "impossible", says);
    }
  });
}

/**
 * Never called. It lists what the compiler must refuse and what it must accept.
 */
export function types(): void {
  const mutex = Mutex.create();
  Mutex.from(mutex.handle);
  Mutex.from(mutex);
  Mutex.from(JSON.parse("null"));
  // @ts-expect-error: the handle of another kind
  Semaphore.from(mutex.handle);
  // @ts-expect-error: another kind
  Semaphore.from(mutex);
  // @ts-expect-error: `lock` waits until it is done
  mutex.lock(50);
  // @ts-expect-error: options are an object
  mutex.tryLockAsync(50);
  const guard: MutexGuard = mutex.lock();
  const maybe: MutexGuard | undefined = mutex.tryLock(50);
  // @ts-expect-error: it may not have been locked
  const sure: MutexGuard = mutex.tryLock(50);
  const permit: SemaphorePermit = Semaphore.create(1).permit();
  const seven: number = mutex.run(() => 7);
  // @ts-expect-error: a wrong name
  Snapshot.create({ size: 8, single: true });
  void [guard, maybe, sure, permit, seven];
}

for (const kind of CONFIGURED) {
  const { stem, byteLength } = kind;
  const seal = LAYOUT[stem as keyof typeof KIND].seal;

  test(`a ${stem} is refused in memory where none was made`, () => {
    for (const byte of [0, 1, 0x57, 0xff]) {
      const memory = new SharedArrayBuffer(byteLength);
      new Uint8Array(memory).fill(byte);
      const found = `found 0x${byte.toString(16).padStart(2, "0").repeat(4)}`;
      refuses(memory, () => kind.attach(memory), TypeError, stem, found);
    }
  });

  test(`a ${stem} is refused on another primitive, by name`, () => {
    for (const other of CONFIGURED) {
      if (other === kind) continue;
      const memory = new SharedArrayBuffer(4096);
      other.init(memory, 0);
      const attempt = () => kind.attach(memory);
      refuses(
        memory,
        attempt,
        TypeError,
        `${stem}: this is ${aKind(other.stem)}`,
      );
    }
  });

  test(`a ${stem} is refused in another version, kind or form`, () => {
    fc.assert(fc.property(fc.nat({ max: 31 }), (bit) => {
      const memory = new SharedArrayBuffer(byteLength);
      kind.init(memory, 0);
      const words = new Int32Array(memory);
      words[0]! ^= 1 << bit;
      const found = `found 0x${(words[0]! >>> 0).toString(16)}`;
      refuses(memory, () => kind.attach(memory), TypeError, stem, found);
      if (bit > 7) return;
      const version = `layout version ${VERSION ^ 1 << bit}`;
      refuses(memory, () => kind.attach(memory), TypeError, version);
    }));
  });

  test(`a ${stem} is refused when any bit of its configuration flipped`, () => {
    for (let word = 1; word <= seal; word++) {
      for (let bit = 0; bit < 32; bit++) {
        const memory = new SharedArrayBuffer(byteLength);
        kind.init(memory, 0);
        const words = new Int32Array(memory);
        words[word]! ^= 1 << bit;
        const config = words.slice(1, seal).join(", ");
        const attempt = () => kind.attach(memory);
        refuses(memory, attempt, TypeError, "seal", `(${config})`);
      }
    }
  });

  test(`a ${stem} is refused when its memory was cut short`, () => {
    const memory = new SharedArrayBuffer(byteLength);
    kind.init(memory, 0);
    for (let length = 0; length < byteLength; length += 4) {
      const cut = new SharedArrayBuffer(length);
      new Uint8Array(cut).set(bytesOf(memory).subarray(0, length));
      const size = `memory of ${length} bytes`;
      refuses(cut, () => kind.attach(cut), RangeError, stem, size);
    }
  });
}
