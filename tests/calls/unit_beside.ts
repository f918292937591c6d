// also: node
import * as assert from "uvu/assert";
import {
  CallRing,
  Channel,
  ClosedError,
  type Codec,
  codec,
  connect,
  type Remote,
  serve,
  transfer,
} from "../../mod.ts";
import { arrival, End, endOf } from "../../primitives/_calls/beside.ts";
import { suite } from "../_run/harness.ts";
import { spawn } from "../_run/workers.ts";
import { type Api, api } from "./beside_api.ts";
import { rejection } from "./parts.ts";

const AGENT = new URL("./beside_agent.ts", import.meta.url);

const test = suite("calls: what goes beside the ring");

const pause = (ms = 3) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until `is` holds, or for some seconds. */
async function until(is: () => boolean): Promise<void> {
  for (let i = 0; !is() && i < 2000; i++) await pause();
}

/** Waits until neither end of a channel keeps anything, or for some seconds. */
const emptied = (channel: MessageChannel): Promise<void> =>
  until(() => keptBy(channel).every((kept) => kept === 0));

function thrown(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not throw");
}

/** How many messages are kept at both ends of a channel. */
const keptBy = ({ port1, port2 }: MessageChannel): number[] =>
  [port1, port2].map((port) => endOf(port, false)!.pending);

interface Setting {
  readonly remote: Remote<Api>;
  readonly ring: CallRing;
  readonly channel: MessageChannel;
}

interface How {
  readonly codec?: Codec<unknown> | undefined;
  readonly slots?: number;
  readonly request?: number;
  readonly reply?: number;
}

/** Serves in this agent while `run` calls. Nothing is kept at the end. */
async function within(
  run: (setting: Setting) => Promise<void>,
  { codec, slots = 2, request = 128, reply = 64 }: How = {},
): Promise<void> {
  const ring = CallRing.create({ slots, request, reply });
  const channel = new MessageChannel();
  const served = serve(ring, api, { codec, port: channel.port2 });
  try {
    const options = { codec, port: channel.port1 };
    await run({ remote: connect<Api>(ring, options), ring, channel });
    await emptied(channel);
    assert.equal(keptBy(channel), [0, 0], "at the end");
  } finally {
    ring.close();
    await served;
    channel.port1.close();
  }
  // A caller that listens for a function gives its slot back a little later.
  await until(() => ring.pending === 0);
  assert.is(ring.pending, 0);
}

const json = codec.json as Codec<unknown>;

/** All that `remote`, of whichever kind, carries. */
async function carries(
  remote: Remote<Api>,
  wait: (result: unknown) => unknown,
): Promise<void> {
  assert.is(await wait(remote.add(1, 2)), 3);
  const memory = new SharedArrayBuffer(8);
  const words = new Int32Array(memory);
  await wait(remote.write(memory, words, 7));
  assert.equal([...words], [7, 7]);
  const channel = Channel.create<string>({ capacity: 4 });
  await wait(remote.tell(channel.handle, "through the ring"));
  assert.is(channel.tryReceive(), "through the ring");
  const handle = await wait(remote.channel()) as typeof channel.handle;
  assert.is(Channel.from<string>(handle).tryReceive(), "from there");
  for (let n = 1; n < 20; n++) {
    const bytes = new Uint8Array(1000);
    const sent = transfer(bytes, [bytes.buffer]);
    const filled = await wait(remote.fill(sent, n)) as Uint8Array;
    assert.is(bytes.length, 0, "moved");
    assert.equal([filled.length, filled[999]], [1000, n]);
  }
  const ports = new MessageChannel();
  const said = new Promise((resolve) => {
    ports.port1.onmessage = ({ data }) => resolve(data);
  });
  await wait(remote.answer(
    transfer(ports.port2, [ports.port2]),
    transfer({ words }),
  ));
  assert.is(await said, 7);
  ports.port1.close();
}

for (const given of [undefined, json]) {
  const name = given?.name ?? "value";

  test(`arguments and results arrive, with the codec ${name}`, () =>
    within(async ({ remote }) => {
      await carries(remote, (result) => result);
      const there = await remote.memory;
      new Int32Array(there)[1] = 9;
      assert.equal([...new Int32Array(api.memory)], [0, 9]);
      const seen: number[] = [];
      for await (const bytes of remote.buffers(3)) seen.push(bytes[99]!);
      assert.equal(seen, [0, 1, 2]);
    }, { codec: given }));
}

