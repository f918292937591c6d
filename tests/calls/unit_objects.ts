// also: node
// it waits
import process from "node:process";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import * as assert from "uvu/assert";
import {
  CallError,
  CallRing,
  type Codec,
  codec,
  connect,
  Event,
  serve,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { HeldObjects } from "../../primitives/_calls/client/objects.ts";
import { Hosts } from "../../primitives/_calls/hosts.ts";
import { INSTANCE } from "../../primitives/_calls/wire.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { asAgent } from "../_run/model.ts";
import { start } from "../_run/process.ts";
import { spawn } from "../_run/workers.ts";
import { api, Counter } from "./nested_api.ts";
import { between, collecting, rejection } from "./parts.ts";

const test = suite("calls: objects");

type Api = typeof api;

/** Serves `api` while `run` calls it. */
async function within(
  run: (ring: CallRing) => Promise<void>,
  json = false,
): Promise<void> {
  const given = json ? codec.json as Codec<unknown> : undefined;
  const config = { slots: 3, request: 128, reply: 64 };
  await between(api, run, { ...config, codec: given });
}

/** Resolves when no slot is in use. */
async function isFree(ring: CallRing): Promise<void> {
  while (ring.pending > 0) await new Promise((turn) => setTimeout(turn, 1));
}

test("methods of nested objects are called with their this", () =>
  within(async (ring) => {
    const remote = connect<Api>(ring);
    assert.is(await remote.math.add(1, 2), 3);
    assert.is(await remote.math.deep.one(), 1);
    const { add } = remote.math;
    assert.is(await add(2, 2), 4);
    assert.is(await add.call(undefined, 1, 1), 2);
    assert.is(remote.math.add, add);
    assert.is(await remote.counter.add(0), 5);
    assert.equal(await remote.Counter.names(), ["Counter"]);
  }));

test("await reads a property, through getters, too", () =>
  within(async (ring) => {
    const remote = connect<Api>(ring);
    assert.is(await remote.version, "1.2");
    assert.equal(await remote.settings, { wide: true, sizes: [1, 2] });
    assert.is(await remote.nothing, undefined);
    assert.is(await remote.counter.twice, 10);
    // deno-lint-ignore no-explicit-any
    const any = remote as any;
    assert.is(await any.settings.sizes.length, 2);
    const method = await rejection(remote.math.add as never);
    assert.match(method.message, "a method: call it");
    for (const read of [any.nope, any.math.nope]) {
      const error = await rejection(read);
      assert.instance(error, TypeError);
      assert.match(error.message, /No property .*nope" is served/);
    }
  }));

test("what every object has is not reached", () =>
  within(async (ring) => {
    // deno-lint-ignore no-explicit-any
    const any = connect<any>(ring) as any;
    for (
      const path of [
        ["constructor"],
        ["math", "constructor"],
        ["math", "add", "constructor"],
        ["math", "__proto__", "toString"],
        ["echo", "toString"],
        ["Counter", "prototype", "add"],
        ["counter", "hasOwnProperty"],
        ["version", "length"],
      ]
    ) {
      const node = any[path.join(".")];
      assert.match((await rejection(node(1))).message, "No method");
    }
  }));

test("an assignment is a TypeError", () =>
  within((ring) => {
    // deno-lint-ignore no-explicit-any
    const both: any[] = [connect<Api>(ring), connect.blocking<Api>(ring)];
    for (const remote of both) {
      for (let i = 0; i < 2; i++) { // before it is read, and after
        const assign = [
          () => remote.version = "2",
          () => remote.math.add = () => 0,
          () => remote.math = 1,
          () => remote.fresh = 1,
        ];
        for (const run of assign) assert.throws(run, /Cannot assign to/);
        void [remote.version, remote.math.add, remote.fresh];
      }
    }
    assert.is(api.version, "1.2");
    return Promise.resolve();
  }));

test("what stands for an object may be frozen", () =>
  within(async (ring) => {
    const remote = Object.freeze(connect<Api>(ring));
    Object.freeze(remote.math);
    assert.is(await remote.math.add(1, 2), 3);
    assert.is(await remote.version, "1.2");
    const frozen = Object.freeze(remote.math);
    assert.is(await frozen.add(2, 2), 4);
  }));

test("a text of what stands for an object is made without a call", () =>
  within((ring) => {
    const remote = connect<Api>(ring);
    assert.is(String(remote), "[remote object]");
    assert.is(`${remote.math.add}`, "[remote math.add]");
    assert.equal(Object.keys(remote.math.add), []);
    assert.is(inspect(remote), "[remote object]");
    assert.equal(inspect([remote.math.add]), "[ [remote math.add] ]");
    // As a failed assertion shows it.
    const asShown = { customInspect: false, getters: true, depth: 1000 };
    assert.match(inspect(remote.math, asShown), "Function");
    assert.match(inspect([remote], asShown), "Function");
    return Promise.resolve();
  }));

test("what is named as a function's name can be reached, and logged", async () => {
  class Named {
    name = 7;
  }
  const api = { of: { name: { name: { name: (n: number) => n + 1, Named } } } };
  const deep = { name: { name: { name: { name: "deep", Named } } } };
  await between({ ...api, ...deep }, async (ring) => {
    const remote = connect<typeof api & typeof deep>(ring);
    assert.is(await remote.of.name.name.name(1), 2);
    assert.is(await remote.name.name.name.name, "deep");
    const named = await new remote.name.name.name.Named();
    assert.is(await named.name, 7);
    const { name } = remote.name.name;
    assert.is(String(name), "[remote name.name.name]");
    assert.match(inspect(name, { customInspect: false }), "Function");
    assert.throws(() => Object.assign(name, { x: 1 }), "Cannot assign");
  });
});

test("a message about a missing property lists all members", () =>
  within(async (ring) => {
    // deno-lint-ignore no-explicit-any
    const remote: any = connect<Api>(ring);
    const { message } = await rejection(Promise.resolve(remote.absent));
    assert.match(message, 'No property "absent" is served: there are ');
    assert.match(message, "version");
  }));

test("a message about a missing method names objects of methods", async () => {
  const api = { math: { add: (a: number, b: number) => a + b }, count: 1 };
  await between(api, async (ring) => {
    // deno-lint-ignore no-explicit-any
    const remote: any = connect<typeof api>(ring);
    const { message } = await rejection(remote.add(1, 2));
    assert.is(message, 'No method "add" is served: there are math');
  });
});

test("new makes an instance there, which using releases", () =>
  within(async (ring) => {
    const remote = connect<Api>(ring);
    const counter = await new remote.Counter(7);
    assert.is(await counter.add(1), 8);
    assert.is(await counter.count, 8);
    assert.is(await counter.twice, 16);
    assert.is((counter as { then?: unknown }).then, undefined);
    const other = await new remote.Counter(1);
    assert.is(await other.add(1), 2);
    assert.is(await counter.count, 8);
    const { add } = other;
    counter[Symbol.dispose]();
    const error = await rejection(counter.add(1));
    assert.instance(error, TypeError);
    assert.match(error.message, "was released");
    counter[Symbol.dispose]();
    assert.is(await add(1), 3);
    assert.match((await rejection(new remote.Counter(-1))).message, "of -1");
    // deno-lint-ignore no-explicit-any
    const none = new (remote.math.add as any)(1);
    assert.match((await rejection(none)).message, "constructor");
    assert.throws(() => (counter as { count: unknown }).count = 1, "assign");
  }));

test("an instance is released after the calls that were made before", async () => {
  let go = () => {};
  class Slow {
    count = 1;
    wait(): Promise<void> {
      return new Promise((resolve) => go = resolve);
    }
    fail(): Promise<never> {
      return Promise.reject(new RangeError("failed"));
    }
  }
  // A server may take the slots of the three in any order.
  const count = await between({ Slow }, async (ring) => {
    const remote = connect<{ Slow: typeof Slow }>(ring);
    const slow = await new remote.Slow();
    const waiting = slow.wait();
    const failing = rejection(slow.fail());
    const reading = slow.count.then((count) => count);
    slow[Symbol.dispose]();
    assert.is(ring.pending, 3, "no release yet");
    assert.is(await reading, 1);
    assert.match((await failing).message, "failed");
    assert.is(ring.pending, 1);
    assert.match((await rejection(slow.wait())).message, "was released");
    go();
    await waiting;
    assert.is(ring.pending, 1, "the release");
    await isFree(ring);
  }, { slots: 4, request: 128 });
  assert.is(count, 5);
});

test("the promise of an instance's iterator iterates", async () => {
  class Rows {
    *all(n: number): Generator<number> {
      for (let i = 0; i < n; i++) yield i;
    }
  }
  await between({ Rows }, async (ring) => {
    const remote = connect<{ Rows: typeof Rows }>(ring);
    {
      using rows = await new remote.Rows();
      let sum = 0;
      for await (const n of rows.all(4)) sum += n;
      assert.is(sum, 6);
    }
    await isFree(ring);
  }, { request: 128 });
});

test("an instance is released when nothing here stands for it", () =>
  collecting((collect) =>
    within(async (ring) => {
      const remote = connect<Api>(ring);
      const counter = await new remote.Counter(7);
      assert.is(collect.length, 1);
      collect[0]!();
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.match((await rejection(counter.add(1))).message, "released");
    })
  ));

/** Lets `ms` pass for waits that have a deadline. */
async function pass(ms: number) {
  const own = Object.getOwnPropertyDescriptor(performance, "now"); // in Bun
  const now = performance.now.bind(performance);
  const soon = Event.create().tryWaitAsync({ timeout: 20 });
  performance.now = () => now() + ms;
  try {
    await soon; // its timer looks at all deadlines
  } finally {
    Reflect.deleteProperty(performance, "now");
    if (own !== undefined) Object.defineProperty(performance, "now", own);
  }
}

test("a ring that nobody serves any more is not kept for a release", () =>
  collecting(async (collect) => {
    const ring = CallRing.create({ slots: 4, request: 128, reply: 64 });
    const control = new AbortController();
    const { signal } = control;
    const serving = serve(ring, api, { signal });
    const remote = connect<Api>(ring);
    await new remote.Counter(7);
    control.abort();
    await serving.catch(() => {});
    const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
    const freed = async () => {
      for (let i = 0; i < 100 && ring.pending > 0; i++) await pause();
      assert.is(ring.pending, 0);
    };
    collect[0]!();
    await pause(); // it sleeps
    assert.is(ring.pending, 1);
    await pass(40_000);
    assert.is(ring.pending, 0);
    // It is released with the next one, in case that somebody has it.
    const next = serve(ring, api);
    await new remote.Counter(7);
    collect[1]!();
    await freed();
    ring.close();
    assert.is(await next, 3);
  }));

test("a caller that blocks does not try for ever to release an object", () => {
  const timers: (() => void)[] = [];
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((run: () => void) => {
    timers.push(run);
    return { unref() {} };
  }) as unknown as typeof setTimeout;
  let calls = 0;
  const held = new HeldObjects({
    blocks: true,
    prepared: () => ({}) as never,
    invoke: () => () => {},
    call() {
      calls++;
      throw new DOMException("late", "TimeoutError");
    },
    callAsync: () => Promise.resolve(),
    threw: () => false,
  });
  try {
    const object = held.standFor(INSTANCE, "1-1") as Disposable;
    object[Symbol.dispose]();
    for (let i = 0; i < 20; i++) timers.pop()?.();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  assert.is(calls, 7, "at once, and after 1 to 32 s");
});

test("names of properties that are keys of data are not all kept", () =>
  within(async (ring) => {
    // deno-lint-ignore no-explicit-any
    const remote: any = connect<Api>(ring);
    for (let i = 0; i < 3000; i++) {
      void [remote[`key${i}`], remote.math[`key${i}`]];
    }
    for (const it of [remote, remote.math]) {
      const { length } = Object.getOwnPropertyNames(it);
      assert.ok(length < 1100, `${length}`);
    }
    assert.is(await remote.math.add(1, 2), 3);
    assert.is(await remote.version, "1.2");
    assert.throws(() => remote.version = "2", /Cannot assign to/);
  }));

test("the end of a caller does not keep others from hearing of garbage", async () => {
  const program = fileURLToPath(new URL("./garbage.ts", import.meta.url));
  const words = "Deno" in globalThis
    ? ["run", "-A", "--no-check", "--v8-flags=--expose-gc", program]
    : ["--expose-gc", program];
  const { output } = await start([process.execPath, ...words], 250);
  assert.match(output, /^called$/m);
});

test("instances end with the server", async () => {
  const ring = CallRing.create({ slots: 4, request: 128, reply: 64 });
  const control = new AbortController();
  const { signal } = control;
  const serving = serve(ring, api, { signal });
  const remote = connect<Api>(ring);
  const counter = await new remote.Counter(7);
  control.abort();
  await serving.catch(() => {});
  const next = serve(ring, api);
  assert.match((await rejection(counter.add(1))).message, "released");
  ring.close();
  await next;
});

test("who refuses to serve keeps nothing of the others", async () => {
  const ring = CallRing.create({ request: 128, reply: 64 });
  let returned = 0;
  const api = {
    *rows() {
      try {
        yield 1;
        yield 2;
      } finally {
        returned++;
      }
    },
  };
  await rejection(serve(ring, api, { limit: 0 }));
  const served = serve(ring, api);
  const rows = await connect<typeof api>(ring).rows();
  await rows.next();
  ring.close();
  await served;
  assert.is(returned, 1);
});

test("instances stay until the last server of their agent has ended", async () => {
  const ring = CallRing.create({ slots: 4, request: 128, reply: 64 });
  const controls = [0, 1].map(() => new AbortController());
  const serving = controls.map(({ signal }) => serve(ring, api, { signal }));
  const remote = connect<Api>(ring);
  const counters = await Promise.all([7, 8].map((n) => new remote.Counter(n)));
  controls[0]!.abort();
  await serving[0]!.catch(() => {});
  for (const [i, counter] of counters.entries()) {
    assert.is(await counter.add(1), 8 + i);
  }
  controls[1]!.abort();
  await serving[1]!.catch(() => {});
  const next = serve(ring, api);
  assert.match((await rejection(counters[0]!.add(1))).message, "released");
  ring.close();
  await next;
});

/** Serves instances and iterators; tells which iterators have ended. */
function shelf() {
  const ended: string[] = [];
  const served = {
    Counter,
    async *rows(name: string): AsyncGenerator<number> {
      try {
        for (let i = 0;; i++) yield i;
      } finally {
        ended.push(name);
      }
    },
  };
  return { served, ended };
}

type Shelf = ReturnType<typeof shelf>["served"];

/** What calls a ring as agent `id`. */
const asCaller = (id: number, ring: CallRing) =>
  asAgent(id, () => connect<Shelf>(CallRing.from(ring.handle)));

/**
 * What callers have of a server. An agent that was abandoned makes no call any
 * more, so none of it may become garbage while its ring is there.
 */
const held = new Set<unknown>();

test.afterEach(() => held.clear());

/** Keeps `it` until the end of a test. */
function hold<T>(it: T): T {
  held.add(it);
  return it;
}

/** Begins a loop over what a server iterates, and takes its first value. */
async function begun(iterated: AsyncIterable<number>) {
  const rows = hold(hold(iterated)[Symbol.asyncIterator]());
  assert.equal(await rows.next(), { done: false, value: 0 });
  return rows;
}

/** Waits until these iterators have ended, in any order, and no others. */
async function over(ended: string[], names: string[]): Promise<void> {
  for (let i = 0; i < 1000 && ended.length < names.length; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(ended.toSorted(), names.toSorted());
}

test("what a caller has is released when it is abandoned", async () => {
  const { served, ended } = shelf();
  await between(served, async (ring) => {
    ring.abandon(70);
    const [dies, stays, again] = [70, 71, 70].map((id) => asCaller(id, ring));
    const counter = hold(await new dies!.Counter(1));
    await begun(dies!.rows("dies"));
    const other = hold(await new stays!.Counter(2));
    const others = await begun(stays!.rows("stays"));
    assert.is(await counter.add(1), 2, "it died before it had that");
    ring.abandon(70);
    await over(ended, ["dies"]);
    assert.is(await other.add(1), 3);
    assert.equal(await others.next(), { done: false, value: 1 });
    // The id is used again, as if by a thread that was started instead.
    const fresh = hold(await new again!.Counter(5));
    assert.match((await rejection(counter.add(1))).message, "released");
    ring.abandon(71);
    await over(ended, ["dies", "stays"]);
    assert.is(await fresh.add(1), 6, "it was another that died");
    await begun(again!.rows("again"));
    ring.abandon(70);
    await over(ended, ["dies", "stays", "again"]);
    assert.match((await rejection(fresh.add(1))).message, "released");
  }, { slots: 4, request: 128 });
});

test("a server hears of the last 16 agents that were abandoned", async () => {
  const { served, ended } = shelf();
  await between(served, async (ring) => {
    for (let round = 0; round < 3; round++) { // the entries are used again
      const ids = Array.from({ length: 16 }, (_, i) => 100 + i);
      for (const id of ids) {
        await begun(asCaller(id, ring).rows(`${id}`));
      }
      for (const id of ids) ring.abandon(id);
      await over(ended, ids.map(String));
      ended.length = 0;
    }
  }, { slots: 4, request: 128 });
});

test("deaths are noted beyond 2^32", () => {
  const ring = CallRing.create({ request: 4, reply: 4 });
  const words = new Int32Array(ring.buffer);
  const { deaths, dead } = LAYOUT.call_ring;
  words[deaths] = -2;
  for (const id of [70, 71, 72]) ring.abandon(id);
  const last = 15 << 28; // the last round
  assert.equal([...words.subarray(dead, dead + 16)], [
    72,
    ...Array(13).fill(0),
    last | 70,
    last | 71,
  ]);
  assert.is(words[deaths], 1);
});

test("a server that never waits hears of it when it keeps more", () => {
  const ring = CallRing.create({ request: 4, reply: 4 });
  const hosts = new Hosts(new Int32Array(ring.buffer));
  let ended = 0;
  const object = { return: () => ended++ };
  const key = hosts.add(1, { object, owner: 70, iterates: true });
  ring.abandon(70);
  assert.is(hosts.get(key), object);
  hosts.add(1, { object, owner: 70, iterates: true });
  assert.is(hosts.get(key), undefined);
  assert.is(ended, 1);
});

/** A server beside agent 70, which has all that the callers of a ring need. */
async function beside70(
  run: (ring: CallRing) => Promise<void>,
  first: readonly number[],
): Promise<number> {
  const [MAKE, CALL, ELSEWHERE] = [5, 1, 6];
  const ring = CallRing.create({ slots: 4, request: 64, reply: 64 });
  let asked = 0;
  const served = ring.serveAsync((request) => {
    const what = request[0]! & 31;
    if (what === MAKE || what === CALL) return Uint8Array.from(first);
    asked++;
    return Uint8Array.of(ELSEWHERE);
  });
  await run(ring);
  ring.close();
  await served;
  return asked;
}

test("a call of an object fails once its server is abandoned", async () => {
  const [OBJECT, INSTANCE, ITERATOR] = [7, 1, 2];
  for (const kind of [INSTANCE, ITERATOR]) {
    const key = [...new TextEncoder().encode("70-1")];
    const asked = await beside70(async (ring) => {
      const remote = connect<Shelf>(ring);
      const it = hold(await new remote.Counter(1));
      const rows = it as unknown as AsyncIterator<number>;
      const call = rejection(kind === INSTANCE ? it.add(1) : rows.next());
      await new Promise((resolve) => setTimeout(resolve, 50));
      ring.abandon(70);
      const error = await call as CallError;
      assert.instance(error, CallError);
      assert.is(error.abandoned, true);
      assert.is(error.message, "The server of the call was abandoned");
      if (kind === INSTANCE) {
        assert.instance(await rejection(it.add(1)), CallError);
      }
      assert.is(ring.pending, 0);
    }, [OBJECT, kind, ...key]);
    assert.ok(asked > 1, "it waited for agent 70");
  }
});

test("so does a call whose function the server has called back", async () => {
  const [CALLBACK, CALL] = [9, 1];
  for (const text of ["short", "long".repeat(50)]) {
    let called = 0;
    // Agent 70 makes its call back 1 of function 1.
    const words = [70, 1, 1].flatMap((word) => [word, 0, 0, 0]);
    const asked = await beside70(async (ring) => {
      const remote = connect<{ each(f: () => string): Promise<void> }>(ring);
      const call = rejection(remote.each(() => {
        called++;
        ring.abandon(70);
        return text;
      }));
      const error = await call as CallError;
      assert.instance(error, CallError);
      assert.is(error.abandoned, true);
      assert.is(ring.pending, 0);
    }, [CALLBACK, ...words, CALL]);
    assert.is(called, 1);
    assert.is(asked > 0, true);
  }
});

test("a caller that blocks has the same words", async () => {
  const ring = CallRing.create({ slots: 4, request: 128, reply: 64 });
  const url = new URL("./nested_agent.ts", import.meta.url);
  const thread = await spawn(url, ring.handle);
  await thread.next();
  const remote = connect.blocking<Api>(ring);
  assert.is(remote.math.add(1, 2), 3);
  assert.is(remote.version(), "1.2");
  assert.is(remote.counter.twice(), 10);
  const counter = new remote.Counter(3);
  assert.is(counter.add(1), 4);
  assert.is(counter.count(), 4);
  counter[Symbol.dispose]();
  assert.throws(() => counter.add(1), /was released/);
  assert.throws(() => new remote.Counter(-1), /of -1/);
  // deno-lint-ignore no-explicit-any
  const any = remote as any;
  assert.throws(() => any.version(1), /no method/);
  ring.close();
  await thread.next();
  thread.stop();
});

for (const slots of [1, 2]) {
  test(`a caller that blocks releases any number, by ${slots} slots`, async () => {
    const ring = CallRing.create({ slots, request: 128, reply: 64 });
    const url = new URL("./nested_agent.ts", import.meta.url);
    const thread = await spawn(url, ring.handle);
    await thread.next();
    const remote = connect.blocking<Api>(ring, { timeout: 20_000 });
    for (let n = 0; n < 40; n++) {
      const counter = new remote.Counter(n);
      assert.is(counter.add(1), n + 1);
      counter[Symbol.dispose]();
    }
    assert.is(ring.pending, 0);
    ring.close();
    assert.is(await thread.next(), 3 * 40);
    thread.stop();
  });
}

test("a call finds the server that has its instance", async () => {
  const ring = CallRing.create({ slots: 4, request: 128, reply: 64 });
  const url = new URL("./nested_agent.ts", import.meta.url);
  const thread = await spawn(url, ring.handle);
  await thread.next();
  const served = serve(ring, api);
  const remote = connect<Api>(ring);
  const counters = await Promise.all(
    [1, 2, 3, 4].map((n) => new remote.Counter(n)),
  );
  for (let i = 1; i <= 3; i++) {
    const sums = await Promise.all(counters.map((counter) => counter.add(1)));
    assert.equal(sums, [1 + i, 2 + i, 3 + i, 4 + i]);
  }
  ring.close();
  await thread.next();
  await served;
  thread.stop();
});

test("undefined is an argument in JSON, too, and may be thrown", () =>
  within(async (ring) => {
    const remote = connect<Api>(ring, { codec: codec.json } as never);
    assert.is(await remote.count(undefined), 0);
    assert.is(await remote.count(1, undefined, undefined), 1);
    const error = await rejection(remote.count(undefined, 1));
    assert.match(error.message, "[0]");
    assert.is(await rejection(remote.fails()), undefined);
  }, true));

test("undefined may be thrown", () =>
  within(async (ring) => {
    const remote = connect<Api>(ring);
    assert.is(await rejection(remote.fails()), undefined);
    assert.is(await remote.count(undefined), 1);
  }));
