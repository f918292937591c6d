// Tests the table of docs/race_reference.md row by row: features of the
// language and of the platform, and what becomes of each.
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import threads, { receiveMessageOnPort } from "node:worker_threads";
import * as assert from "uvu/assert";
import { race, type RaceError, Unsupported } from "../../race/mod.ts";
import type { Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race features");

// deno-lint-ignore no-explicit-any
type Any = any;
type Memory = SharedArrayBuffer;

const GUIDE = fs.readFileSync(
  fileURLToPath(new URL("../../docs/race_reference.md", import.meta.url)),
  "utf8",
).replace(/ +/g, " ");

const words = (memory: Memory) => new Int32Array(memory);
const memory = () => new SharedArrayBuffer(16);

// Objects that a module has made before any exploration.
const alias = Atomics;
const { add: captured } = Atomics;
const taken = { wait: Atomics.wait, notify: Atomics.notify };
const sleepWord = new Int32Array(new SharedArrayBuffer(4));
const sleep = (ms: number) => Atomics.wait(sleepWord, 0, 0, ms);
const early = new SharedArrayBuffer(8);
const earlyView = new Int32Array(early);

const realTimeout = setTimeout;

let counted = 0;
let named = 0;

/** What becomes of a feature. */
type Becomes =
  | "works"
  | "a plain access"
  | "repeatable"
  | "simulated"
  | "refused"
  | "`nondeterministic`";

/** Runs agents; a result that must hold, or whatever they throw. */
type Run = () => unknown;

const add: (m: Memory) => void = (m) => void Atomics.add(words(m), 0, 1);

/** Both agents add; `read` is how the first one does it. */
const both = (first: (m: Memory) => unknown, then = add): Run => () =>
  race.agents({ memory }, first as Any, then as Any, {
    after: (m: Memory) => {
      const total = words(m)[0];
      return total === 2 ? undefined : `the total is ${total}`;
    },
  } as Any);

/** Two agents whose answers must be right. */
const answers = (
  what: (m: Memory) => unknown,
  expected: unknown,
  beside: (m: Memory) => unknown = add,
): Run =>
() =>
  race.agents({ memory }, what as Any, beside as Any, {
    after: (_: Memory, [answer]: unknown[]) => assert.equal(answer, expected),
  } as Any);

/** A plain access of the first word races with another agent's. */
const races = (access: (m: Memory) => unknown): Run => () =>
  race.agents({ memory }, access as Any, add as Any);

const ROWS: [feature: string, becomes: Becomes, run: Run, named?: RegExp][] = [
  [
    "`Atomics` under another name: `const A = Atomics`",
    "works",
    both((m) => void alias.add(words(m), 0, 1)),
  ],
  [
    "functions of `Atomics` that an agent takes out",
    "works",
    both((m) => {
      const { add } = Atomics;
      add(words(m), 0, 1);
    }),
  ],
  [
    "functions of `Atomics` that a module took out before",
    "refused",
    both((m) => void captured(words(m), 0, 1)),
    /const \{ add \} = Atomics/,
  ],
  [
    "a word of a module's own to sleep on",
    "works",
    answers(() => sleep(5), "timed-out"),
  ],
  [
    "other uses of a view made before the exploration",
    "refused",
    () =>
      race.agents({ memory: () => early }, () => Atomics.load(earlyView, 0)),
    /made before/,
  ],
  [
    "`DataView`, of any alignment",
    "a plain access",
    races((m) => new DataView(m).getInt16(1)),
  ],
  ["memory whose size is no multiple of 4", "works", () =>
    race.agents(
      { memory: () => new SharedArrayBuffer(7) },
      (m) => Atomics.add(new Uint8Array(m), 6, 1),
      (m) => Atomics.add(new Uint8Array(m), 6, 1),
      {
        after: (m) => assert.is(new Uint8Array(m)[6], 2),
      },
    )],
  ["a growable buffer that nobody grows", "works", () =>
    race.agents(
      { memory: () => new SharedArrayBuffer(8, { maxByteLength: 16 }) },
      (m) => Atomics.add(words(m), 1, 1),
      (m) => Atomics.add(words(m), 1, 1),
      {
        after: (m) => assert.is(words(m)[1], 2),
      },
    )],
  ["`grow()`", "refused", () =>
    race.agents(
      { memory: () => new SharedArrayBuffer(8, { maxByteLength: 16 }) },
      (m) => (m as Any).grow(16),
    ), /grow/],
  [
    "memory that an agent allocates",
    "works",
    answers((m) => {
      const own = words(new SharedArrayBuffer(8));
      Atomics.add(own, 0, 5);
      Atomics.add(words(m), 0, 1);
      return Atomics.load(own, 0);
    }, 5),
  ],
  [
    "`TextEncoder.encodeInto()` into shared memory",
    "a plain access",
    races((m) => new TextEncoder().encodeInto("a", new Uint8Array(m))),
  ],
  [
    "`TextDecoder.decode()` of shared memory",
    "a plain access",
    races((m) => new TextDecoder().decode(new Uint8Array(m, 0, 2))),
  ],
  [
    "`structuredClone()` of a view: of the same memory",
    "works",
    both((m) => void Atomics.add(structuredClone(words(m)), 0, 1)),
  ],
  [
    "`slice()` of a `SharedArrayBuffer`",
    "refused",
    races((m) => m.slice(0, 4)),
    /prototype\.slice/,
  ],
  [
    "a `Buffer` of Node over shared memory",
    "refused",
    races((m) => Buffer.from(m)[0]),
    /Buffer over shared memory/,
  ],
  [
    "methods of views by `call()` and `apply()`",
    "refused",
    races((m) => Int32Array.prototype.fill.call(words(m), 1)),
    /fill\(\) of a typed array's prototype/,
  ],
  [
    "`JSON`, `Map`, classes, generators, `using`, `try` and `finally`",
    "works",
    answers((m) => {
      const log = new Map<string, number>();
      function* steps() {
        yield Atomics.load(words(m), 1);
        yield Atomics.load(words(m), 2);
      }
      try {
        for (const value of steps()) log.set(`${log.size}`, value);
      } finally {
        Atomics.add(words(m), 1, 1);
      }
      return JSON.stringify([...log]);
    }, '[["0",0],["1",0]]'),
  ],
  [
    "`performance.now()`, `Date`, `process.hrtime()`",
    "simulated",
    answers((m) => {
      const begin = [performance.now(), Date.now(), new Date().getTime()];
      Atomics.load(words(m), 1);
      return performance.now() - begin[0]! + Date.now() - begin[2]!;
    }, 0),
  ],
  [
    "a loop on the clock",
    "simulated",
    answers(() => {
      const end = Date.now() + 20;
      while (Date.now() < end);
      return Date.now() >= end;
    }, true),
  ],
  [
    "`Math.random()`, `crypto.getRandomValues()`, `crypto.randomUUID()`",
    "repeatable",
    answers((m) => {
      const before = [Math.random(), crypto.getRandomValues(new Uint8Array(4))];
      Atomics.load(words(m), 0);
      return before.length + crypto.randomUUID().length;
    }, 38),
  ],
  [
    "`crypto.getRandomValues()` into shared memory",
    "refused",
    races((m) => crypto.getRandomValues(new Uint8Array(m))),
    /getRandomValues/,
  ],
  [
    "promises and `async` functions",
    "works",
    both(async (m) => {
      await null;
      add(m);
    }),
  ],
  [
    "`Atomics.waitAsync()`",
    "simulated",
    answers(
      async (m) => {
        const wait = Atomics.waitAsync(words(m), 0, 0);
        return wait.async ? await wait.value : "ok";
      },
      "ok",
      (m) => {
        Atomics.store(words(m), 0, 1);
        Atomics.notify(words(m), 0);
      },
    ),
  ],
  [
    "`queueMicrotask()`, `process.nextTick()`",
    "simulated",
    both(async (m) => {
      await new Promise<void>((resolve) =>
        queueMicrotask(() => {
          add(m);
          resolve();
        })
      );
    }),
  ],
  [
    "timers and `setImmediate()`",
    "simulated",
    both(async (m) => {
      await new Promise<void>((resolve) => setTimeout(resolve, 5));
      await new Promise<void>((resolve) =>
        (globalThis as Any).setImmediate(() => {
          add(m);
          resolve();
        })
      );
    }),
  ],
  [
    "a `MessageChannel` made in `memory()`, in an operation, or received",
    "simulated",
    answers(async (m) => {
      const { port1, port2 } = new MessageChannel();
      const got: unknown[] = [];
      await new Promise<void>((resolve) => {
        port2.onmessage = ({ data }) => {
          Atomics.add(words(m), 1, 1);
          if (got.push(data.n) === 2) resolve();
        };
        port1.postMessage({ n: 1 });
        port1.postMessage({ n: 2 });
      });
      return got;
    }, [1, 2]),
  ],
  [
    "events, `AbortSignal`",
    "simulated",
    both(async (m) => {
      const signal = AbortSignal.timeout(5);
      await new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => {
          add(m);
          resolve();
        })
      );
    }),
  ],
  [
    "`receiveMessageOnPort()` of such a port",
    "simulated",
    answers(() => {
      const { port1, port2 } = new MessageChannel();
      const take = () => threads.receiveMessageOnPort(port2 as Any)?.message;
      port1.postMessage(1);
      return [take(), take()];
    }, [1, undefined]),
  ],
  [
    "the same, imported by its name in Deno and Bun",
    "refused",
    races(() => receiveMessageOnPort(new MessageChannel().port1 as Any)),
    /Cannot explore receiveMessageOnPort\(\)/,
  ],
  [
    "a `Worker` that `workers` names",
    "simulated",
    () =>
      race.agents(
        { memory, workers: { "w.js": 1 } },
        async (m) => {
          const worker = new Worker("w.js");
          await new Promise((resolve) => worker.onmessage = resolve);
          add(m);
        },
        (m, _, scope) => {
          add(m);
          scope.postMessage("done");
        },
        { after: (m) => assert.is(words(m)[0], 2) },
      ),
  ],
  [
    "any other `Worker`, and its `terminate()`",
    "refused",
    races(() => void new Worker("data:,")),
    /Worker/,
  ],
  [
    "`BroadcastChannel`, `fetch()`, `WebSocket`",
    "refused",
    races(() => void fetch("data:,")),
    /fetch/,
  ],
  [
    "asynchronous functions of `Deno` and of `crypto.subtle`",
    "refused",
    races(async () => await Deno.readTextFile("none")),
    /Deno\.readTextFile/,
  ],
  [
    "anything else from outside that an agent awaits",
    "refused",
    races(async () => {
      await new Promise((resolve) => realTimeout(resolve, 40));
    }),
    /awaits something/,
  ],
  [
    "a loop that catches every error and tries again",
    "works",
    both((m) => {
      for (;;) {
        try {
          return add(m);
        } catch {
          // again
        }
      }
    }),
  ],
  [
    "a counter of a module that operations depend on",
    "`nondeterministic`",
    races((m) => Atomics.store(words(m), 1, ++counted)),
  ],
  [
    "a counter of a module that only names things",
    "works",
    both((m) => {
      named++;
      add(m);
    }),
  ],
];

