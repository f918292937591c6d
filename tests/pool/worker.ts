// A worker of the pools of these tests.
import { servePool, transfer } from "../../primitives/pool.ts";
import { countThens } from "../_run/thens.ts";
import { hello } from "../_run/workers.ts";
import * as only from "./only.ts";
import { type Moving, tasks } from "./tasks.ts";

/** How the test wants it. */
export interface Orders {
  blocking?: boolean;
  limit?: number;
  /**
   * A gate, whether a task has died there, a count, and whether `servePool` has
   * returned.
   */
  words?: Int32Array;
  /** What it does instead of serving. */
  instead?:
    | "throw"
    | "exit"
    | "nothing"
    | "once"
    | "differently"
    | "make"
    | "module"
    | "cannot make";
}

const { data: { words, instead, ...options } } = await hello<Orders>();

const end = (how: "exit" | "throw") => {
  if (how === "throw") {
    setTimeout(() => {
      throw new RangeError("the worker is out of luck");
    });
  } else if ("process" in globalThis && !("Deno" in globalThis)) {
    process.exit(7);
  } else (globalThis as unknown as { close(): void }).close();
};

let ended = 0;
let most: (() => number) | undefined;

const waitAtGate = () => {
  while (Atomics.load(words!, 0) === 0) Atomics.wait(words!, 0, 0, 50);
};

const functions: Parameters<typeof servePool<typeof tasks>>[1] = {
  add: (bytes) => bytes.map((byte) => byte + 1),
  increment: (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i]!++;
    return bytes;
  },
  sum: ({ a, b }) => a + b,
  tomorrow: (day) => new Date(+day + 86_400_000),
  echo: (value) => value,
  text: (value) => value,
  sleep: async (ms) => {
    if (ms !== undefined) await new Promise((done) => setTimeout(done, ms));
    return undefined;
  },
  fail(message): never {
    const cause = Object.assign(new Error("no such file"), { code: "ENOENT" });
    throw new RangeError(message, { cause });
  },
  throwValue(value): never {
    throw value;
  },
  repeat: ({ text, n }) => text.repeat(n),
  die: (how) => {
    end(how);
    return new Promise<number>(() => {});
  },
  dieOnce: (value) => {
    if (Atomics.exchange(words!, 1, 1) === 1) return value;
    end("exit");
    return new Promise<number>(() => {});
  },
  dieLong: (value) => {
    if (Atomics.exchange(words!, 1, 1) === 1) return value;
    end("exit");
    return new Promise<string>(() => {});
  },
  sumOnce: ({ a, b }) => {
    if (Atomics.exchange(words!, 1, 1) === 1) return a + b;
    end("exit");
    return new Promise<number>(() => {});
  },
  dieAlways: () => {
    Atomics.add(words!, 1, 1);
    end("exit");
    return new Promise<number>(() => {});
  },
  spin: (_, { signal }) => {
    let looks = 0;
    while (!signal.aborted) looks++;
    ended++;
    return looks;
  },
  wait: (_, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(++ended));
    }),
  thens: () => {
    if (most !== undefined) return most();
    most = countThens();
    return undefined;
  },
  ended: () => ended,
  report: ({ count, end, throws }, context) => {
    for (let i = 0; i < count; i++) context.report(i);
    if (throws) throw end;
    return end;
  },
  listen: (_, context) =>
    new Promise((resolve) => {
      const heard: unknown[] = [];
      context.report("begun");
      setTimeout(() =>
        context.listen((message) => {
          heard.push(message);
          if (message === "end") resolve(heard);
        }), 5);
    }),
  move: (request, context) => {
    const { bytes, port, shared, how } = request as Moving;
    if (how === "exit") {
      end("exit");
      return new Promise<never>(() => {});
    }
    if (how === "throw") throw new RangeError("no luck");
    if (how === "wrong") return transfer({}, [{}]);
    if (how === "wait") {
      return new Promise((resolve) => {
        context.signal.addEventListener("abort", () => resolve({}));
      });
    }
    if (shared) Atomics.add(shared, 0, 1);
    for (let i = 0; i < (bytes?.length ?? 0); i++) bytes![i]!++;
    port?.postMessage("from the worker");
    if (how === "copy") return { bytes: bytes! };
    const list = [bytes?.buffer, port].filter((it) => it !== undefined);
    return transfer({ bytes, port }, list);
  },
  mark: ({ mark }) => mark,
  greedy: () => 0,
  dieAtGate: () => {
    waitAtGate();
    end("exit");
    return new Promise<number>(() => {});
  },
  gate: (number) => {
    waitAtGate();
    return Atomics.add(words!, 2, 1) * 1000 + number;
  },
};

if (instead === "throw") throw new RangeError("the worker is out of luck");
if (instead === "exit") end("exit");
if (instead === "differently") {
  await servePool({ ...tasks, sum: tasks.echo }, { sum: (it) => it });
} else if (instead === "make") {
  await servePool(tasks, async (init: { by: number }) => {
    await new Promise((done) => setTimeout(done, 20));
    return { sum: ({ a, b }) => (a + b) * init.by, echo: () => init };
  });
} else if (instead === "module") {
  await servePool({ sum: tasks.sum }, only, options);
} else if (instead === "cannot make") {
  await servePool(tasks, () => {
    throw new RangeError("the worker is out of luck");
  });
} else if (instead === "once") {
  await servePool(tasks, functions, options);
} else if (instead === undefined) {
  await servePool(tasks, functions, options);
  if (words !== undefined) Atomics.store(words, 3, 1);
}