test("calls in flight get what is theirs, long ones, too", () =>
  within(async ({ remote }) => {
    const all = Array.from({ length: 40 }, (_, n) => {
      const bytes = new Uint8Array(n + 1);
      const sent = transfer(bytes, [bytes.buffer]);
      return n % 2 === 0 ? remote.fill(sent, n) : remote.later(sent, n);
    });
    for (const [n, bytes] of (await Promise.all(all)).entries()) {
      assert.equal([bytes.length, bytes[n]], [n + 1, n]);
    }
  }, { slots: 3, request: 64, reply: 8 }));

test("a request in pieces has values beside it", () =>
  within(async ({ remote }) => {
    const memory = new SharedArrayBuffer(8);
    assert.is(await remote.lengths(memory, "x".repeat(5000)), 5008);
  }));

test("functions and signals go with them", () =>
  within(async ({ remote }) => {
    const bytes = new Uint8Array(10);
    const each = remote.each((n) => Promise.resolve(n + 1), transfer(bytes));
    assert.equal([...await each as Uint8Array], Array(10).fill(11));
    const control = new AbortController();
    const reason = new Error("enough");
    const waiting = remote.wait(transfer(bytes), control.signal);
    await pause(20);
    control.abort(reason);
    assert.is(await rejection(waiting), reason);
  }));

test("a method that throws leaves nothing", () =>
  within(async ({ remote }) => {
    const error = await rejection(remote.fail(transfer(new Uint8Array(3))));
    assert.instance(error, RangeError);
    assert.is(error.message, "3 bytes");
  }));

test("what is given up is dropped, before it is taken and after", async () => {
  const ring = CallRing.create({ slots: 2, request: 64, reply: 64 });
  const channel = new MessageChannel();
  const { port1, port2 } = channel;
  const remote = connect<Api>(ring, { port: port1, timeout: 20 });
  const bytes = () => {
    const array = new Uint8Array(10);
    return transfer(array, [array.buffer]);
  };
  // Nobody serves yet: some get a slot, and some get none.
  const late = await Promise.all(
    [1, 2, 3].map((n) => rejection(remote.fill(bytes(), n))),
  );
  for (const error of late) assert.is(error.name, "TimeoutError");
  const control = new AbortController();
  const waiting = rejection(remote.wait(bytes(), control.signal));
  control.abort(7);
  assert.is(await waiting as unknown, 7);
  assert.is(ring.pending, 0);
  await pause();
  assert.equal(keptBy(channel), [0, 0], "nobody has taken them");
  const served = serve(ring, api, { port: port2 });
  // The result comes when nobody waits for it.
  const slow = connect<Api>(ring, { port: port1, timeout: 1 });
  assert.is((await rejection(slow.later(bytes(), 1))).name, "TimeoutError");
  await pause(20);
  await emptied(channel);
  assert.equal(keptBy(channel), [0, 0], "the result is dropped");
  const aborted = AbortSignal.abort("before");
  const moved = new Uint8Array(5);
  const sent = transfer(moved, [moved.buffer]);
  assert.is(await rejection(remote.wait(sent, aborted)) as unknown, "before");
  assert.is(moved.length, 5, "nothing was sent");
  ring.close();
  await served;
  const error = await rejection(
    remote.wait(sent, new AbortController().signal),
  );
  assert.instance(error, ClosedError);
  assert.is(moved.length, 5, "nothing was sent");
  port1.close();
});

test("without a port, an error says which value, and what to do", async () => {
  const ring = CallRing.create({ slots: 2, request: 128, reply: 64 });
  const { port1, port2 } = new MessageChannel();
  const bare = connect<Api>(ring, { codec: undefined } as never);
  const now = connect.blocking<Api>(ring, { codec: undefined } as never);
  const memory = new SharedArrayBuffer(8);
  const needs = /^args\[1\] of add cannot go through the ring: give both/;
  for (
    const value of [
      memory,
      new Uint8Array(memory),
      ring.handle,
      transfer({}),
    ] as never[]
  ) {
    const error = await rejection(bare.add(1, value));
    assert.instance(error, TypeError);
    assert.match(error.message, needs);
    assert.match(thrown(() => now.add(1, value)).message, needs);
  }
  assert.is(ring.pending, 0, "nothing was sent");
  const served = serve(ring, api);
  assert.match((await rejection(bare.channel())).message, /^The result cannot/);
  // The caller has a port, and the server has none.
  const remote = connect<Api>(ring, { port: port1 });
  assert.is(await remote.add(1, 2), 3);
  const error = await rejection(remote.sync(transfer(new Uint8Array(1))));
  assert.match(error.message, /^args\[0\] cannot go through the ring/);
  assert.match(
    (await rejection(remote.memory)).message,
    /^The result cannot go through/,
  );
  ring.close();
  await served;
  port1.close();
  port2.close();
});