async function outcome(run: Run): Promise<Result | Error> {
  try {
    return await run() as Result;
  } catch (error) {
    return error as Error;
  }
}

for (const [feature, becomes, run, cause] of ROWS) {
  test(`${feature}: ${becomes}`, async () => {
    const got = await outcome(run);
    if (becomes === "refused") {
      assert.instance(got, Unsupported, String(got));
      assert.match((got as Error).message, cause!);
    } else if (becomes === "`nondeterministic`") {
      assert.is((got as RaceError).kind, "nondeterministic", String(got));
    } else if (becomes === "a plain access") {
      assert.is((got as RaceError).kind, "data-race", String(got));
    } else {
      assert.ok((got as Result).ok, String(got));
      assert.ok((got as Result).complete, (got as Result).summary);
    }
    const row = `| ${feature} | ${becomes} |`;
    assert.ok(GUIDE.includes(row), `docs/race_reference.md has no row ${row}`);
  });
}

test("wait and notify that a module took out are refused by name", () => {
  const { wait, notify } = taken;
  const calls: [string, (m: Memory) => unknown][] = [
    ["wait", (m) => wait(words(m), 0, 1)],
    ["notify", (m) => notify(words(m), 0)],
  ];
  for (const [name, call] of calls) {
    assert.throws(
      () => race.agents({ memory }, call as Any),
      new RegExp(`const \\{ ${name} \\} = Atomics`),
    );
  }
});

