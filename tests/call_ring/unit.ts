// also: node, browsers
import * as assert from "uvu/assert";
import fc from "fast-check";
import {
  agentId,
  CallError,
  CallRing,
  ClosedError,
  DamagedError,
  type PendingCall,
  type TakenCall,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  NEAR_WRAP,
  nowOf,
  preempted,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
  until,
  wordsOf,
} from "../_run/model.ts";
import { inside, MAKERS } from "../_queue/model.ts";

const { pauses, serve_epoch, serve_waiters, slot_epoch, slot_waiters } =
  LAYOUT.call_ring;
const FIRST = LAYOUT.call_ring.length;
const [CALLER, SERVER, DEAD] = [5, 6, 77];

/** `length` bytes that differ for each message `i`. */
const message = (i: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, k) => i * 31 + k * 7 + 1);

const isClosed = (error: unknown): boolean => error instanceof ClosedError;
const failed = (text: string, abandoned = false) => (error: unknown) =>
  error instanceof CallError && error.message === text &&
  error.name === "CallError" && error.abandoned === abandoned;
const lost = failed("The server of the call was abandoned", true);

/**
 * The views of a ring of a caller, of a server, and of an agent that will die.
 */
function ringOf(slots = 2, request = 16, reply = 16) {
  const { buffer } = CallRing.create({ slots, request, reply });
  const views = [CALLER, SERVER, DEAD].map((id) =>
    asAgent(id, () => new CallRing(buffer))
  );
  const [caller, server, dead] = views as [CallRing, CallRing, CallRing];
  return { buffer, caller, server, dead };
}

/** Nobody is counted as asleep. */
function assertNoWaiters(ring: CallRing): void {
  const words = wordsOf(ring);
  assert.equal([words[serve_waiters], words[slot_waiters]], [0, 0]);
}

const test = suite("CallRing");

// ---- the model ----------------------------------------------------------------

interface Call {
  readonly request: Uint8Array;
  readonly caller: number;
  pending: PendingCall | undefined;
  server?: number;
  taken?: TakenCall;
  /** What the caller will get: bytes, or the way in which the call failed. */
  answer?: Uint8Array | string;
}

