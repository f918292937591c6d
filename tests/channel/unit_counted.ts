// also: node
// Channels that count their ends, and what becomes of ends that are left.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Channel,
  type Codec,
  lockFree,
  manyToMany,
  manyToOne,
  oneToOne,
  recover,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, refuses, turns, wordsOf } from "../_run/model.ts";
import { closes, i32, isClosed, text } from "./shared.ts";

const test = suite("Channel, ends that are counted");

/**
 * Every carrier, with a codec whose messages have one size, and another one.
 */
const COUNTED = [undefined, oneToOne, manyToMany, manyToOne, lockFree].flatMap(
  (carrier) =>
    ([i32, text] as Codec<unknown>[]).map((codec) => ({ codec, carrier })),
);

for (const by of COUNTED) {
  const { codec, carrier } = by;
  const name = `${codec.name}, ${carrier?.name ?? "no carrier"}`;
  const config = { ...by, capacity: 2, tracked: 2 };
  const value = codec === i32 ? 7 : "ü";

  test(`the last sender that leaves closes the channel: ${name}`, async () => {
    const bytes = Channel.byteLength(config);
    const memory = new SharedArrayBuffer(bytes);
    const channel = Channel.init(memory, 0, config);
    assert.is(bytes, channel.byteLength);
    const one = asAgent(7, () => Channel.from(channel.handle, by));
    const two = asAgent(8, () => Channel.from(channel.handle, by));
    assert.equal([one.tracked, one.senders, one.receivers], [2, 0, 0]);
    const first = one.sender(), second = one.sender(), third = two.sender();
    assert.is(channel.senders, 3);
    channel.send(value);
    first.leave();
    first.leave(); // only the first call counts
    third.leave();
    assert.equal([channel.senders, channel.closed], [1, false]);
    second[Symbol.dispose]();
    assert.equal([channel.senders, channel.closed], [0, true]);
    assert.is(channel.receive(), value);
    assert.throws(() => channel.receive(), isClosed);
    assert.throws(() => two.sender(), isClosed);
    assert.is(channel.senders, 0);
    const waits = Channel.create(config);
    const only = waits.sender();
    const receiving = waits.receiveAsync();
    await turns(2);
    only.leave();
    assert.ok(await closes(receiving));
  });

  test(`the last receiver that leaves ends every send: ${name}`, async () => {
    const channel = Channel.create(config);
    const one = channel.receiver(), two = channel.receiver();
    while (channel.trySend(value));
    const sending = channel.sendAsync(value);
    await turns(2);
    one.leave();
    assert.is(channel.closed, false);
    two.leave();
    assert.ok(await closes(sending));
    assert.throws(() => channel.trySend(value), isClosed);
    using _late = channel.receiver(); // for what is left
    assert.is(channel.receivers, 1);
    assert.is(channel.receive(), value);
  });
}

test("counted ends of dead agents end by abandon and recover", () => {
  for (const by of COUNTED) {
    const { handle } = Channel.create({ ...by, capacity: 2, tracked: 2 });
    const [a, b, c] = [7, 8, 9].map((id) =>
      asAgent(id, () => Channel.from(handle, by))
    );
    a!.sender();
    a!.sender();
    const guard = b!.sender();
    b!.receiver();
    assert.is(a!.abandon(0), 0);
    refuses(a!.buffer, () => a!.abandon(-1), RangeError, "-1");
    refuses(a!.buffer, () => c!.sender(), RangeError, "2 agents have a row");
    const found = recover([7], a!).map(({ what, id, count }) => [
      ...[what, id, count],
    ]);
    assert.equal(found, [["ends left", 7, 2]]);
    assert.equal([b!.senders, b!.closed], [1, false]);
    c!.sender(); // in the row that is free again
    c!.leaveSender();
    refuses(c!.buffer, () => c!.leaveSender(), TypeError, "holds 0");
    refuses(c!.buffer, () => c!.leaveReceiver(), TypeError, "holds 0");
    b!.abandon(8);
    assert.equal([b!.senders, b!.receivers, b!.closed], [0, 0, true]);
    guard.leave(); // it has ended already
  }
});

test("a channel counts its ends only if it is told to", () => {
  const channel = Channel.create({ codec: i32, capacity: 1 });
  const { buffer } = channel;
  assert.equal([channel.tracked, channel.senders, channel.receivers], [
    0,
    0,
    0,
  ]);
  for (const wrong of ["sender", "receiver", "leaveSender"] as const) {
    refuses(buffer, () => channel[wrong](), TypeError, "`tracked`");
  }
  for (const tracked of [-1, 256, 1.5, NaN]) {
    const config = { codec: i32, capacity: 1, tracked };
    refuses(buffer, () => Channel.init(buffer, 0, config), RangeError);
  }
  wordsOf(channel)[LAYOUT.channel.tracked] = 3; // without its check
  refuses(buffer, () => new Channel(buffer, 0, { codec: i32 }), TypeError, "3");
});

test("more ends than the words can count are refused", () => {
  const channel = Channel.create({ codec: i32, capacity: 1, tracked: 1 });
  for (const end of ["sender", "receiver"] as const) {
    for (let i = 0; i < 2047; i++) channel[end]();
    const attempt = () => channel[end]();
    refuses(channel.buffer, attempt, RangeError, "more than 2047 ends");
  }
  assert.equal([channel.senders, channel.receivers], [2047, 2047]);
});

test("counts of ends are those of a list", () => {
  const step = fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 2 }));
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const { handle } = Channel.create({ capacity: 1, tracked: 3 });
    const agents = [1, 2, 3].map((id) =>
      asAgent(id, () => Channel.from(handle))
    );
    const ends = [[0, 0, 0], [0, 0, 0]];
    let closed = false;
    for (const [what, i] of steps) {
      const agent = agents[i]!;
      const mine = ends[what & 1]!;
      if (what < 2) {
        const begin = () => what === 0 ? agent.sender() : agent.receiver();
        if (what === 0 && closed) assert.throws(begin, isClosed);
        else {
          begin();
          mine[i]!++;
        }
      } else if (mine[i]! > 0) {
        if (what === 2) agent.leaveSender();
        else agent.leaveReceiver();
        mine[i]!--;
        if (Math.max(...mine) === 0) closed = true;
      }
      const [senders, receivers] = ends.map((n) => n.reduce((a, b) => a + b));
      assert.equal(
        [agent.senders, agent.receivers, agent.closed],
        [senders, receivers, closed],
      );
    }
  }));
});