test("a WebAssembly memory that grows is refused", () => {
  const memory = () =>
    new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });
  assert.throws(
    () => race.agents({ memory }, (m) => (m as Any).grow(1)),
    /Memory\.prototype\.grow/,
  );
});

test("ports are heard once, and can be sent themselves", async () => {
  const result = await race.agents(
    { memory },
    async (m) => {
      const { port1, port2 } = new MessageChannel();
      const inner = new MessageChannel();
      let heard = 0;
      await new Promise<void>((resolve) => {
        port2.addEventListener("message", () => heard++, { once: true });
        port2.addEventListener("message", ({ data, ports }) => {
          if (data.port === undefined) return;
          add(m);
          assert.is(ports.length, 1);
          data.port.postMessage("done");
        });
        port2.start();
        inner.port1.onmessage = () => resolve();
        port1.postMessage({});
        port1.postMessage({ port: inner.port2 }, [inner.port2]);
      });
      return heard;
    },
    add,
    {
      after: (m, [heard]) => {
        assert.is(words(m)[0], 2);
        assert.is(heard, 1);
      },
    },
  );
  assert.ok(result.complete);
});

test("an argument that computes its value is computed once", () => {
  const value = (m: Memory): Any => ({
    valueOf: () => Atomics.load(words(m), 1) + 1,
  });
  const result = race.agents(
    { memory },
    (m) => Atomics.add(words(m), 0, value(m)),
    (m) => Atomics.compareExchange(words(m), 2, 0, value(m)),
    { after: (m) => assert.equal([...words(m)].slice(0, 3), [1, 0, 1]) },
  );
  assert.ok(result.complete);
  assert.throws(
    () => race.agents({ memory }, (m) => Atomics.add(words(m), 0, 1n as Any)),
    /TypeError/,
  );
});