test("what a port refuses is a TypeError, and nothing was sent", () =>
  within(async ({ remote, ring, channel }) => {
    const bytes = new Uint8Array(3);
    const { port1, port2 } = new MessageChannel();
    const list = [bytes.buffer];
    const fn = () => 1;
    for (
      const value of [
        transfer(port1),
        transfer(fn),
        transfer({ fn }),
        transfer(bytes, [channel.port1]),
        transfer(bytes, [bytes.buffer, bytes.buffer]),
        transfer({ bytes: transfer(bytes) }),
      ] as never[]
    ) {
      const error = await rejection(remote.add(1, value));
      assert.instance(error, TypeError);
      assert.match(error.message, /^args\[1\] of add cannot be sent by the po/);
      assert.is(ring.pending, 0);
    }
    const within = { bytes: transfer(bytes) } as never;
    assert.match((await rejection(remote.add(1, within))).message, "function");
    const refused = remote.each(Symbol() as never, transfer(bytes, list));
    assert.match((await rejection(refused)).message, "symbol");
    assert.is(bytes.length, 3, "it was not moved");
    assert.match((await rejection(remote.nested() as never)).message, "Cannot");
    port1.close();
    port2.close();
  }));

test("255 arguments go beside the ring, and none after them", () =>
  within(async ({ remote, ring }) => {
    const places = [...Array(255).keys()];
    const all = places.map(() => new SharedArrayBuffer(4));
    assert.equal(await remote.places(...all), places);
    const bytes = new Uint8Array(3);
    const late = transfer(bytes, [bytes.buffer]);
    const refused = await rejection(remote.places(...all, late));
    assert.instance(refused, RangeError);
    assert.match(refused.message, "received one as args[255]");
    assert.is(bytes.length, 3, "it was not moved");
    assert.is(ring.pending, 0);
  }, { request: 4096, reply: 4096 }));

test("mistakes are refused", () => {
  const ring = CallRing.create({ slots: 1, request: 64, reply: 64 });
  const { postMessage, start } = MessagePort.prototype;
  const { addEventListener } = EventTarget.prototype;
  const some = [
    { postMessage, start },
    { postMessage, addEventListener },
    { start, addEventListener },
  ];
  for (
    const port of [null, 1, {}, "port", () => {}, ring, ...some] as never[]
  ) {
    const needs = /^The port of calls must be a MessagePort: received /;
    for (const connects of [connect, connect.blocking]) {
      assert.match(thrown(() => connects(ring, { port })).message, needs);
    }
    const blocking = () => serve.blocking(ring, api, { port });
    assert.match(thrown(blocking).message, needs);
  }
  assert.match(
    thrown(() => transfer(1, {} as never)).message,
    "must be an array: received [object Object]",
  );
  assert.match(
    thrown(() => transfer(ring)).message,
    "A primitive is not transferred, but its handle is: received a call_ring",
  );
  assert.match(
    thrown(() => transfer(1, [1] as never)).message,
    "Only objects are transferred: received 1",
  );
  assert.is(ring.pending, 0);
});

test("serve refuses what is no port", async () => {
  const ring = CallRing.create({ slots: 1, request: 64, reply: 64 });
  const error = await rejection(serve(ring, api, { port: {} as never }));
  assert.match(error.message, "must be a MessagePort");
});

