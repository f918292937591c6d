// also: node
import * as assert from "uvu/assert";
import fc from "fast-check";
import {
  agentId,
  CallError,
  CallRing,
  type CallRingConfig,
  type Codec,
  codec,
  connect,
  serve,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { asAgent } from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";
import { type Api, api, type ServeJob } from "./api.ts";

const AGENT = new URL("./agent.ts", import.meta.url);

const test = suite("calls");

/** Serves `served` while `run` calls it, in this agent. */
async function between<T extends object>(
  served: T,
  run: (ring: CallRing) => Promise<void>,
  {
    codec,
    limit,
    ...config
  }: Partial<CallRingConfig> & {
    codec?: Codec<unknown> | undefined;
    limit?: number;
  } = {},
): Promise<number> {
  const ring = CallRing.create({ request: 64, reply: 64, ...config });
  const options = { codec, ...limit === undefined ? {} : { limit } };
  const serving = serve(ring, served, options);
  try {
    await run(ring);
  } finally {
    ring.close();
  }
  const count = await serving;
  assert.is(ring.pending, 0);
  return count;
}

/** What a promise is rejected with. */
const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then((value) => {
    throw new Error(`resolved with ${value}`);
  }, (reason) => reason);

/** What a call throws: an error of this class, which says this. */
function refuses(run: () => unknown, Class: typeof Error, what: string) {
  assert.throws(
    run,
    (error: Error) => error instanceof Class && error.message.includes(what),
  );
}

// ---- types ---------------------------------------------------------------------

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

// ---- values --------------------------------------------------------------------

const echo = { echo: (...args: unknown[]): unknown => args };

/** What JSON carries, with strings of any length. */
const jsonValue = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });

/** What is sent without a codec. */
const anything = fc.anything({ withBigInt: true, withSet: true, maxDepth: 3 });

/** The codecs of both sides, and the values that they carry. */
const CODECS: [string, Codec<unknown> | undefined, fc.Arbitrary<unknown>][] = [
  ["codec.json", codec.json as Codec<unknown>, jsonValue],
  ["no codec", undefined, anything],
];

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

test("more calls than slots wait for one", async () => {
  const doubling = { double: (n: number) => 2 * n };
  await between(doubling, async (ring) => {
    const { double } = connect<typeof doubling>(ring);
    const numbers = Array.from({ length: 40 }, (_, i) => i);
    const doubled = await Promise.all(numbers.map((n) => double(n)));
    assert.equal(doubled, numbers.map((n) => 2 * n));
  }, { slots: 3 });
});

// ---- errors --------------------------------------------------------------------

interface Thrown extends Error {
  code?: string | number;
}

const thrown = fc.record({
  Class: fc.constantFrom(Error, TypeError, RangeError, SyntaxError),
  name: fc.option(fc.string()),
  message: fc.string({ maxLength: 200, unit: "binary" }),
  code: fc.option(fc.oneof(fc.string(), fc.integer())),
  cause: fc.option(jsonValue, { nil: undefined }),
});

test("errors arrive whole, whatever the slots' size", async () => {
  await fc.assert(
    fc.asyncProperty(
      thrown,
      fc.constantFrom(4, 64, 4096),
      fc.boolean(),
      async ({ Class, name, message, code, cause }, reply, nested) => {
        const inner = new TypeError("inner", { cause });
        const error: Thrown = new Class(message, {
          cause: nested ? inner : cause,
        });
        if (name !== null) error.name = name;
        if (code !== null) error.code = code;
        const fails = {
          fail: () => {
            throw error;
          },
        };
        await between(fails, async (ring) => {
          const end = await rejection(connect<typeof fails>(ring).fail());
          const got = end as Thrown;
          assert.is(got.name, error.name);
          assert.is(got.message, error.message);
          assert.is(got.stack, error.stack);
          assert.is(got.code, error.code);
          if (name === null) assert.instance(got, Class);
          if (nested) {
            assert.instance(got.cause, TypeError);
            const { stack, cause: of } = got.cause as Error;
            assert.equal([stack, of], [inner.stack, cause]);
          } else assert.equal(got.cause, cause);
        }, { reply });
      },
    ),
    { numRuns: 30 },
  );
});