test("every operation obeys the model", () => {
  const op = fc.constantFrom(
    ...["post", "post", "post", "take", "take", "serve", "throw"],
    ...["reply", "reply", "in place", "fail", "receive", "receive"],
    ...["cancel", "dispose", "abandon", "close"],
  );
  const calls = fc.array(
    fc.record({
      op,
      n: fc.nat({ max: 1000 }),
      agent: fc.constantFrom(1, 2, 3),
      maker: fc.constantFrom(...Object.keys(MAKERS)),
    }),
    { maxLength: 80 },
  );
  const config = fc.record({
    slots: fc.integer({ min: 1, max: 5 }),
    request: fc.constantFrom(0, 4, 22, 400),
    reply: fc.constantFrom(0, 3, 32, 300),
  });
  fc.assert(
    fc.property(config, calls, (config, calls) => {
      const { buffer } = CallRing.create(config);
      // A dead agent gets no further orders: another one takes its place.
      let ids = 3;
      const agents = [1, 2, 3].map((id) => ({
        id,
        ring: asAgent(id, () => new CallRing(buffer)),
      }));
      const any = agents[0]!.ring;
      const { slots, maxRequest, maxReply } = any;
      assert.equal(
        [slots, maxRequest, maxReply],
        [config.slots, ...[config.request, config.reply].map(roundedUp)],
      );
      let model: Call[] = []; // the calls that have a slot
      let closed = false;
      let i = 0;
      const remove = (call: Call) => model = model.filter((c) => c !== call);
      const pick = (n: number, which: (call: Call) => boolean) => {
        const some = model.filter(which);
        return some[n % some.length];
      };
      const isPosted = (call: Call) =>
        call.server === undefined && call.answer === undefined;
      const isTaken = (call: Call) => call.taken !== undefined;
      const find = (request: Uint8Array) => {
        const text = request.join();
        const call = model.find((c) =>
          isPosted(c) && c.request.join() === text
        );
        assert.ok(call, `nobody asked ${text}`);
        return call;
      };
      /** The server's answer arrives, or is late. */
      const answered = (call: Call, answer: Uint8Array | string) => {
        delete call.taken;
        if (call.pending === undefined) remove(call);
        else call.answer = answer;
        return call.pending !== undefined;
      };
      for (const { op, n, agent, maker } of calls) {
        const { ring, id } = agents[agent - 1]!;
        const reply = message(i, n % (maxReply + 1));
        if (op === "post") {
          // The model tells calls apart by their requests: only one is empty.
          const empty = model.some(({ request }) => request.length === 0);
          if (empty && maxRequest === 0) continue;
          const length = n % (maxRequest + 1);
          const request = message(i++, empty ? Math.max(length, 1) : length);
          const src = /Uint8|DataView/.test(maker)
            ? MAKERS[maker]!(request.length)
            : request;
          inside(src).set(request);
          if (closed) {
            assert.throws(() => ring.tryPost(src), isClosed);
            continue;
          }
          const pending = ring.tryPost(src);
          assert.is(pending !== undefined, model.length < slots);
          if (pending) model.push({ request, caller: id, pending });
        } else if (op === "take") {
          const some = model.some(isPosted);
          if (closed && !some) {
            assert.throws(() => ring.tryTake(), isClosed);
            continue;
          }
          const taken = ring.tryTake();
          assert.is(taken !== undefined, some);
          if (!taken) continue;
          assert.is(taken.request.buffer, buffer); // no copy
          assert.is(taken.space.length, maxReply);
          Object.assign(find(taken.request), { server: id, taken });
        } else if (op === "serve" || op === "throw") {
          let call: Call | undefined;
          const serve = () =>
            ring.tryServeOne((request, space) => {
              call = find(request);
              if (op === "throw") throw new Error("");
              if (n % 2) return reply;
              space.set(reply);
              return reply.length;
            });
          const some = model.some(isPosted);
          if (closed && !some) assert.throws(serve, isClosed);
          else assert.is(serve(), some);
          if (call) call.answer = op === "throw" ? "" : reply;
          if (call) call.server = id;
        } else if (["reply", "in place", "fail"].includes(op)) {
          const call = pick(n, isTaken);
          if (!call) continue;
          const taken = call.taken!;
          assert.is(taken.wanted, call.pending !== undefined);
          const answer = op === "fail" ? "" : reply;
          const wanted = answered(call, answer);
          if (op === "fail") assert.is(taken.fail(""), wanted);
          else if (op === "reply") assert.is(taken.reply(reply), wanted);
          else {
            taken.space.set(reply);
            assert.is(taken.reply(reply.length), wanted);
          }
          assert.throws(() => taken.reply(), /answered/);
        } else if (op === "receive") {
          const call = pick(n, ({ pending }) => pending !== undefined);
          if (!call) continue;
          const { pending, answer } = call;
          assert.is(pending!.ready, answer !== undefined);
          if (typeof answer === "string") {
            const is = answer === "lost" ? lost : failed(answer);
            if (n % 2) assert.throws(() => pending!.tryReceive(), is);
            else assert.throws(() => pending!.tryReceiveInto(reply), is);
          } else if (n % 2) assert.equal(pending!.tryReceive(), answer);
          else if (answer === undefined) {
            assert.is(pending!.tryReceiveInto(reply), undefined);
          } else {
            const dst = MAKERS[maker]!(roundedUp(reply.length) & ~7);
            const into = inside(dst);
            assert.is(pending!.tryReceiveInto(dst), answer.length);
            const some = Math.min(answer.length, dst.byteLength);
            assert.equal([...into.slice(0, some)], [...answer.slice(0, some)]);
          }
          if (answer === undefined) continue;
          remove(call);
          assert.throws(() => pending!.tryReceive(), /over/);
          assert.throws(() => pending!.tryReceiveInto(reply), /over/);
        } else if (op === "cancel" || op === "dispose") {
          const call = pick(n, ({ pending }) => pending !== undefined);
          if (!call) continue;
          if (op === "cancel") call.pending!.cancel();
          else call.pending![Symbol.dispose]();
          call.pending!.cancel(); // once
          call.pending = undefined;
          if (!isTaken(call)) remove(call);
        } else if (op === "abandon" && n < 300) {
          let count = 0;
          for (const call of model) {
            const taken = isTaken(call);
            if (call.pending === undefined && call.server !== id) continue;
            if (call.caller !== id && !(taken && call.server === id)) continue;
            count++;
            if (taken && call.server === id) {
              delete call.taken;
              if (call.caller === id) remove(call);
              else if (call.pending === undefined) remove(call);
              else call.answer = "lost";
            } else if (taken) call.pending = undefined;
            else remove(call);
          }
          assert.is(agents[agent % 3]!.ring.abandon(id), count);
          assert.is(agents[agent % 3]!.ring.abandon(id), 0);
          const next = ++ids;
          agents[agent - 1] = {
            id: next,
            ring: asAgent(next, () => new CallRing(buffer)),
          };
        } else if (op === "close" && n < 100) {
          ring.close();
          closed = true;
        }
        assert.is(any.closed, closed);
        assert.is(any.pending, model.length);
      }
      assertNoWaiters(any);
    }),
    { numRuns: 500 },
  );
});

const roundedUp = (bytes: number) => (bytes + 3) & ~3;

// ---- what is refused ----------------------------------------------------------

