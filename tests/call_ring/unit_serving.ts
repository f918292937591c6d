// also: node, browsers
// Errors, servers, sleeps, and the end of a ring.
import * as assert from "uvu/assert";
import { CallError, ClosedError, type PendingCall } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { countThens } from "../_run/thens.ts";
import {
  NEAR_WRAP,
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
  until,
  wordsOf,
} from "../_run/model.ts";
import {
  assertNoWaiters,
  CALLER,
  failed,
  FIRST,
  isClosed,
  message,
  ringOf,
  serve_epoch,
  serve_waiters,
  slot_epoch,
  slot_waiters,
} from "./rings.ts";

const test = suite("CallRing, served");

// ---- errors -----------------------------------------------------------------

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

// ---- serving ----------------------------------------------------------------

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

test("a call that takes long keeps nothing of those beside it", async () => {
  const { caller, server } = ringOf(4);
  const most = countThens();
  let end = () => {};
  const serving = server.serveAsync((request) =>
    new Promise((resolve) => {
      if (request.length > 1) end = () => resolve(0);
      else resolve(0);
    }), { limit: 2 });
  const long = caller.callAsync(message(1, 2));
  const short = () => caller.callAsync(message(1, 1));
  for (let i = 0; i < 100; i++) await Promise.all([short(), short()]);
  assert.ok(most() < 50, "something for each call");
  end();
  await long;
  server.close();
  assert.is(await serving, 201);
});

test("an array that cannot be read or written keeps no slot", () => {
  class Unreadable extends Uint8Array {
    override get byteLength(): number {
      throw new Error("no length");
    }
  }
  const { caller, server } = ringOf(1);
  const array = new Unreadable(4);
  assert.throws(() => caller.tryPost(array), /no length/);
  assert.is(caller.pending, 0);
  const call = caller.tryPost(message(1, 2))!;
  server.tryServeOne(() => message(2, 4));
  assert.throws(() => call.tryReceiveInto(array), /no length/);
  assert.is(caller.pending, 0);
});

test("serveAsync() answers once for a thenable that is no promise", async () => {
  const { caller, server } = ringOf(1);
  const ends: ((reply: Uint8Array) => void)[] = [];
  const bare = { then: (end: (typeof ends)[0]) => void ends.push(end) };
  const serving = server.serveAsync(() => bare as never);
  const first = caller.callAsync(message(1, 2));
  await until(() => ends.length === 1);
  ends[0]!(message(7, 2));
  assert.equal([...await first], [...message(7, 2)]);
  server.close();
  assert.is(await serving, 1);
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

// ---- sleeping ---------------------------------------------------------------

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

// ---- the end ----------------------------------------------------------------

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
