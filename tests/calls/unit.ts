// also: node
// Types, values, errors, and threads that serve.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  agentId,
  CallRing,
  type Codec,
  codec,
  connect,
  serve,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { countThens } from "../_run/thens.ts";
import { spawn } from "../_run/workers.ts";
import type { Api, ServeJob } from "./api.ts";
import { between, CODECS, echo, rejection } from "./parts.ts";

const test = suite("calls");

const AGENT = new URL("./agent.ts", import.meta.url);

// ---- types ------------------------------------------------------------------

/** What must not compile; never called. */
export function types(ring: CallRing) {
  const remote = connect<Api>(ring);
  const sum: Promise<number> = remote.add(1, 2);
  const text: Promise<string> = remote.later("a");
  const { add, later } = connect.blocking<Api>(ring);
  const now: number = add(1, 2);
  const awaited: string = later("a");
  interface Counter {
    count: number;
    add(n: number): number;
  }
  const counter = connect<Counter>(ring);
  const total: Promise<number> = counter.add(1);
  interface Generic {
    first<T>(of: T[]): Promise<T>;
    last<T>(of: T[]): T;
    both(a: string): Promise<string>;
    both(a: number): Promise<number>;
    bound(this: { other: 1 }, a: string): Promise<string>;
    loose(a: string): unknown;
    // deno-lint-ignore no-explicit-any
    any(a: string): any;
    never(): never;
  }
  const generic = connect<Generic>(ring);
  const first: Promise<number> = generic.first([1]);
  const both: [Promise<string>, Promise<number>] = [
    generic.both("a"),
    generic.both(1),
  ];
  const bound: Promise<string> = generic.bound("a");
  const loose: Promise<unknown> = generic.loose("a");
  const any: Promise<number> = generic.any("a");
  const never: Promise<never> = generic.never();
  const generics = connect.blocking<Generic>(ring);
  const last: number = generics.last([1]);
  const one: string = generics.bound("a");
  const thrown: () => never = () => generics.never();
  // @ts-expect-error: its elements are numbers
  const text1: Promise<string> = generic.first([1]);
  // @ts-expect-error: an async copy of it would have to be written by hand
  const last1: Promise<number> = generic.last([1]);
  // @ts-expect-error: a promise, though anything
  generic.any("a").text;
  // @ts-expect-error: it takes numbers
  remote.add("1", 2);
  // @ts-expect-error: and both of them
  remote.add(1);
  // @ts-expect-error: a method that there is not
  remote.sub(1, 2);
  // @ts-expect-error: a promise, and no number
  const wrong: number = remote.add(1, 2);
  const count: PromiseLike<number> = counter.count;
  // @ts-expect-error: it is another agent's
  counter.count = 5;
  // @ts-expect-error: an option that there is not
  connect<Api>(ring, { time: 1 });
  const found = [
    count,
    first,
    both,
    bound,
    loose,
    any,
    never,
    last,
    one,
    thrown,
  ];
  return [sum, text, now, awaited, total, wrong, found, text1, last1];
}

// ---- values -----------------------------------------------------------------

for (const [name, codec, values] of CODECS) {
  test(`arguments and results arrive equal, with ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(values, { maxLength: 4 }),
        fc.constantFrom(4, 8, 64, 1024),
        async (args, reply) => {
          await between(echo, async (ring) => {
            const remote = connect<typeof echo>(ring, { codec });
            assert.equal(await remote.echo(...args), args);
          }, { request: 8192, reply, codec });
        },
      ),
      { numRuns: 30 },
    );
  });

  test(`a request longer than a slot goes in pieces, with ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(values, { maxLength: 4 }),
        fc.constantFrom(20, 24, 64),
        async (args, request) => {
          const count = await between(echo, async (ring) => {
            const remote = connect<typeof echo>(ring, { codec });
            const both = [remote.echo(...args), remote.echo(...args, 1)];
            assert.equal(await Promise.all(both), [args, [...args, 1]]);
          }, { request, reply: 64, slots: 2, codec });
          assert.is(count, 2);
        },
      ),
      { numRuns: 30 },
    );
  });
}

test("maps, dates, bytes and undefined need no codec", async () => {
  const { buffer } = Uint8Array.of(1, 2, 3);
  const values = [
    new Map([[1n, new Date(5)]]),
    Uint8Array.of(1, 2),
    undefined,
    { not: undefined },
    -0,
  ];
  for (const given of [undefined, codec.structured]) {
    await between(echo, async (ring) => {
      const remote = connect<typeof echo>(ring, { codec: given });
      assert.equal(await remote.echo(...values), values);
      assert.equal(await remote.echo(undefined), [undefined]);
      const [first, last] = await remote.echo(
        new Uint8Array(buffer, 0, 1),
        new Uint8Array(buffer, 2, 1),
      ) as Uint8Array[];
      assert.is(first!.buffer, last!.buffer);
    }, { request: 1024, reply: 16, codec: given });
  }
});