test("a request that is too big is refused with both sizes, and not sent", async () => {
  const { buffer, caller, server } = ringOf(2, 16, 8);
  const long = new Uint8Array(17);
  const sizes = ["17 bytes", "up to 16"];
  refuses(buffer, () => caller.tryPost(long), RangeError, ...sizes);
  refuses(buffer, () => caller.post(long), RangeError, ...sizes);
  refuses(buffer, () => caller.call(long), RangeError, ...sizes);
  await rejects(buffer, caller.postAsync(long), RangeError, ...sizes);
  await rejects(buffer, caller.callAsync(long), RangeError, ...sizes);
  const pending = caller.tryPost(new Uint8Array(16))!;
  const taken = server.tryTake()!;
  const reply = () => taken.reply(new Uint8Array(9));
  refuses(buffer, reply, RangeError, "9 bytes", "up to 8");
  for (const n of [9, -1, 1.5, NaN]) {
    refuses(buffer, () => taken.reply(n), RangeError, `${n} bytes`);
  }
  const wrong = () => taken.reply("text" as unknown as Uint8Array);
  refuses(buffer, wrong, TypeError, `received "text"`);
  taken.reply(new Uint8Array(8).fill(3));
  assert.equal([...pending.receive()!], new Array(8).fill(3));
});

test("configurations, timeouts and limits out of range are refused", async () => {
  const { buffer, caller } = ringOf();
  const bad = {
    slots: [0, 1025, 1.5, NaN],
    request: [-1, 2 ** 24 - 3, 0.5, NaN],
    reply: [-1, 2 ** 30 + 1, NaN],
  };
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      const config = { slots: 1, request: 4, reply: 4, [name]: value };
      const init = () => CallRing.init(buffer, 0, config);
      refuses(buffer, init, RangeError, `received ${value}`);
      assert.throws(() => CallRing.byteLength(config), RangeError);
    }
  }
  const large = { slots: 1024, request: 4, reply: 2 ** 20 };
  refuses(
    buffer,
    () => CallRing.init(buffer, 0, large),
    RangeError,
    "1024 slots",
    `replies of ${2 ** 20} bytes`,
  );
  const request = new Uint8Array(1);
  for (const timeout of [NaN, -1]) {
    const text = `received ${timeout}`;
    const serve = () => {};
    const calls = [
      () => caller.tryCall(request, timeout),
      () => caller.tryPost(request, timeout),
      () => caller.tryTake(timeout),
      () => caller.tryServeOne(serve, timeout),
    ];
    for (const call of calls) refuses(buffer, call, RangeError, text);
    const options = { timeout };
    const waits = [
      caller.tryCallAsync(request, options),
      caller.tryPostAsync(request, options),
      caller.tryTakeAsync(options),
    ];
    for (const wait of waits) await rejects(buffer, wait, RangeError, text);
    const serving = caller.serveAsync(serve, options as never);
    await rejects(buffer, serving, TypeError, "timeout");
  }
  for (const limit of [0, 1025, 1.5, NaN]) {
    const serving = caller.serveAsync(() => {}, { limit });
    await rejects(buffer, serving, RangeError, `received ${limit}`);
  }
  assert.is(CallRing.byteLength({ request: 4, reply: 4 }), (96 + 16 * 32) * 4);
});

test("the most slots and the longest requests have room", () => {
  for (const [slots, request, reply] of [[1024, 1, 0], [1, 2 ** 24 - 4, 0]]) {
    const config = { slots: slots!, request: request!, reply: reply! };
    const ring = CallRing.create(config);
    assert.is(ring.slots, slots);
    assert.is(ring.maxRequest, roundedUp(request!));
    for (let i = 0; i < slots!; i++) {
      assert.ok(ring.tryPost(new Uint8Array(request!).fill(i)));
    }
    assert.is(ring.tryPost(new Uint8Array(0)), undefined);
    for (let i = 0; i < slots!; i++) {
      assert.ok(ring.tryServeOne((bytes) => {
        assert.is(bytes.length, request);
        assert.is(bytes.at(-1), i & 0xff);
      }));
    }
  }
});

test("replies come in arrays of the caller's, however it waits", async () => {
  const { buffer, caller, server } = ringOf(2, 16, 16);
  const request = message(1, 9);
  const replied = async (
    dst: Uint8Array,
    call: Promise<number | undefined>,
  ) => {
    await turns();
    const taken = server.tryTake()!;
    taken.reply(taken.request.map((byte) => byte ^ 0xff));
    assert.is(await call, 9); // what there was, not what had room
    const wanted = request.map((byte) => byte ^ 0xff).slice(0, dst.length);
    assert.equal([...dst.slice(0, 9)], [...wanted]);
    assert.is(caller.pending, 0);
  };
  for (const length of [16, 9, 5, 0]) {
    const dst = new Uint8Array(length);
    await replied(dst, caller.callIntoAsync(request, dst));
    const pending = caller.tryPost(request)!;
    await replied(dst, pending.receiveIntoAsync(dst));
    const blocking = caller.tryPost(request)!;
    server.tryServeOne((bytes) => bytes.map((byte) => byte ^ 0xff));
    assert.is(blocking.receiveInto(dst), 9);
  }
  const dst = new Uint8Array(9);
  assert.is(caller.tryCallInto(request, dst, 5), undefined);
  const late = { timeout: 5 };
  assert.is(await caller.tryCallIntoAsync(request, dst, late), undefined);
  const pending = caller.tryPost(request)!;
  assert.is(pending.tryReceiveInto(dst), undefined);
  assert.is(pending.tryReceiveInto(dst, 5), undefined);
  assert.is(await pending.tryReceiveIntoAsync(dst, late), undefined);
  const wrong = 7 as unknown as Uint8Array;
  const text = "received 7";
  refuses(buffer, () => pending.tryReceiveInto(wrong), TypeError, text);
  refuses(buffer, () => caller.callInto(request, wrong), TypeError, text);
  const call = caller.callIntoAsync(request, wrong);
  await rejects(buffer, call, TypeError, text);
  server.tryServeOne(() => {
    throw new Error("no");
  });
  assert.throws(() => pending.tryReceiveInto(dst), failed("no"));
  assert.is(caller.pending, 0);
  assertNoWaiters(caller);
});

