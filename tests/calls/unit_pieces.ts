// also: node
// Calls that go in pieces, and what becomes of them when a side ends.
import * as assert from "uvu/assert";
import {
  CallError,
  CallRing,
  type Codec,
  codec,
  connect,
  serve,
} from "../../mod.ts";
import { CALL_RING } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { type Api, api } from "./api.ts";
import { between, message, refuses, rejection } from "./parts.ts";

const test = suite("calls, in pieces", 60_000);

/** The kinds of replies, as `connect` reads them. */
const [NOTHING, VALUE, ERROR, PIECE, ELSEWHERE, MORE] = [1, 2, 3, 5, 6, 128];

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a call fails if the server of its first piece is gone for 30 s", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const { now } = Date;
  let asked = 0;
  const served = ring.serveAsync((request) => {
    const offset = new DataView(request.slice().buffer).getInt32(8, true);
    if (offset === 0) return Uint8Array.of(NOTHING);
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

for (const sleeps of [false, true]) {
  const when = sleeps ? "while its caller sleeps" : "at once";
  test(`a call that is sent elsewhere ${when} comes again, whole`, async () => {
    const ring = CallRing.create({ slots: 1, request: 64, reply: 64 });
    const call = connect<Api>(ring).repeat("whole ", 3);
    for (let times = 0; times < 3; times++) {
      if (sleeps) await pause(20);
      const taken = times === 0 && !sleeps
        ? ring.tryTake()!
        : await ring.takeAsync();
      // A server does so that has not the object of a call.
      taken.space.fill(255);
      taken.reply(Uint8Array.of(ELSEWHERE));
    }
    const served = serve(ring, api);
    assert.is(await call, "whole whole whole ");
    ring.close();
    assert.is(await served, 1);
  });
}

test("a call fails that is sent elsewhere for 30 s", async () => {
  const ring = CallRing.create({ slots: 1, request: 64, reply: 64 });
  const { now } = Date;
  let asked = 0;
  const served = ring.serveAsync(() => {
    if (++asked === 3) Date.now = () => now() + 31_000;
    return Uint8Array.of(ELSEWHERE);
  });
  try {
    const error = await rejection(connect<Api>(ring).repeat("x", 1));
    assert.match(error.message, "has lost its object");
    assert.is(asked, 3);
    assert.is(ring.pending, 0);
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

// ---- pieces -----------------------------------------------------------------

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

test("a long request whose argument aborts it leaves the ring as it was", async () => {
  const ring = CallRing.create({ slots: 1, request: 64, reply: 64 });
  const words = new Int32Array(ring.buffer);
  const before = words.slice(0, CALL_RING.serve_epoch);
  type Waits = { wait(value: unknown, signal: AbortSignal): Promise<void> };
  const control = new AbortController();
  const value = {
    get text() {
      control.abort(new Error("enough"));
      return "x".repeat(500);
    },
  };
  const call = connect<Waits>(ring).wait(value, control.signal);
  assert.is((await rejection(call)).message, "enough");
  assert.is(ring.pending, 0);
  assert.equal(words.slice(0, CALL_RING.serve_epoch), before);
});

test("a request that cannot go in pieces is refused before", async () => {
  const small = CallRing.create({ request: 16, reply: 64 });
  const text = "ab".repeat(20);
  const error = (await rejection(connect<Api>(small).later(text))) as Error;
  assert.instance(error, RangeError);
  assert.match(error.message, "need 20 or more");
  refuses(
    () => connect.blocking<Api>(small).repeat(text, 1),
    RangeError,
    "need 20 or more",
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

/** The head of a piece of call 7: where it begins, and the whole's length. */
const pieceAt = (at: number, length: number) => //
[3, 0, 0, 0, 7, 0, 0, 0, at, 0, 0, 0, length, 0, 0, 0];

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

for (const aborts of [false, true]) {
  const what = aborts ? "let go if its signal aborts" : "fetched";
  test(`a long reply that comes before its caller sleeps is ${what}`, async () => {
    // Its one slot is kept while the reply is fetched.
    const ring = CallRing.create({ slots: 1, request: 64, reply: 8 });
    const given = codec.json as Codec<unknown>;
    type Waits = { wait(signal: AbortSignal): Promise<string> };
    const control = new AbortController();
    const call = connect<Waits>(ring, { codec: given }).wait(control.signal);
    const bytes = new TextEncoder().encode('"abcdefgh"');
    const reply = (kind: number, from: number, to: number) =>
      ring.tryTake()!.reply(message([kind], bytes.subarray(from, to)));
    assert.ok(reply(VALUE | MORE, 0, 7));
    if (aborts) {
      control.abort(new Error("enough"));
      assert.is((await rejection(call)).message, "enough");
    } else {
      const fetch = await ring.takeAsync();
      assert.is(fetch.request[0], 2);
      fetch.reply(message([PIECE], bytes.subarray(7)));
      assert.is(await call, "abcdefgh");
    }
    assert.is(ring.pending, 0);
    using next = ring.tryPost(Uint8Array.of(7));
    assert.ok(next, "the slot is free");
  });
}

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