test("a signal stands among values of any kind", async () => {
  const seen: unknown[] = [];
  const notes = {
    note: (a: unknown, signal: AbortSignal, b?: Map<string, undefined>) =>
      void seen.push(a, signal.aborted, b),
  };
  const map = new Map([["a", undefined]]);
  const { signal } = new AbortController();
  await between(notes, async (ring) => {
    const remote = connect<typeof notes>(ring);
    await remote.note(undefined, signal, map);
    await remote.note(10n, signal, undefined);
  });
  assert.equal(seen, [undefined, false, map, 10n, false, undefined]);
});

test("a codec of one's own carries both", async () => {
  const own: Codec<unknown> = {
    name: "words",
    encode(value, into) {
      const numbers = Array.isArray(value) ? value : [0, value];
      if (numbers.length <= into.length) into.set(numbers);
      return numbers.length;
    },
    decode: (bytes) => bytes[0] === 0 ? bytes[1] : [...bytes],
  };
  const sums = { sum: (...of: number[]) => of.reduce((a, b) => a + b, 0) };
  await between(sums, async (ring) => {
    const remote = connect<typeof sums>(ring, { codec: own });
    assert.is(await remote.sum(1, 2, 3), 6);
    const other = await rejection(connect<typeof sums>(ring).sum(1));
    assert.match((other as Error).message, 'served with "words"');
  }, { codec: own });
});

test("a method without a result gives undefined", async () => {
  const count = await between({ nothing: () => {} }, async (ring) => {
    const remote = connect<{ nothing(): void }>(ring);
    assert.is(await remote.nothing(), undefined);
  });
  assert.is(count, 1);
});

test("methods of a class are served with their this", async () => {
  class Counter {
    #count = 0;
    add(n: number) {
      return this.#count += n;
    }
  }
  await between(new Counter(), async (ring) => {
    const remote = connect<Counter>(ring);
    await remote.add(2);
    assert.is(await remote.add(3), 5);
  });
});

test("any number of calls are under way, answered in any order", async () => {
  const ends: ((n: number) => void)[] = [];
  const slow = { wait: () => new Promise<number>((end) => ends.push(end)) };
  await between(slow, async (ring) => {
    const remote = connect<typeof slow>(ring);
    const calls = Array.from({ length: 3 }, () => remote.wait());
    while (ends.length < 2) await new Promise((resolve) => setTimeout(resolve));
    ends[1]!(1);
    assert.is(await calls[1], 1);
    ends[0]!(0);
    while (ends.length < 3) await new Promise((resolve) => setTimeout(resolve));
    ends[2]!(2);
    assert.equal(await Promise.all(calls), [0, 1, 2]);
  }, { slots: 4, limit: 2 });
});

test("a method that takes long keeps nothing of the calls beside it", async () => {
  const most = countThens();
  let end = () => {};
  const methods = {
    long: () => new Promise<void>((resolve) => end = resolve),
    short: () => Promise.resolve(1),
  };
  await between(methods, async (ring) => {
    const remote = connect<typeof methods>(ring);
    const long = remote.long();
    for (let i = 0; i < 200; i++) await remote.short();
    assert.ok(most() < 50, "something for each call");
    end();
    await long;
  }, { slots: 4, limit: 2 });
});

test("more calls than slots wait for one", async () => {
  const doubling = { double: (n: number) => 2 * n };
  await between(doubling, async (ring) => {
    const { double } = connect<typeof doubling>(ring);
    const numbers = Array.from({ length: 40 }, (_, i) => i);
    const doubled = await Promise.all(numbers.map((n) => double(n)));
    assert.equal(doubled, numbers.map((n) => 2 * n));
  }, { slots: 3 });
});

// ---- threads ----------------------------------------------------------------

const same = (a: unknown, b: unknown) =>
  JSON.stringify(a) === JSON.stringify(b);