// ---- timeouts, aborts, late answers ---------------------------------------------

test("a call that nobody took is withdrawn by a timeout or an abort", async () => {
  const { buffer, caller, server } = ringOf(1);
  const request = message(1, 5);
  const reason = new Error("not any more");
  const calls: Record<string, () => Promise<unknown>> = {
    blocking: () => Promise.resolve(caller.tryCall(request, 5)),
    "blocking 0": () => Promise.resolve(caller.tryCall(request, 0)),
    awaiting: () => caller.tryCallAsync(request, { timeout: 5 }),
    "awaiting 0": () => caller.tryCallAsync(request, { timeout: 0 }),
    aborted: () => {
      const abort = new AbortController();
      const { signal } = abort;
      const call = caller.callAsync(request, { signal });
      abort.abort(reason);
      return call.catch((error) => assert.is(error, reason));
    },
    "aborted before": () =>
      caller.callAsync(request, { signal: AbortSignal.abort(reason) })
        .catch((error) => assert.is(error, reason)),
  };
  for (const [name, call] of Object.entries(calls)) {
    assert.is(await call(), undefined, name);
    assert.is(caller.pending, 0, name);
    assert.is(server.tryTake(), undefined, name);
    assertNoWaiters(server);
  }
  assert.is(new Int32Array(buffer)[FIRST], 0);
});

test("a late answer reaches nobody, not even the next caller", async () => {
  for (const how of ["timeout", "abort", "cancel", "dispose"]) {
    for (const answer of ["reply", "fail"]) {
      const { caller, server } = ringOf(1);
      const abort = new AbortController();
      const { signal } = abort;
      let taken: TakenCall;
      if (how === "timeout" || how === "abort") {
        const call = how === "abort"
          ? caller.callAsync(message(1, 5), { signal })
          : caller.tryCallAsync(message(1, 5), { timeout: 20 });
        taken = server.tryTake()!;
        abort.abort("enough");
        const end = await call.catch((reason) => reason);
        assert.is(end, how === "abort" ? "enough" : undefined);
      } else {
        const pending = caller.tryPost(message(1, 5))!;
        taken = server.tryTake()!;
        if (how === "cancel") pending.cancel();
        else pending[Symbol.dispose]();
      }
      // The server still has the slot, so there is no room for another call.
      assert.is(caller.tryPost(message(2, 5)), undefined);
      const next = caller.callAsync(message(2, 5));
      assert.is(await nowOf(next), "pending");
      assert.is(taken.wanted, false);
      assert.equal([...taken.request], [...message(1, 5)]);
      const late = answer === "reply"
        ? taken.reply(message(7, 7))
        : taken.fail(new Error("late"));
      assert.is(late, false);
      await turns(); // now the slot is the next caller's
      assert.ok(server.tryServeOne((request) => request.slice(0, 2)));
      assert.equal([...(await next)!], [...message(2, 2)]);
      assert.is(caller.pending, 0);
      assertNoWaiters(server);
    }
  }
});

test("a blocking call that its server drops in time out stays whole", () => {
  const { caller, server } = ringOf(1);
  const pending = caller.tryPost(message(1, 3))!;
  const taken = server.tryTake()!;
  assert.is(pending.tryReceive(10), undefined); // goes on
  assert.is(taken.wanted, true);
  assert.is(taken.reply(message(4, 4)), true);
  assert.equal([...pending.tryReceive(0)!], [...message(4, 4)]);
});

test("a call that times out while it is answered gets its answer", async () => {
  // The answer comes in the same turn as the abort, before or after it.
  for (const first of ["answer", "abort"]) {
    const { caller, server } = ringOf(1);
    const abort = new AbortController();
    const call = caller.callAsync(message(1, 1), { signal: abort.signal });
    const taken = server.tryTake()!;
    if (first === "abort") abort.abort("over");
    const wanted = taken.reply(message(2, 2));
    if (first === "answer") abort.abort("over");
    assert.is(wanted, first === "answer");
    const end = await call.catch((reason) => reason);
    if (wanted) assert.equal([...end], [...message(2, 2)]);
    else assert.is(end, "over");
    assert.is(caller.pending, 0);
  }
});

test("an answer and a timeout at any step leave one of them", () => {
  preemptedAnywhere(
    () => {
      const { caller, server } = ringOf(1);
      const pending = caller.tryPost(message(1, 1))!;
      const taken = server.tryTake()!;
      return { caller, pending, taken, wanted: undefined as unknown };
    },
    (s) => s.wanted = s.taken.reply(message(2, 2)),
    ({ pending }) => pending.cancel(),
    ({ caller, wanted }, at) => {
      assert.type(wanted, "boolean");
      assert.is(caller.pending, 0, `cancelled at step ${at}`);
    },
  );
});

