// also: node
// An iterator that is left while a call of `next` awaits a value takes nothing
// more.
import * as assert from "uvu/assert";
import { Channel } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { listened } from "../_run/listened.ts";
import { nowOf } from "../_run/model.ts";
import { i32, type Line, LINES, ofChannel } from "./lines.ts";

const test = suite("iterators that await");

const MORE: Record<string, () => Line> = {
  "Channel of values": () => ofChannel(Channel.create({ capacity: 2 }), 2),
  "Channel without room": () =>
    ofChannel(Channel.create({ ...i32, capacity: 0 }), 0),
};

const DONE = { done: true, value: undefined };

for (const [name, make] of Object.entries({ ...LINES, ...MORE })) {
  for (const how of ["return", "throw"] as const) {
    test(`${name}: ${how} ends what awaits a value`, async () => {
      const line = make();
      const values = line.values();
      const nexts = [values.next(), values.next()];
      assert.is(await nowOf(Promise.race(nexts)), "pending");
      const left = values[how]("enough").then((end) => end, (error) => error);
      assert.equal(await Promise.all(nexts), [DONE, DONE]);
      assert.equal(await left, how === "return" ? DONE : "enough");
      assert.equal(await values.next(), DONE);
      const sent = line.send(7);
      assert.is(await line.receive(), 7);
      await sent;
    });
  }

  test(`${name}: a signal has one listener, while a value is awaited`, async () => {
    const line = make();
    const { control, signal, listeners } = listened();
    const values = line.values({ signal });
    for (let n = 1; n <= 3; n++) {
      const next = values.next();
      assert.is(await nowOf(next), "pending");
      const sent = line.send(n);
      const { value } = await next;
      assert.is(value[0] ?? value, n);
      await sent;
      assert.equal(listeners, { now: 0, most: 1 });
    }
    const nexts = [values.next(), values.next()];
    assert.is(await nowOf(Promise.race(nexts)), "pending");
    control.abort("enough");
    const ends = nexts.map((next) => next.catch((error) => [error]));
    assert.equal(await Promise.all(ends), [["enough"], ["enough"]]);
    assert.equal(listeners, { now: 0, most: 1 });
    assert.equal(await values.next(), DONE);
    const sent = line.send(7);
    assert.is(await line.receive(), 7);
    await sent;
  });

  test(`${name}: a stream that is cancelled takes nothing more`, async () => {
    const line = make();
    const stream = ReadableStream.from(line.values());
    const reader = stream.getReader();
    const read = reader.read();
    assert.is(await nowOf(read), "pending");
    await reader.cancel();
    assert.equal(await read, DONE);
    const sent = line.send(7);
    assert.is(await line.receive(), 7);
    await sent;
  });
}