test("an error whose causes form a graph arrives soon", async () => {
  const parts = (n: number, cause?: unknown) =>
    Array.from({ length: n }, (_, i) => new Error(`part ${i}`, { cause }));
  /** Each part of an aggregate has the aggregate as its cause. */
  const shared = (n: number) => {
    const all = new AggregateError(parts(n), "shared");
    for (const part of all.errors) part.cause = all;
    return all;
  };
  /** Of each level, each error has the whole level below as its causes. */
  const layers = (n: number) => {
    let all = new AggregateError(parts(n), "layer 0");
    for (let i = 1; i <= n; i++) {
      all = new AggregateError(parts(n, all), `layer ${i}`);
    }
    return all;
  };
  /** Data of which JSON has a million times more parts than it has itself. */
  const data = (n: number) => {
    let all: unknown[] = [];
    for (let i = 0; i < n; i++) all = [all, all, all];
    return new Error("data", { cause: all });
  };
  const many = (n: number) => new AggregateError(parts(n * 100), "many");
  const makes = { shared, layers, data, many };
  const fails = {
    fail: (what: keyof typeof makes, n: number) => {
      throw makes[what](n);
    },
  };
  await between(fails, async (ring) => {
    const remote = connect<typeof fails>(ring);
    for (const n of [1, 2, 3, 5, 8, 30]) {
      for (const what of Object.keys(makes) as (keyof typeof makes)[]) {
        const begin = performance.now();
        const error = await rejection(remote.fail(what, n)) as AggregateError;
        const ms = performance.now() - begin;
        assert.ok(ms < 8000, `${what} of ${n}: ${ms} ms`);
        if (what === "data") continue;
        const { errors, name } = error;
        assert.is(name, "AggregateError");
        assert.ok(errors.length === n || what === "many");
        assert.is(errors[0].message, "part 0");
        if (what !== "shared") continue;
        assert.is(errors[n - 1].cause.message, "shared");
        assert.is(errors[n - 1].cause.cause, undefined);
      }
    }
  }, { reply: 65536 });
});

test("an error that is its own cause, or cannot be read, ends the call", async () => {
  const looped = new Error("looped");
  looped.cause = looped;
  const hostile = Object.defineProperty(new Error(), "message", {
    get: () => {
      throw new Error("no");
    },
  });
  const several = new AggregateError([new TypeError("one"), 2], "several");
  const { proxy: unreadable, revoke } = Proxy.revocable({}, {});
  revoke();
  const all: Record<string, unknown> = {
    ...{ looped, hostile, several, unreadable, text: "text" },
    ...{ nan: NaN, nothing: undefined, abort: new DOMException("a", "b") },
  };
  const fails = {
    fail: (what: string) => {
      throw all[what];
    },
  };
  await between(fails, async (ring) => {
    const remote = connect<typeof fails>(ring);
    const of = (what: string) =>
      rejection(remote.fail(what)) as Promise<AggregateError>;
    assert.is(((await of("looped")).cause as Error).message, "looped");
    assert.match((await of("hostile")).message, "cannot be read");
    const { errors, message } = await of("several");
    assert.is(message, "several");
    assert.instance(errors[0], TypeError);
    assert.is(errors[1], 2);
    assert.is(await of("text"), "text");
    assert.match(
      (await of("unreadable")).message,
      "threw a value that cannot be read",
    );
    assert.ok(Number.isNaN(await of("nan") as unknown));
    assert.is(await of("nothing") as unknown, undefined);
    assert.equal([(await of("abort")).name, (await of("abort")).message], [
      "b",
      "a",
    ]);
  });
  const { json } = codec;
  await between(fails, async (ring) => {
    const remote = connect<typeof fails>(ring, { codec: json });
    const of = (what: string) =>
      rejection(remote.fail(what)) as Promise<AggregateError>;
    assert.match((await of("nan")).message, "threw NaN");
    assert.is(await of("nothing") as unknown, undefined);
  }, { codec: json as Codec<unknown> });
});

for (const [name, codec] of CODECS) {
  test(`what cannot be carried is refused with its path: ${name}`, async () => {
    /** An argument and a result that it does not carry. */
    const [argument, result] = codec === undefined
      ? [() => {}, Symbol("none")]
      : [1n, NaN];
    const count = await between(
      { echo: echo.echo, odd: () => ({ a: [result] }) },
      async (ring) => {
        const api = connect<typeof echo & { odd(): unknown }>(ring, { codec });
        const sent = await rejection(api.echo(1, { b: [0, argument] }));
        assert.instance(sent, TypeError);
        assert.match((sent as Error).message, 'at [1]["b"][1]');
        assert.is(ring.pending, 0);
        const got = await rejection(api.odd());
        assert.instance(got, TypeError);
        assert.match((got as Error).message, 'at ["a"][0]');
        const long = await rejection(api.echo("x".repeat(100), [argument]));
        assert.match((long as Error).message, "at [1]");
      },
      { codec },
    );
    assert.is(count, 1); // nothing was sent of the other two
  });
}