// ---- errors ---------------------------------------------------------------------

test("an error of the server is thrown at the caller", async () => {
  const { caller, server } = ringOf(1, 16, 32);
  const thrown: [unknown, string][] = [
    [new Error("no such file"), "no such file"],
    ["text", "text"],
    [undefined, "undefined"],
    [{ message: 7 }, "7"],
    [new RangeError("grüße" + "ä".repeat(40)), "grüße" + "ä".repeat(12)],
    [Object.create(null), "The server's function threw a va"], // 32 bytes
  ];
  for (const [error, text] of thrown) {
    const call = caller.callAsync(message(1, 3));
    assert.ok(server.tryServeOne(() => {
      throw error;
    }));
    const end = await call.then(() => undefined, (error) => error);
    assert.ok(failed(text)(end), `${end}, wanted ${text}`);
    const pending = caller.tryPost(message(1, 3))!;
    server.tryTake()!.fail(error);
    assert.throws(() => pending.receive(), failed(text));
  }
  const calls = [3.5, 33, -1, "text", null, Promise.resolve(1)];
  for (const wrong of calls) {
    const pending = caller.tryPost(message(1, 3))!;
    server.tryServeOne(() => wrong as number);
    assert.throws(
      () => pending.receive(),
      (error: unknown) => error instanceof CallError && !error.abandoned,
    );
  }
  assert.is(caller.pending, 0);
});

test("without room for a reply, an error has no message but is still an error", () => {
  const { caller, server } = ringOf(1, 0, 0);
  const pending = caller.tryPost(new Uint8Array(0))!;
  server.tryServeOne(() => {
    throw new Error("why");
  });
  assert.throws(() => pending.receive(), failed(""));
  const empty = caller.tryPost(new Uint8Array(0))!;
  assert.ok(server.tryServeOne(() => {}));
  assert.is(empty.receive()!.length, 0);
});

// ---- serving --------------------------------------------------------------------

test("calls are answered in any order, each caller its own", async () => {
  const { caller, server } = ringOf(4);
  const calls = [0, 1, 2, 3].map((i) => caller.callAsync(message(i, i + 1)));
  const taken = [0, 1, 2, 3].map(() => server.tryTake()!);
  assert.is(server.tryTake(), undefined);
  for (const call of [taken[2]!, taken[0]!, taken[3]!, taken[1]!]) {
    call.reply(call.request.map((byte) => byte ^ 0xff));
  }
  for (const [i, call] of calls.entries()) {
    const wanted = message(i, i + 1).map((byte) => byte ^ 0xff);
    assert.equal([...(await call)!], [...wanted]);
  }
});

test("a server passes a call over at most once for each other slot", () => {
  const { caller, server } = ringOf(4);
  for (let i = 0; i < 3; i++) caller.tryPost(Uint8Array.of(1));
  caller.tryPost(Uint8Array.of(9)); // in the last slot
  const seen: number[] = [];
  while (seen.at(-1) !== 9) {
    server.tryServeOne((request) => void seen.push(request[0]!));
    // A call that was just served is made again at once.
    for (let slot = 0; slot < 4; slot++) {
      const words = wordsOf(server);
      const stride = (words.length - FIRST) / 4;
      const state = words[FIRST + slot * stride]!;
      if (state >>> 28 === 5) words[FIRST + slot * stride] = 2 << 28 | CALLER;
    }
    assert.ok(seen.length <= 4, "the last slot is never served");
  }
  assert.equal(seen, [1, 1, 1, 9]);
});

test("serveAsync() has up to `limit` calls under way, and ends clean", async () => {
  for (const limit of [1, 2, 4]) {
    const { caller, server } = ringOf(4);
    const waiting: (() => void)[] = [];
    let most = 0;
    const serving = server.serveAsync((request) => {
      most = Math.max(most, waiting.length + 1);
      return new Promise((resolve) =>
        waiting.push(() => resolve(request.slice(0, 1)))
      );
    }, { limit });
    const calls = [0, 1, 2, 3].map((i) => caller.callAsync(message(i, 2)));
    for (let left = 4; left > 0; left--) {
      const expected = Math.min(limit, left);
      await until(() => waiting.length === expected);
      await turns(); // and no more come
      assert.is(waiting.length, expected);
      waiting.pop()!(); // the last first
    }
    for (const [i, call] of calls.entries()) {
      assert.equal([...(await call)!], [...message(i, 1)]);
    }
    assert.is(most, limit);
    server.close();
    assert.is(await serving, 4);
    assertNoWaiters(server);
  }
});