test("a plain write throws for a value of the wrong type", () => {
  const writes: ((m: Memory) => void)[] = [
    (m) => void ((new BigInt64Array(m) as Any)[0] = 5),
    (m) => void ((words(m) as Any)[0] = 5n),
    (m) => void new BigUint64Array(m).fill(5 as Any),
    (m) => new DataView(m).setBigInt64(0, 5 as Any),
    (m) => new DataView(m).setInt32(0, 5n as Any),
  ];
  for (const write of writes) {
    assert.throws(() => write(new SharedArrayBuffer(16)), TypeError);
    assert.throws(() => race.agents({ memory }, write), /TypeError/);
  }
  const right = race.agents({ memory }, (m) => {
    (new BigInt64Array(m) as Any)[0] = "5";
    (words(m) as Any)[2] = "6";
    new DataView(m).setBigInt64(8, true as Any);
  });
  assert.ok(right.complete);
});

test("what a DataView writes is what a view reads", () => {
  const after = (m: Memory) => {
    assert.is(words(m)[1], 0x01020304);
    assert.is(new Uint8Array(m)[9], 7);
  };
  const result = race.agents(
    { memory },
    (m) => {
      const view = new DataView(m);
      view.setInt32(4, 0x01020304, true);
      Atomics.add(words(m), 0, 1);
      view.setUint8(9, 7);
      view.setFloat64(8 - 8 + 8, view.getFloat64(8));
      return [
        view.getInt32(4),
        view.getInt32(4, true),
        view.getBigInt64(4, true),
      ];
    },
    (m) => Atomics.add(words(m), 0, 1),
    {
      after: (m, [seen]) => {
        after(m);
        const big = (7n << 40n) + 0x01020304n;
        assert.equal(seen, [0x04030201, 0x01020304, big]);
      },
    },
  );
  assert.ok(result.complete);
});

test("accesses of different widths by DataView race with atomic ones", () => {
  assert.throws(
    () =>
      race.agents(
        { memory },
        (m) => new DataView(m).setInt8(3, 1),
        (m) => Atomics.load(words(m), 0),
      ),
    /data-race/,
  );
});

void named;