test("an unknown method is an error that names those there are", async () => {
  await between(api, async (ring) => {
    const remote = connect<Record<string, () => void>>(ring);
    for (const name of ["sub", "constructor", "toString", "ü"]) {
      const error = await rejection(remote[name]!());
      assert.instance(error, TypeError);
      assert.is(
        (error as Error).message,
        `No method ${JSON.stringify(name)} is served: there are ` +
          "add, later, repeat, fail, spin, reason",
      );
    }
    assert.is(remote.then, undefined); // so it can be awaited
  });
});

test("wrong arguments are refused, before anything happens", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const any = (value: unknown) => value as never;
  refuses(() => connect(any({})), TypeError, "Calls need a CallRing");
  refuses(() => connect(ring, any({ tmeout: 1 })), TypeError, "tmeout");
  refuses(() => connect(ring, { timeout: -1 }), RangeError, "-1");
  refuses(() => connect(ring, any({ ref: 1 })), TypeError, "ref");
  refuses(() => connect(ring, any({ codec: {} })), TypeError, "codec");
  refuses(() => connect.blocking(ring, any({ ref: true })), TypeError, "ref");
  refuses(() => serve.blocking(ring, any(5)), TypeError, "5");
  refuses(() => serve.blocking(ring, {}), TypeError, "it has none");
  refuses(() => serve.blocking(ring, { then() {} }), TypeError, "then");
  for (const [request, reply] of [[8, 64], [64, 0]] as const) {
    const small = CallRing.create({ request, reply });
    refuses(() => connect(small), RangeError, "12 bytes or more");
  }
  const wrong = await rejection(serve(ring, api, any({ lmit: 1 })));
  assert.match((wrong as Error).message, "lmit");
  const none = await rejection(serve(ring, api, { limit: 0 }));
  assert.instance(none, RangeError);
  const name = "x".repeat(256);
  refuses(
    () => connect<Record<string, () => void>>(ring)[name],
    RangeError,
    "256",
  );
});

// ---- ends ----------------------------------------------------------------------

test("an abort ends the call, and the handler's signal aborts", async () => {
  let seen: Promise<unknown> | undefined;
  const waits = {
    wait: (_: number, signal: AbortSignal) => {
      assert.not.ok(signal.aborted);
      signal.throwIfAborted();
      seen = new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(signal.aborted));
      });
      return seen;
    },
  };
  await between(waits, async (ring) => {
    const remote = connect<typeof waits>(ring);
    const control = new AbortController();
    const reason = new Error("enough");
    const end = rejection(remote.wait(1, control.signal));
    while (seen === undefined) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    control.abort(reason);
    assert.is(await end, reason);
    assert.is(await seen, true);
    assert.is(await rejection(remote.wait(1, control.signal)), reason);
    // Aborted between the call and the first look for its answer.
    const other = new AbortController();
    const early = rejection(remote.wait(1, other.signal));
    other.abort(reason);
    assert.is(await early, reason);
  });
});

/** The reason that a handler sees of a call that is aborted for this one. */
async function reasonFor(
  reason: unknown,
  config: Partial<CallRingConfig> & { codec?: Codec<unknown> } = {},
): Promise<unknown> {
  let seen: Promise<unknown> | undefined;
  const waits = {
    wait: (_: string, signal: AbortSignal) =>
      seen = new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(signal.reason));
      }),
  };
  const { codec } = config;
  await between(waits, async (ring) => {
    const remote = connect<typeof waits>(ring, { codec });
    const control = new AbortController();
    // In pieces if the slots are short.
    const end = rejection(remote.wait("x".repeat(100), control.signal));
    while (seen === undefined) {
      await new Promise((resolve) => setTimeout(resolve));
    }
    control.abort(reason);
    assert.is(await end, control.signal.reason);
    await seen;
  }, config);
  return seen;
}