test("serveAsync() stops by its signal, when all it took is answered", async () => {
  const { caller, server } = ringOf(2);
  const abort = new AbortController();
  const reason = new Error("enough");
  let answer = (_: Uint8Array) => {};
  const serving = server.serveAsync(
    () => new Promise<Uint8Array>((resolve) => answer = resolve),
    { signal: abort.signal },
  );
  const call = caller.callAsync(message(1, 1));
  await turns();
  abort.abort(reason);
  assert.is(await nowOf(serving.catch((error) => error)), "pending");
  answer(message(2, 2));
  assert.equal([...(await call)!], [...message(2, 2)]);
  assert.is(await serving.catch((error) => error), reason);
  // A call that fails later is answered, too.
  const more = server.serveAsync(() => Promise.reject(new Error("later")));
  const end = await caller.callAsync(message(1, 1)).catch((error) => error);
  assert.ok(failed("later")(end));
  server.close();
  assert.is(await more, 1);
});

test("tryServeOne() and tryTake() give up after their timeout", async () => {
  const { caller, server } = ringOf(2);
  const first = caller.tryPost(message(1, 1))!;
  assert.is(server.tryServeOne((request) => request, 5), true);
  assert.equal([...first.receive()!], [...message(1, 1)]);
  assert.is(server.tryServeOne(() => {}, 5), false);
  assert.is(server.tryTake(5), undefined);
  assert.is(await server.tryTakeAsync({ timeout: 5 }), undefined);
  assert.is(server.tryServeOne(() => {}), false);
  const second = caller.tryPost(message(2, 1))!;
  server.take()!.reply();
  assert.is((await second.receiveAsync())!.length, 0);
  assertNoWaiters(server);
});

test("a function may call the ring that it serves", () => {
  const { caller, server } = ringOf(2);
  const outer = caller.tryPost(Uint8Array.of(1))!;
  server.tryServeOne((request) => {
    const inner = server.tryPost(Uint8Array.of(request[0]! + 1))!;
    assert.ok(server.tryServeOne(([byte]) => Uint8Array.of(byte! + 1)));
    return Uint8Array.of(inner.receive()![0]! + request[0]!);
  });
  assert.equal([...outer.receive()!], [4]);
});

// ---- sleeping -------------------------------------------------------------------

test("waits sleep until there is something, wherever the epochs wrap", async () => {
  for (const wrap of [0, ...NEAR_WRAP]) {
    const { caller, server } = ringOf(1);
    const words = wordsOf(caller);
    words[serve_epoch] = words[slot_epoch] = wrap;
    const takes = [server.takeAsync(), server.takeAsync()];
    assert.is(await nowOf(Promise.race(takes)), "pending");
    assert.is(words[serve_waiters]! & 0x7fff_ffff, 2);
    const calls = [1, 2, 3].map((i) => caller.callAsync(message(i, i)));
    assert.is(await nowOf(Promise.race(calls)), "pending");
    assert.is(words[slot_waiters]! & 0x7fff_ffff, 2);
    const order = [];
    for (let i = 0; i < 3; i++) {
      const taken = i < 2 ? (await takes[i])! : (await server.takeAsync())!;
      order.push(taken.request.length);
      taken.reply(taken.request);
      await turns();
    }
    assert.equal(order.toSorted(), [1, 2, 3]);
    for (const [i, call] of calls.entries()) {
      assert.equal([...(await call)!], [...message(i + 1, i + 1)]);
    }
    assertNoWaiters(server);
  }
});

test("two receives of one call: one has the reply, the other an error", async () => {
  const { caller, server } = ringOf(1);
  for (const end of ["reply", "cancel"]) {
    const pending = caller.tryPost(message(1, 1))!;
    const receives = [pending.receiveAsync(), pending.receiveAsync()];
    const ends = Promise.allSettled(receives);
    await turns();
    const taken = server.tryTake()!;
    if (end === "reply") taken.reply(message(2, 2));
    else pending.cancel();
    const kinds = (await ends).map(({ status }) => status);
    assert.equal(kinds, [
      end === "reply" ? "fulfilled" : "rejected",
      "rejected",
    ]);
    if (end === "cancel") taken.reply();
    assert.is(caller.pending, 0);
    await rejects(caller.buffer, pending.receiveAsync(), TypeError, "over");
    refuses(caller.buffer, () => pending.receive(), TypeError, "over");
    refuses(caller.buffer, () => pending.ready, TypeError, "over");
  }
});

// ---- the end --------------------------------------------------------------------

test("close() wakes all waiters, and posted calls are still served", async () => {
  const { buffer, caller, server } = ringOf(1);
  const call = caller.callAsync(message(1, 1));
  const late = caller.callAsync(message(2, 1));
  const post = caller.postAsync(message(3, 1));
  const ends = Promise.allSettled([late, post]);
  await turns();
  caller.close();
  caller.close();
  for (const end of await ends) {
    assert.ok(end.status === "rejected" && isClosed(end.reason));
  }
  const request = message(1, 1);
  refuses(buffer, () => caller.tryPost(request), ClosedError, "ring is closed");
  refuses(buffer, () => caller.call(request), ClosedError, "closed");
  await rejects(buffer, caller.callAsync(request), ClosedError, "closed");
  assert.is(await nowOf(call), "pending");
  assert.is(server.serve((request) => request), 1);
  assert.equal([...(await call)!], [...message(1, 1)]);
  refuses(buffer, () => server.tryTake(), ClosedError, "ring is closed");
  refuses(buffer, () => server.take(), ClosedError, "closed");
  refuses(buffer, () => server.tryServeOne(() => {}), ClosedError, "closed");
  await rejects(buffer, server.takeAsync(), ClosedError, "closed");
  assert.is(server.serve(() => {}), 0);
  assert.is(await server.serveAsync(() => {}), 0);
  const sleeping = ringOf(1).server;
  const waits = [sleeping.takeAsync(), sleeping.serveAsync(() => {})];
  const settled = Promise.allSettled(waits);
  await turns();
  sleeping.close();
  const [take, serve] = await settled;
  assert.is(take!.status, "rejected");
  assert.equal(serve, { status: "fulfilled", value: 0 });
  assertNoWaiters(sleeping);
});

