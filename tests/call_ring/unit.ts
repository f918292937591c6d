// also: node, browsers
// The model of a ring of calls, what is refused, and calls that are given up.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { CallRing, type PendingCall, type TakenCall } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
} from "../_run/model.ts";
import { inside, MAKERS } from "../_queue/model.ts";
import {
  assertNoWaiters,
  failed,
  FIRST,
  isClosed,
  lost,
  message,
  ringOf,
} from "./rings.ts";

const test = suite("CallRing");

// ---- the model --------------------------------------------------------------

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

// ---- what is refused --------------------------------------------------------

test("a request that is too big is refused with both sizes, and not sent", async () => {
  const { buffer, caller, server } = ringOf(2, 16, 8);
  const long = new Uint8Array(17);
  const sizes = ["17 bytes", "`request` is 16 bytes"];
  refuses(buffer, () => caller.tryPost(long), RangeError, ...sizes);
  refuses(buffer, () => caller.post(long), RangeError, ...sizes);
  refuses(buffer, () => caller.call(long), RangeError, ...sizes);
  await rejects(buffer, caller.postAsync(long), RangeError, ...sizes);
  await rejects(buffer, caller.callAsync(long), RangeError, ...sizes);
  const pending = caller.tryPost(new Uint8Array(16))!;
  const taken = server.tryTake()!;
  const reply = () => taken.reply(new Uint8Array(9));
  refuses(buffer, reply, RangeError, "9 bytes", "`reply` is 8 bytes");
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

test("unless told, a request and a reply of 64 KiB and a little have room", () => {
  for (const config of [undefined, {}, { slots: undefined }]) {
    const ring = CallRing.create(config);
    const { slots, maxRequest, maxReply } = ring;
    assert.equal([slots, maxRequest, maxReply], [16, 65_600, 65_600]);
    assert.is(CallRing.byteLength(config), ring.byteLength);
  }
  assert.is(CallRing.create({ reply: 8 }).maxRequest, 65_600);
  assert.throws(() => CallRing.create(null as never), TypeError);
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

// ---- timeouts, aborts, late answers -----------------------------------------

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