test("the handler's signal has the reason of the caller's", async () => {
  const wide = { request: 4096 };
  const error = Object.assign(new RangeError("too much", { cause: [1, "a"] }), {
    code: "E2BIG",
  });
  for (const request of [64, 4096]) {
    assert.is(await reasonFor("enough", { request }), "enough");
    assert.equal(await reasonFor({ why: [1, 2] }, { request }), {
      why: [1, 2],
    });
    const got = await reasonFor(error, { request: request + 64 }) as Thrown;
    assert.instance(got, RangeError);
    assert.is(got.message, "too much");
    assert.is(got.code, "E2BIG");
    assert.equal(got.cause, request === 64 ? undefined : [1, "a"]);
  }
  const map = new Map([[1, 2]]);
  assert.equal(await reasonFor(map, wide), map);
  assert.is(await reasonFor(1n), 1n);
  for (const request of [64, 4096]) {
    const got = await reasonFor(undefined, { request }) as DOMException;
    assert.instance(got, DOMException);
    assert.is(got.name, "AbortError");
  }
  // What is too long, or what the codec cannot carry.
  const long = await reasonFor(new TypeError("x".repeat(100))) as Error;
  assert.instance(long, TypeError);
  assert.is(long.message, "x".repeat(12));
  const json = codec.json as Codec<unknown>;
  for (const reason of ["x".repeat(100), 1n, () => {}]) {
    const given = typeof reason === "bigint" ? { codec: json } : {};
    const got = await reasonFor(reason, given) as DOMException;
    assert.instance(got, DOMException);
    assert.is(got.name, "AbortError");
  }
  const hair = await reasonFor("x", { request: 12 + 8 + 3 });
  assert.is(hair as Error | string, "x");
});

test("a codec that refuses a reason does not harm the server", async () => {
  const refusing: Codec<unknown> = {
    name: "refusing",
    encode: (value, into) => codec.json.encode(value as string, into),
    decode(bytes) {
      const value = codec.json.decode(bytes);
      if (value === "no") throw new Error("refused");
      return value;
    },
  };
  const got = await reasonFor("no", { codec: refusing }) as DOMException;
  assert.is(got.name, "AbortError");
});

test("a timeout ends the call, and the handler's signal aborts", async () => {
  let aborted: Promise<void> | undefined;
  const waits = {
    wait: (signal: AbortSignal) => {
      aborted = new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve())
      );
      return aborted;
    },
  };
  await between(waits, async (ring) => {
    const remote = connect<typeof waits>(ring, { timeout: 20 });
    const error = await rejection(remote.wait(new AbortController().signal));
    assert.is((error as Error).name, "TimeoutError");
    await aborted;
  });
  const ring = CallRing.create({ request: 64, reply: 64 });
  const alone = connect.blocking<Api>(ring, { timeout: 1 });
  assert.throws(
    () => alone.add(1, 2),
    (error: Error) => error.name === "TimeoutError",
  );
  assert.is(ring.pending, 0);
});

test("where nobody serves any more, calls are rejected", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const remote = connect<Api>(ring);
  const lost = rejection(remote.add(1, 2)) as Promise<CallError>;
  const posted = rejection(remote.add(3, 4)) as Promise<Error>;
  await new Promise((resolve) => setTimeout(resolve));
  // A server that takes one call, and dies.
  const dead = asAgent(77, () => new CallRing(ring.buffer));
  assert.ok(dead.tryTake());
  ring.abandon(77);
  const error = await lost;
  assert.instance(error, CallError);
  assert.ok(error.abandoned);
  ring.close();
  assert.is((await posted).name, "ClosedError");
  assert.is(((await rejection(remote.add(1, 2))) as Error).name, "ClosedError");
  assert.is(ring.pending, 0);
});

test("an abort ends serving, once all calls are answered", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const control = new AbortController();
  const { signal } = control;
  const serving = rejection(serve(ring, api, { signal }));
  const later = connect<Api>(ring).later("last");
  await new Promise((resolve) => setTimeout(resolve));
  control.abort(new Error("stop"));
  assert.is(await later, "last");
  assert.is((await serving as Error).message, "stop");
});