test("a call and the end at any step: it is served, or was not posted", () => {
  preemptedAnywhere(
    () => ({ ...ringOf(1), outcome: undefined as unknown, served: 0 }),
    (s) => {
      try {
        s.outcome = s.caller.tryPost(message(1, 1));
      } catch (error) {
        s.outcome = error;
      }
    },
    (s) => {
      s.caller.close();
      s.served += s.server.serve(() => {});
    },
    (s, at) => {
      if (isClosed(s.outcome)) {
        assert.is(s.served, 0, `${at}`);
        assert.is(s.caller.pending, 0, `${at}`);
      } else assert.ok((s.outcome as PendingCall).ready, `${at}`);
    },
  );
});

// ---- agents that died -----------------------------------------------------------

test("abandon() frees the slots of a caller that died at any step", () => {
  const ops: Record<string, (ring: CallRing, server: CallRing) => void> = {
    withdrawn: (ring) => ring.tryPost(message(1, 5))?.cancel(),
    received: (ring, server) => {
      const pending = ring.tryPost(message(1, 5))!;
      server.tryTake()!.reply(message(2, 5));
      pending.tryReceive();
    },
    dropped: (ring, server) => {
      const pending = ring.tryPost(message(1, 5))!;
      const taken = server.tryTake()!;
      pending.cancel();
      taken.reply();
    },
    "timed out": (ring) => void ring.tryCall(message(1, 5), 0),
  };
  const death = new Error("terminated");
  for (const [name, op] of Object.entries(ops)) {
    for (let at = 0, over = false; !over; at++) {
      const { caller, server, dead } = ringOf(1);
      try {
        over = at >= preempted(() => op(dead, server), at, () => {
          throw death;
        });
      } catch (error) {
        if (error !== death) throw error;
      }
      const path = `${name}, died at ${at}`;
      // The server may have died instead, in their common thread of events.
      caller.abandon(SERVER);
      caller.abandon(DEAD);
      assert.is(caller.abandon(DEAD), 0, path);
      assert.is(caller.pending, 0, path);
      assert.is(server.tryTake(), undefined, path);
      const pending = caller.tryPost(message(3, 3))!;
      assert.ok(server.tryServeOne((request) => request), path);
      assert.equal([...pending.tryReceive()!], [...message(3, 3)], path);
    }
  }
});

test("abandon() answers the callers of a server that died at any step", () => {
  const ops: Record<string, (ring: CallRing) => void> = {
    replies: (ring) => void ring.tryTake()?.reply(message(2, 5)),
    fails: (ring) => void ring.tryTake()?.fail("no"),
  };
  const death = new Error("terminated");
  for (const [name, op] of Object.entries(ops)) {
    for (const gone of [false, true]) { // the caller gave up meanwhile
      for (let at = 0, over = false; !over; at++) {
        const { caller, server, dead } = ringOf(1);
        const pending = caller.tryPost(message(1, 5))!;
        try {
          over = at >= preempted(() => op(dead), at, () => {
            throw death;
          });
        } catch (error) {
          if (error !== death) throw error;
        }
        const path = `${name}, died at ${at}, ${gone}`;
        if (gone) pending.cancel();
        caller.abandon(DEAD);
        assert.is(caller.abandon(DEAD), 0, path);
        // If the call was not taken, another server takes it.
        const served = server.tryServeOne((request) => request);
        if (gone) assert.not.ok(served, path);
        else if (served) {
          assert.equal([...pending.tryReceive()!], [...message(1, 5)], path);
        } else if (name === "fails") {
          const error = end(() => pending.tryReceive());
          assert.ok(lost(error) || failed("no")(error), path);
        } else {
          const reply = end(() => pending.tryReceive());
          if (!lost(reply)) {
            assert.equal([...reply as Uint8Array], [...message(2, 5)], path);
          }
        }
        assert.is(caller.pending, 0, path);
      }
    }
  }
});

/** The result or the error of a function. */
function end(fn: () => unknown): unknown {
  try {
    return fn();
  } catch (error) {
    return error;
  }
}