test("one agent serves two callers, each with a port", async () => {
  const ring = CallRing.create({ slots: 4, request: 128, reply: 64 });
  const channels = [new MessageChannel(), new MessageChannel()];
  const served = channels.map(({ port2 }) => serve(ring, api, { port: port2 }));
  const remotes = channels.map(({ port1 }) =>
    connect<Api>(ring, { port: port1 })
  );
  await Promise.all(
    remotes.map((remote) => carries(remote, (result) => result)),
  );
  ring.close();
  await Promise.all(served);
  for (const channel of channels) {
    assert.equal(keptBy(channel), [0, 0]);
    channel.port1.close();
  }
});

for (const blocks of [false, true]) {
  const server = blocks ? "serve.blocking" : "serve";

  for (const caller of ["connect", "connect.blocking"]) {
    test(`${caller} and ${server} in two threads`, async () => {
      const ring = CallRing.create({ slots: 2, request: 128, reply: 64 });
      const { port1, port2 } = new MessageChannel();
      const data = { ring: ring.handle, port: port2, blocks };
      const thread = await spawn(AGENT, data, [port2]);
      assert.is(await thread.next(), "here");
      const remote = caller === "connect"
        ? connect<Api>(ring, { port: port1 })
        : connect.blocking<Api>(ring, { port: port1 }) as unknown as //
        Remote<Api>;
      await carries(remote, (result) => result);
      ring.close();
      assert.is(await thread.next(), 24);
      assert.is(endOf(port1, true)!.pending, 0);
      thread.stop();
      port1.close();
    });
  }
}

test("a call that was late is answered when it calls back, in one slot", async () => {
  const ring = CallRing.create({ slots: 1, request: 64, reply: 64 });
  const [ours, theirs] = [new MessageChannel(), new MessageChannel()];
  const api = { call: async (fn: () => unknown) => await fn() };
  const served = serve(ring, api, { port: theirs.port2 });
  const options = { port: ours.port1, timeout: 3000 };
  const result = connect<typeof api>(ring, options).call(() => 7);
  await pause();
  // Until now the server could not know that the call is not by this port.
  connect<typeof api>(ring, { port: theirs.port1 });
  assert.is(await result, 7);
  ring.close();
  await served;
  for (const { port1 } of [ours, theirs]) port1.close();
});

test("a caller learns that its server died, and can go on", async () => {
  const ring = CallRing.create({ slots: 2, request: 128, reply: 64 });
  const { port1, port2 } = new MessageChannel();
  const data = { ring: ring.handle, port: port2, blocks: false };
  const thread = await spawn(AGENT, data, [port2]);
  assert.is(await thread.next(), "here");
  const remote = connect<Api>(ring, { port: port1 });
  const hasty = connect<Api>(ring, { port: port1, timeout: 100 });
  assert.is(await remote.sync(transfer(new Uint8Array(4))), 4);
  thread.stop();
  await pause(50);
  const error = await rejection(hasty.sync(transfer(new Uint8Array(4))));
  assert.is(error.name, "TimeoutError");
  assert.is(ring.pending, 0);
  port1.close();
});

test("a server forgets what a caller that died has sent", async () => {
  const ring = CallRing.create({ slots: 1, request: 128, reply: 64 });
  const channel = new MessageChannel();
  const served = serve(ring, api, { port: channel.port2 });
  // It died after it had posted to the port, and before it did to the ring.
  const end = endOf(channel.port1, false)!;
  end.parcel([new Uint8Array(1e6)], "it").post();
  await until(() => keptBy(channel)[1] === 1);
  assert.equal(keptBy(channel), [0, 1]);
  channel.port1.close();
  await until(() => endOf(channel.port2, false)!.pending === 0);
  assert.is(endOf(channel.port2, false)!.pending, 0);
  ring.close();
  await served;
});

test("a wait for a message lets go of each port, whoever ends meanwhile", async () => {
  const refs = [0, 0, 0];
  const [one, two, three] = refs.map((_, i) => {
    const port = {
      postMessage() {},
      start() {},
      close() {},
      addEventListener() {},
      removeEventListener() {},
      ref: () => void refs[i]!++,
      unref: () => void refs[i]!--,
    };
    return new End(port);
  });
  const ends = [one!, two!];
  const control = new AbortController();
  const wait = arrival(ends, () => undefined, true, control.signal);
  assert.equal(refs, [1, 1, 0]);
  ends.splice(0, 1, three!); // a server has ended, another one has begun
  control.abort();
  await rejection(wait);
  assert.equal(refs, [0, 0, 0]);
});