test("what is no call of connect is answered by an error", async () => {
  await between(api, async (ring) => {
    for (const bytes of [[], [1], [1, 0, 200, 0, 0, 0, 0, 0], [9, 9]]) {
      const reply = await ring.callAsync(Uint8Array.from(bytes));
      assert.match(new TextDecoder().decode(reply), "was not made by connect");
    }
  }, { reply: 4096 });
  const ring = CallRing.create({ request: 64, reply: 64 });
  const other = ring.serveAsync(() => Uint8Array.of(0));
  const error = await rejection(connect<Api>(ring).add(1, 2));
  assert.match((error as Error).message, "does not use serve");
  ring.close();
  await other;
});

test("a request whose pieces stop coming is forgotten after 30 s", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const served = serve(ring, api);
  const [PIECE_OF_CALL, NEXT, ELSEWHERE] = [3, 1, 6];
  const piece = async (token: number, offset: number) => {
    const request = new DataView(new ArrayBuffer(64));
    request.setUint8(0, PIECE_OF_CALL);
    request.setInt32(4, token, true);
    request.setInt32(8, offset, true);
    request.setInt32(12, 1000, true); // bytes of the whole
    return [...await ring.callAsync(request)];
  };
  const { now } = Date;
  try {
    assert.equal(await piece(1, 0), [NEXT]);
    Date.now = () => now() + 29_000;
    assert.equal(await piece(2, 0), [NEXT]);
    assert.equal(await piece(1, 48), [NEXT], "after less than 30 s");
    Date.now = () => now() + 60_000;
    assert.equal(await piece(3, 0), [NEXT]);
    assert.equal(await piece(1, 96), [ELSEWHERE], "after more");
  } finally {
    Date.now = now;
    ring.close();
    await served;
  }
});

test("the rest of a reply to a caller that is gone is given back", async () => {
  const [FETCH, ELSEWHERE] = [2, 6];
  const { now } = Date;
  const { setTimeout } = globalThis;
  // The bytes of a call whose reply is long, as connect() writes them.
  let request = new Uint8Array();
  await between(api, async (ring) => {
    const other = CallRing.create({ request: 64, reply: 64 });
    const taken = other.serveAsync((bytes) => {
      request = bytes.slice();
      other.close();
      return Uint8Array.of(1);
    });
    await connect<Api>(other).repeat("xy", 200);
    await taken;
    const fetch = Uint8Array.of(FETCH, 0, 0, 0, ...request.subarray(4, 8));
    const asked = async () => (await ring.callAsync(fetch)).slice()[0];
    for (const by of ["its next call", "a timer"]) {
      let sweep: (() => void) | undefined;
      globalThis.setTimeout = ((run: () => void, ms: number) => {
        if (ms !== 30_000) return setTimeout(run, ms);
        sweep = run;
        return setTimeout(() => {}, 0);
      }) as typeof setTimeout;
      try {
        await ring.callAsync(request);
        assert.is.not(await asked(), ELSEWHERE, "it is kept for a while");
        Date.now = () => now() + 31_000;
        if (by === "a timer") sweep!();
        else assert.is(await connect<Api>(ring).add(1, 2), 3);
        Date.now = now; // so that only that can have forgotten it
        assert.is(await asked(), ELSEWHERE, by);
        sweep?.();
      } finally {
        globalThis.setTimeout = setTimeout;
        Date.now = now;
      }
    }
  });
});

test("a call fails if the server of its first piece is gone for 30 s", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const [NEXT, ELSEWHERE] = [1, 6];
  const { now } = Date;
  let asked = 0;
  const served = ring.serveAsync((request) => {
    const offset = new DataView(request.slice().buffer).getInt32(8, true);
    if (offset === 0) return Uint8Array.of(NEXT);
    if (++asked === 3) Date.now = () => now() + 31_000;
    return Uint8Array.of(asked < 20 ? ELSEWHERE : 0);
  });
  try {
    const error = await connect<Api>(ring).repeat("x".repeat(500), 1)
      .then(() => undefined, (error) => error);
    assert.match(error.message, "has lost its other pieces");
    assert.is(asked, 3);
  } finally {
    Date.now = now;
    ring.close();
    await served;
  }
});

test("a reply in pieces is fetched from the server that has it", async () => {
  const ring = CallRing.create({ request: 64, reply: 8 });
  const servers = [1, 2, 3].map(() => serve(ring, api));
  const remote = connect<Api>(ring);
  const texts = Array.from({ length: 8 }, (_, i) => `${i}`);
  const long = await Promise.all(texts.map((text) => remote.repeat(text, 50)));
  assert.equal(long, texts.map((text) => text.repeat(50)));
  ring.close();
  const counts = await Promise.all(servers);
  assert.is(counts.reduce((a, b) => a + b), 8);
});