test("a caller that waits for a dead server is woken by abandon()", async () => {
  const { caller, dead } = ringOf(2);
  const calls = [1, 2].map((i) => caller.callAsync(message(i, 1)));
  const third = caller.postAsync(message(3, 1));
  const ends = Promise.allSettled(calls);
  await turns();
  const taken = [dead.tryTake()!, dead.tryTake()!];
  assert.is(taken.length, 2);
  assert.is(caller.abandon(DEAD), 2);
  for (const end of await ends) {
    assert.ok(end.status === "rejected" && lost(end.reason));
  }
  assert.ok(await third);
});

test("abandon() and a server's answer at any step free the slot", () => {
  preemptedAnywhere(
    () => {
      const ring = ringOf(1);
      ring.dead.tryPost(message(1, 1));
      return { ...ring, taken: ring.server.tryTake()! };
    },
    ({ taken }) => taken.reply(message(2, 2)),
    ({ caller }) => caller.abandon(DEAD),
    ({ caller, server }, at) => {
      assert.is(caller.pending, 0, `abandoned at ${at}`);
      const pending = caller.tryPost(message(3, 3))!;
      server.tryServeOne((request) => request);
      assert.equal([...pending.tryReceive()!], [...message(3, 3)]);
    },
  );
});

test("a caller pauses now and then, if others look for a slot in vain", () => {
  const { caller } = ringOf(1);
  const words = wordsOf(caller);
  const call = (ring: CallRing): number => {
    const begin = performance.now();
    ring.post(message(1, 1)).cancel();
    return performance.now() - begin;
  };
  call(caller);
  assert.is(words[pauses], 0, "it noted a pause that nobody made");
  words[pauses] = 2; // an agent did so, and was terminated
  for (const left of [1, 0]) {
    const took = call(new CallRing(caller.buffer));
    assert.ok(took >= 1, "it did not pause");
    assert.is(words[pauses], left, "a pause does not count");
  }
  for (const damaged of [2 ** 31 - 1, -(2 ** 31)]) {
    words[pauses] = damaged;
    call(new CallRing(caller.buffer));
    assert.is(words[pauses], damaged > 0 ? 31 : damaged);
  }
});

const isDamaged = (error: unknown) => error instanceof DamagedError;

test("a damaged length of a request or a reply is refused", () => {
  for (const damaged of [9, 1 << 20, 2 ** 31 - 1, -1, -(2 ** 31)]) {
    const ring = CallRing.create({ slots: 1, request: 8, reply: 8 });
    const words = wordsOf(ring);
    const slot = LAYOUT.call_ring.length;
    const post = () => ring.tryPost(message(1, 4))!;
    const receivers = [
      (call: PendingCall) => call.tryReceive(),
      (call: PendingCall) => call.tryReceiveInto(new Uint8Array(8)),
    ];
    for (const receive of receivers) {
      for (const answer of ["reply", "fail"] as const) {
        const call = post();
        ring.tryTake()![answer](message(2, 3) as never);
        words[slot + 3] = damaged;
        assert.throws(() => receive(call), isDamaged);
        assert.is(ring.pending, 0);
      }
    }
    let call = post();
    words[slot + 2] = damaged;
    assert.throws(() => ring.tryTake(), isDamaged);
    assert.throws(() => call.tryReceive(), /The ring/);
    call = post();
    words[slot + 2] = damaged;
    let served = 0;
    assert.ok(ring.tryServeOne(() => served++));
    assert.throws(() => call.tryReceive(), /The ring/);
    assert.is(served, 0);
    assert.is(ring.pending, 0);
  }
});

test("a caller pauses once in 50 ms at most", () => {
  const { caller } = ringOf(1);
  const words = wordsOf(caller);
  for (let took = Infinity; took > 40;) { // another process may have the core
    const view = new CallRing(caller.buffer);
    words[pauses] = 9;
    const begin = performance.now();
    for (let i = 0; i < 3; i++) view.post(message(1, 1)).cancel();
    took = performance.now() - begin;
  }
  assert.is(words[pauses], 8);
});

test("a caller that was woken and found no slot asks for pauses", async () => {
  const { caller } = ringOf(1);
  const words = wordsOf(caller);
  const first = caller.post(message(1, 1));
  const second = caller.postAsync(message(2, 2));
  assert.is(words[pauses], 0);
  while (words[pauses] === 0) { // it may not sleep yet
    Atomics.notify(words, slot_epoch);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.is(words[pauses], 32);
  first.cancel();
  (await second).cancel();
});

test("abandon() of one leaves the calls of others alone", () => {
  const { caller, server, dead } = ringOf(4);
  const mine = caller.tryPost(message(1, 1))!;
  const taken = server.tryTake()!;
  const posted = caller.tryPost(message(2, 2))!;
  dead.tryPost(message(3, 3));
  assert.is(caller.abandon(0), 0);
  assert.is(caller.abandon(agentId()), 0);
  assert.is(caller.abandon(DEAD), 1);
  assert.is(caller.pending, 2);
  assert.ok(taken.reply(message(4, 4)));
  assert.ok(server.tryServeOne((request) => request));
  assert.equal([...mine.receive()!], [...message(4, 4)]);
  assert.equal([...posted.receive()!], [...message(2, 2)]);
});