for (const blocking of [false, true]) {
  const how = blocking ? "that blocks" : "that awaits";

  test(`a thread ${how} is called`, async () => {
    const { handle } = CallRing.create({ slots: 4, request: 64, reply: 4 });
    const ring = CallRing.from(handle);
    const job: ServeJob = { ring: handle, blocking };
    const thread = await spawn(AGENT, job);
    assert.is.not(await thread.next(), agentId());
    const remote = connect<Api>(ring);
    const now = connect.blocking<Api>(ring);
    const sums = Array.from({ length: 50 }, (_, i) => remote.add(i, 0.5));
    assert.equal(await Promise.all(sums), sums.map((_, i) => i + 0.5));
    assert.is(now.add(1, 2), 3);
    assert.is(now.repeat("ab", 100), "ab".repeat(100));
    const long = "ü".repeat(300);
    assert.is(now.repeat(long, 2), long + long);
    assert.is(await remote.repeat(long, 1), long);
    assert.is(await remote.repeat("ü", 100), "ü".repeat(100));
    const error = (await rejection(remote.fail("A real error"))) as Error;
    assert.instance(error, RangeError);
    assert.is(error.message, "A real error");
    assert.is((error.cause as { code?: string }).code, "ENOENT");
    assert.match(error.stack!, /\bat .*fail/); // of the thread that threw
    assert.throws(() => now.fail("x"), (error: Error) => error.message === "x");
    if (blocking) {
      const later = (await rejection(remote.later("a"))) as Error;
      assert.match(later.message, "cannot await it");
    } else assert.is(now.later("a"), "a");
    // A handler that never awaits sees that its caller has given up. If a call
    // is over before the thread serves it, the next one gets more time.
    let served = 58;
    let seen: unknown;
    const see = async (give: (ms: number) => Promise<void>, why: unknown) => {
      for (let ms = 20; ms < 10_000 && !same(seen, why); ms *= 2) {
        await give(ms);
        const before = seen;
        seen = await remote.reason();
        served += same(seen, before) ? 1 : 2;
      }
      assert.equal(seen, why);
    };
    await see(async (ms) => {
      const control = new AbortController();
      const spinning = rejection(remote.spin(control.signal));
      await new Promise((resolve) => setTimeout(resolve, ms));
      control.abort("no more");
      assert.is(await spinning, "no more");
    }, "no more");
    await see(async (timeout) => {
      const brief = connect<Api>(ring, { timeout });
      const { signal } = new AbortController();
      const late = (await rejection(brief.spin(signal))) as Error;
      assert.is(late.name, "TimeoutError");
    }, ["TimeoutError", "The call "]);
    ring.close();
    assert.is(await thread.next(), served);
    thread.stop();
  });
}

test("pieces find the thread that has the others", async () => {
  const { handle } = CallRing.create({ slots: 4, request: 64, reply: 64 });
  const ring = CallRing.from(handle);
  const threads = await Promise.all(
    [true, false].map((blocking) => spawn(AGENT, { ring: handle, blocking })),
  );
  for (const thread of threads) await thread.next();
  const remote = connect<Api>(ring);
  const texts = Array.from({ length: 4 }, (_, i) => `${i}`.repeat(150));
  const calls = texts.map((text) => remote.repeat(text, 2));
  assert.equal(await Promise.all(calls), texts.map((text) => text + text));
  ring.close();
  let served = 0;
  for (const thread of threads) {
    served += await thread.next<number>();
    thread.stop();
  }
  assert.is(served, texts.length);
});

test("a codec that does not say how many bytes it wrote is named", async () => {
  const api = {
    later: (n: number) => Promise.resolve(n),
    fails: () => Promise.reject("no error"),
    calls: (back: (n: number) => unknown) => back(1),
  };
  for (const wrong of [undefined, NaN, -5, 2.5]) {
    const ring = CallRing.create({ request: 64, reply: 64 });
    let left = 0; // calls of the codec that are right
    const mute: Codec<unknown> = {
      ...codec.json as Codec<unknown>,
      name: "mute",
      encode: (value, into) =>
        left-- > 0
          ? (codec.json as Codec<unknown>).encode(value, into)
          : wrong as number,
    };
    const served = serve(ring, api, { codec: mute });
    const remote = connect<typeof api>(ring, { codec: mute });
    const why = async (right: number, call: () => Promise<unknown>) => {
      left = right;
      return String(await call().catch((error: unknown) => error));
    };
    const says = /codec mute must return how many bytes it wrote/;
    assert.match(await why(0, () => remote.later(1)), says);
    assert.match(await why(1, () => remote.later(1)), says, "a result");
    assert.match(await why(0, () => remote.fails()), /threw "no error"/);
    const back = (n: number) => n;
    assert.match(await why(0, () => remote.calls(back)), says);
    assert.match(await why(1, () => remote.calls(back)), says, "arguments");
    assert.match(await why(2, () => remote.calls(back)), says, "an outcome");
    left = 2;
    assert.is(await remote.later(5), 5);
    ring.close();
    await served;
  }
});

test("a codec that asks for ever more bytes is refused soon", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const greedy: Codec<unknown> = {
    name: "greedy",
    encode: (_, into) => into.length + 1,
    decode: () => 0,
  };
  const remote = connect<{ f(n: number): number }>(ring, { codec: greedy });
  let error: unknown;
  await remote.f(1).catch((reason: unknown) => error = reason);
  assert.instance(error, TypeError);
  assert.match((error as Error).message, "greedy asks for more bytes");
});