// ---- pieces --------------------------------------------------------------------

test("a long request has its signal, and ends as others do", async () => {
  const control = new AbortController();
  const { signal } = control;
  const waits = {
    async wait(text: string, signal: AbortSignal) {
      assert.is(text.length, 500);
      control.abort(new Error("enough"));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
    echo: (text: string) => text,
  };
  const text = "ü".repeat(500);
  await between(waits, async (ring) => {
    const remote = connect<typeof waits>(ring);
    const end = (await rejection(remote.wait(text, signal))) as Error;
    assert.is(end.message, "enough");
    const early = (await rejection(remote.wait(text, signal))) as Error;
    assert.is(early.message, "enough");
    assert.is(await remote.echo(text), text);
    const { pending } = ring;
    const wrong = rejection(remote.echo(Symbol("no") as never));
    assert.instance(await wrong, Error);
    assert.is(ring.pending, pending);
  });
  const ring = CallRing.create({ request: 64, reply: 64 });
  const alone = connect<Api>(ring, { timeout: 1 });
  const late = (await rejection(alone.repeat(text, 1))) as Error;
  assert.is(late.name, "TimeoutError");
  const now = connect.blocking<Api>(ring, { timeout: 1 });
  assert.throws(
    () => now.repeat(text, 1),
    (error: Error) => error.name === "TimeoutError",
  );
  assert.is(ring.pending, 0);
});

test("a request that cannot go in pieces is refused before", async () => {
  const small = CallRing.create({ request: 16, reply: 64 });
  const text = "ab".repeat(20);
  const error = (await rejection(connect<Api>(small).later(text))) as Error;
  assert.instance(error, RangeError);
  assert.match(error.message, "need a ring for 20 or more");
  refuses(
    () => connect.blocking<Api>(small).repeat(text, 1),
    RangeError,
    "need a ring for 20 or more",
  );
  const huge: Codec<unknown> = {
    name: "huge",
    encode: () => 2 ** 28,
    decode: () => [],
  };
  const ring = CallRing.create({ request: 64, reply: 64 });
  const remote = connect<Api>(ring, { codec: huge });
  const end = (await rejection(remote.later("a"))) as Error;
  assert.instance(end, RangeError);
  assert.match(end.message, `${2 ** 28} bytes together`);
  assert.is(small.pending + ring.pending, 0);
});

/** A message of `connect`: its head, and then a text or bytes. */
function message(head: number[], rest: string | Uint8Array): Uint8Array {
  const bytes = typeof rest === "string"
    ? new TextEncoder().encode(rest)
    : rest;
  return Uint8Array.of(...head, ...bytes);
}

/** The head of a piece of call 7: where it begins, and the whole's length. */
const pieceAt = (at: number, length: number) => //
[3, 0, 0, 0, 7, 0, 0, 0, at, 0, 0, 0, length, 0, 0, 0];

/** The kinds of replies, as `connect` reads them. */
const [NOTHING, VALUE, ERROR, PIECE, ELSEWHERE, MORE] = [1, 2, 3, 5, 6, 128];

/** Calls `use` while two servers of this agent take turns, one at a time. */
async function byTurns(
  ring: CallRing,
  messages: readonly Uint8Array[],
  given?: Codec<unknown>,
): Promise<Uint8Array[]> {
  const replies: Uint8Array[] = [];
  for (const message of messages) {
    const control = new AbortController();
    const { signal } = control;
    const serving = rejection(serve(ring, api, { signal, codec: given }));
    replies.push(await ring.callAsync(message));
    control.abort(new Error("the next one's turn"));
    await serving;
  }
  return replies;
}

test("a server has the pieces of its neighbours in one agent", async () => {
  const ring = CallRing.create({ request: 64, reply: 8 });
  // As connect sends it, with its check byte.
  const json = codec.json as Codec<unknown>;
  const pending = connect<Api>(ring, { codec: json }).repeat("0", 14);
  const taken = await ring.takeAsync();
  const call = taken.request.slice();
  taken.fail("not now");
  assert.instance(await rejection(pending), CallError);
  const fetch = Uint8Array.of(2, 0, 0, 0, ...call.subarray(4, 8));
  const long = await byTurns(ring, [call, fetch, fetch, fetch], json);
  const kinds = long.map(([kind]) => kind);
  assert.equal(kinds, [VALUE | MORE, PIECE | MORE, PIECE, ELSEWHERE]);
  const text = long.map((reply) => new TextDecoder().decode(reply.slice(1)));
  assert.is(text.join(""), JSON.stringify("0".repeat(14)));
  // A request in three pieces, one to each server.
  const length = call.length;
  const cuts = [0, 10, 20, length];
  const pieces = cuts.slice(1).map((end, i) =>
    message(pieceAt(cuts[i]!, length), call.subarray(cuts[i], end))
  );
  const answers = await byTurns(ring, pieces, json);
  const answered = answers.map(([kind]) => kind);
  assert.equal(answered, [NOTHING, NOTHING, VALUE | MORE]);
});

test("pieces that fit no call are not taken", async () => {
  const ring = CallRing.create({ request: 64, reply: 4096 });
  const kinds = async (...messages: Uint8Array[]) =>
    (await byTurns(ring, messages)).map(([kind]) => kind);
  // It continues nothing; then it leaves bytes out, has too many, or none.
  assert.equal(await kinds(message(pieceAt(4, 20), "text")), [ELSEWHERE]);
  const first = message(pieceAt(0, 20), "text");
  assert.equal(
    await kinds(
      first,
      message(pieceAt(8, 20), "text"),
      message(pieceAt(4, 20), "x".repeat(17)),
      message(pieceAt(4, 20), ""),
    ),
    [NOTHING, ELSEWHERE, ELSEWHERE, ELSEWHERE],
  );
  // The whole is shorter than its piece, negative, or no call.
  assert.equal(await kinds(message(pieceAt(0, 3), "text")), [ERROR]);
  const negative = pieceAt(0, 20).with(15, 255);
  assert.equal(await kinds(message(negative, "text")), [ERROR]);
  const whole = message(pieceAt(0, 20), "x".repeat(12));
  const end = message(pieceAt(12, 20), "x".repeat(8));
  assert.equal(await kinds(whole, end), [NOTHING, ERROR]);
  assert.is(ring.pending, 0);
});

// ---- threads -------------------------------------------------------------------

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

// ---- errors of one's own ---------------------------------------------------------

class Denied extends Error {
  override readonly name = "Denied";
  constructor(readonly user: string, readonly tries: number) {
    super(`${user} may not`);
  }
}

class Other extends Denied {}

test("an error of a class of one's own arrives as one, with its fields", async () => {
  const served = {
    deny(user: string): never {
      const more = { code: "E7", loop: {} as object, since: 7n };
      const error = Object.assign(new Denied(user, 3), more);
      error.loop = { error };
      throw error;
    },
    other(): never {
      throw new Other("Bob", 1);
    },
  };
  const ring = CallRing.create({ request: 64, reply: 64 });
  const serving = serve(ring, served, { errors: [Denied] });
  const remote = connect<typeof served>(ring, { errors: [Denied] });
  const error = await rejection(remote.deny("Ann")) as Denied & {
    code: string;
  };
  assert.ok(error instanceof Denied && error instanceof Error);
  assert.is(error.message, "Ann may not");
  assert.is(error.name, "Denied");
  assert.equal([error.user, error.tries, error.code], ["Ann", 3, "E7"]);
  assert.not.ok("loop" in error || "since" in error, "JSON cannot carry them");
  assert.match(error.stack!, /deny/);
  // A class that is not named, or not by both sides, is an Error.
  const other = await rejection(remote.other());
  assert.ok(other instanceof Error && !(other instanceof Denied));
  const plain = await rejection(connect<typeof served>(ring).deny("Ann"));
  assert.ok(plain instanceof Error && !(plain instanceof Denied));
  assert.is((plain as Error).name, "Denied");
  ring.close();
  await serving;
});

test("classes of errors are checked before anything is served", () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const bad = (errors: unknown) => ({ errors: errors as [] });
  for (
    const [errors, what] of [
      [7, "received 7"],
      [[7], "received 7"],
      [[Map], "extend Error"],
      [[Denied, Denied], '"Denied"'],
    ] as const
  ) {
    refuses(() => connect(ring, bad(errors)), TypeError, what);
    refuses(() => connect.blocking(ring, bad(errors)), TypeError, what);
    refuses(() => serve.blocking(ring, echo, bad(errors)), TypeError, what);
  }
});
