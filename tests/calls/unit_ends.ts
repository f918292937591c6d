// also: node
// it waits
// Aborts, timeouts, servers that end, and requests in pieces.
import * as assert from "uvu/assert";
import {
  agentId,
  CallError,
  CallRing,
  type CallRingConfig,
  type Codec,
  codec,
  connect,
  type PendingCall,
  serve,
  type TakenCall,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { replyWithout } from "../../primitives/_calls/pieces.ts";
import { ELSEWHERE, slotsOf } from "../../primitives/_calls/wire.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, turns } from "../_run/model.ts";
import { type Api, api } from "./api.ts";
import { between, rejection, type Thrown } from "./parts.ts";

const test = suite("calls that end");

// ---- ends -------------------------------------------------------------------

test("an abort ends the call, and the handler's signal aborts", async () => {
  let seen: Promise<unknown> | undefined;
  const waits = {
    wait: (_: number, signal: AbortSignal) => {
      assert.not.ok(signal.aborted);
      signal.throwIfAborted();
      seen = new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          assert.ok(signal.aborted);
          resolve(rejection(new Promise(() => signal.throwIfAborted())));
        });
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
    assert.is((await seen as Error).message, "enough");
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

test("a server that was taken for dead answers no later call", async () => {
  const results: [string, () => unknown][] = [
    ["a result", () => 1],
    ["nothing", () => undefined],
    ["a long result", () => "x".repeat(500)],
    ["an object that is kept", () => new Map([[1, 2]]).entries()],
    ["an error", () => {
      throw new Error("no");
    }],
  ];
  for (const [what, result] of results) {
    for (const awaits of [false, true]) {
      const path = `${what}, ${awaits ? "awaiting" : "at once"}`;
      const ring = CallRing.create({ slots: 1, request: 64, reply: 64 });
      const there = asAgent(77, () => new CallRing(ring.buffer));
      const words = new Int32Array(ring.buffer);
      const FIRST = LAYOUT.call_ring.length;
      let next: PendingCall | undefined;
      let taken: TakenCall | undefined;
      let before: Int32Array | undefined;
      const later = () => { // Deno lets it go on
        ring.abandon(77);
        assert.throws(() => first.tryReceive(), /abandoned/);
        next = ring.tryPost(Uint8Array.of(3))!;
        taken = asAgent(78, () => new CallRing(ring.buffer)).tryTake()!;
        before = words.slice(FIRST);
        return result();
      };
      const served = {
        f: awaits ? () => Promise.resolve().then(later) : later,
      };
      const copied = rejection(connect<typeof served>(ring).f());
      await turns();
      const call = ring.tryTake()!;
      const request = call.request.slice();
      call.fail("copied");
      await copied;
      const serving = asAgent(77, () => serve(there, served));
      const first = ring.tryPost(request)!;
      while (before === undefined) await turns();
      await turns();
      assert.equal(words.slice(FIRST), before, path);
      taken!.reply(Uint8Array.of(4));
      assert.equal([...next!.tryReceive()!], [4], path);
      ring.close();
      await serving;
    }
  }
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

test("who serves ends without methods that never end", async () => {
  const ring = CallRing.create({ request: 256, reply: 256, slots: 4 });
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const methods = {
    hang: (what: string, ..._: unknown[]) => {
      began.push(what);
      return new Promise<string>((resolve) => {
        ends.push(() => resolve("late"));
      });
    },
    echo: (what: string) => what,
  };
  const served = serve(ring, methods, { limit: 3 });
  const remote = connect<typeof methods>(ring, { timeout: 50 });
  const patient = connect<typeof methods>(ring, { timeout: 20_000 });
  const { signal } = new AbortController();
  const given = [
    remote.hang("plain"),
    remote.hang("told", signal),
    remote.hang("with a function", () => {}),
  ].map(rejection);
  while (began.length < 3) await new Promise((resolve) => setTimeout(resolve));
  const waits = patient.echo("behind them"); // the limit is reached
  for (const error of await Promise.all(given)) {
    assert.is(error.name, "TimeoutError");
  }
  ring.close();
  assert.is(await waits, "behind them");
  assert.is(await served, 4);
  assert.is(ring.pending, 0);
  // The memory may have another use by now.
  const words = new Int32Array(ring.buffer);
  const before = words.slice();
  for (const end of ends) end();
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(words, before);
});

test("who serves waits for methods that end soon", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  let done = 0;
  const methods = {
    slow: async (ms: number) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return ++done;
    },
  };
  const served = serve(ring, methods);
  const remote = connect<typeof methods>(ring, { timeout: 10 });
  assert.is((await rejection(remote.slow(300))).name, "TimeoutError");
  const other = connect<typeof methods>(ring).slow(400);
  await new Promise((resolve) => setTimeout(resolve));
  ring.close();
  await served;
  assert.is(done, 2);
  assert.is(await other, 2);
});

test("who serves waits for a method whose caller has run a function", async () => {
  const ring = CallRing.create({ request: 256, reply: 64, slots: 3 });
  const methods = {
    back: async (fn: (text: string) => number) => {
      const length = await fn("xyz");
      ring.close();
      // For longer than methods have that nobody waits for.
      await new Promise((resolve) => setTimeout(resolve, 2500));
      return length;
    },
  };
  const served = serve(ring, methods);
  const remote = connect<typeof methods>(ring);
  const other = slotsOf(ring, agentId() ^ 1);
  let at = 0;
  // Another server takes what the function returned, and sends it back.
  const takes = async () => {
    for (let i = 0; at === 0 && i < 50; i++) {
      await undefined;
      at = other.takeOrEnd();
    }
    replyWithout(other, at, ELSEWHERE);
  };
  const result = remote.back((text) => (void takes(), text.length));
  assert.is(await result, 3);
  assert.ok(at > 0);
  assert.is(await served, 1);
});

test("a call that begins behind one that nobody wants is served", async () => {
  const ring = CallRing.create({ request: 256, reply: 256, slots: 4 });
  const methods = {
    slow: async (ms: number, _?: () => void) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return ms;
    },
  };
  const served = serve(ring, methods, { limit: 1 });
  // It has a function, so calls are taken while it is under way.
  const short = connect<typeof methods>(ring, { timeout: 20 });
  const gaveUp = rejection(short.slow(300, () => {}));
  await new Promise((resolve) => setTimeout(resolve));
  const other = connect<typeof methods>(ring).slow(100);
  assert.is((await gaveUp).name, "TimeoutError");
  ring.close();
  assert.is(await other, 100);
  assert.is(await served, 2);
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

/**
 * Gives up some turns after the call is made, or after the server has begun it:
 * in some runtimes, one turn of the event loop brings many pieces of an answer.
 */
function giveUpAfter(n: number, before = () => {}) {
  const control = new AbortController();
  const after = async (turn: () => unknown) => {
    for (let i = 0; i < n >> 1; i++) await turn();
    before();
    control.abort();
  };
  const isFine = n % 2 === 1;
  return {
    signal: control.signal,
    begun: () => void (isFine && after(() => undefined)),
    asked: async () => {
      if (!isFine) await after(() => new Promise(setImmediate));
    },
  };
}

test("who gives up amid an answer does not keep its function", async () => {
  type Fn = (n: number) => Promise<number>;
  let kept: (Fn & Disposable) | undefined;
  const keeping = {
    keep(fn: Fn, _: AbortSignal): string {
      begun();
      kept = fn as Fn & Disposable;
      return "x".repeat(500);
    },
    add: (a: number, b: number): number => a + b,
  };
  const { now } = Date;
  let amid = 0;
  let begun = () => {};
  await between(keeping, async (ring) => {
    const remote = connect<typeof keeping>(ring);
    for (let turns = 0; turns < 60; turns++) {
      kept = undefined;
      const late = giveUpAfter(turns);
      begun = late.begun;
      const call = remote.keep((n) => Promise.resolve(n), late.signal);
      const ended = call.then(() => "kept", () => "given up");
      await late.asked();
      const how = await ended;
      const fn = kept as (Fn & Disposable) | undefined;
      if (fn === undefined) continue;
      if (how === "kept") {
        assert.is(await fn(1), 1);
        fn[Symbol.dispose]();
        continue;
      }
      amid++;
      assert.match((await rejection(fn(1))).message, "has given up");
    }
    Date.now = () => now() + 31_000;
    try {
      assert.is(await remote.add(1, 2), 3);
    } finally {
      Date.now = now;
    }
  });
  assert.ok(amid > 0, "none gave up amid the answer");
});

test("an iterator whose caller gives up amid the answer returns", async () => {
  const { now } = Date;
  let open = 0;
  let amid = 0;
  let begun = () => {};
  const rows = {
    async *rows(_: AbortSignal): AsyncGenerator<number> {
      yield 1;
    },
    begin(_: AbortSignal): AsyncIterable<number> {
      open++;
      begun();
      const iterator = rows.rows(_);
      const end = (): Promise<IteratorResult<number>> => {
        open--;
        return iterator.return(undefined);
      };
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => iterator.next(),
          return: end,
        }),
      };
    },
    add: (a: number, b: number): number => a + b,
  };
  // The answer, which names the iterator, goes in pieces.
  await between(rows, async (ring) => {
    const remote = connect<typeof rows>(ring);
    for (let turns = 0; turns < 40; turns++) {
      let began = 0;
      const late = giveUpAfter(turns, () => began = open);
      begun = late.begun;
      const call = remote.begin(late.signal);
      const ended = Promise.resolve(call).then((it) => it, () => undefined);
      await late.asked();
      const it = await ended;
      if (it !== undefined) {
        await it[Symbol.asyncIterator]().return!();
      } else if (began > 0) {
        amid++;
        Date.now = () => now() + 31_000;
        try {
          assert.is(await remote.add(1, 2), 3);
        } finally {
          Date.now = now;
        }
      }
      assert.is(open, 0, `after ${turns} turns`);
    }
  }, { reply: 8 });
  assert.ok(amid > 0, "none gave up amid the answer");
});

test("a function that is released amid an answer keeps nobody out", async () => {
  type Fn = (n: number) => Promise<number>;
  let kept: (Fn & Disposable) | undefined;
  const keeping = {
    keep(fn: Fn, n: number, _: AbortSignal): string {
      begun();
      kept = fn as Fn & Disposable;
      return "x".repeat(n);
    },
    add: (a: number, b: number): number => a + b,
  };
  const never = new AbortController().signal;
  const { now } = Date;
  let amid = 0;
  let begun = () => {};
  // One caller may listen, and there is one slot for calls.
  await between(keeping, async (ring) => {
    const remote = connect<typeof keeping>(ring);
    for (let turns = 0; turns < 60; turns++) {
      kept = undefined;
      const late = giveUpAfter(turns, () => {
        // The caller does not know that it was kept, and then that it need not.
        (kept as (Fn & Disposable) | undefined)?.[Symbol.dispose]();
      });
      begun = late.begun;
      const call = remote.keep((n) => Promise.resolve(n), 500, late.signal);
      const ended = call.then(() => "kept", () => "given up");
      await late.asked();
      if (await ended === "given up" && kept !== undefined) amid++;
      Date.now = () => now() + 31_000;
      try {
        assert.is(await remote.add(1, 2), 3);
      } finally {
        Date.now = now;
      }
      begun = () => {};
      await connect<typeof keeping>(ring)
        .keep((n) => Promise.resolve(-n), 0, never);
      const fn = kept as (Fn & Disposable) | undefined;
      assert.is(await fn!(1), -1, `after ${turns} turns`);
      fn![Symbol.dispose]();
      while (ring.pending > 0) await new Promise(setImmediate);
    }
  }, { slots: 2, request: 256, reply: 64 });
  assert.ok(amid > 0, "none gave up amid the answer");
});

test("a caller that dies before it listens keeps nobody out", async () => {
  type Fn = (n: number) => Promise<number>;
  let kept: Fn | undefined;
  const keeping = {
    keep: (fn: Fn): void => void (kept = fn),
    add: (a: number, b: number): number => a + b,
  };
  // The bytes of a call with a function, as connect() writes them.
  const other = CallRing.create({ request: 64, reply: 64 });
  let request = new Uint8Array();
  const taken = other.serveAsync((bytes) => {
    request = bytes.slice();
    other.close();
    return Uint8Array.of(1);
  });
  await connect<typeof keeping>(other).keep((n) => Promise.resolve(n));
  await taken;
  // One caller may listen.
  await between(keeping, async (ring) => {
    const remote = connect<typeof keeping>(ring);
    for (const id of [901, 902, 903]) {
      // It has read the answer, by which it should listen.
      await asAgent(id, () => CallRing.from(ring.handle).callAsync(request));
      const dead = kept!;
      ring.abandon(id);
      // Calls of others wipe out the mark of the dead in the slots.
      const sums = [remote.add(1, id), remote.add(2, id)];
      assert.equal(await Promise.all(sums), [1 + id, 2 + id]);
      assert.match((await rejection(dead(1))).message, "has given up");
      await remote.keep((n) => Promise.resolve(-n));
      assert.is(await kept!(1), -1);
      (kept as Fn & Disposable)[Symbol.dispose]();
      while (ring.pending > 0) await new Promise(setImmediate);
    }
  }, { slots: 2 });
});
