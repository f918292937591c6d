// also: node, browsers
// What serves a pool's tasks in a worker, without the worker.
import * as assert from "uvu/assert";
import { CallRing } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import {
  cancel,
  PoolServer,
  POSTED_BYTES,
  postedAt,
  REPLY_HEAD,
  REQUEST_HEAD,
  Rooms,
  Slots,
} from "./parts.ts";

const test = suite("what serves a Pool");

/** A pool with one slot, whose requests and replies have room for `ROOM`. */
const ROOM = 16;
/** The agents. */
const POOL = 1, DEAD = 2, OTHER = 3;

for (const length of [4, 4 * ROOM]) {
  for (const fails of [false, true]) {
    const what = `${fails ? "an error" : "a result"} of ${length} bytes`;
    test(`a worker that was taken for dead answers no other task: ${what}`, () => {
      const { buffer } = CallRing.create({
        slots: 1,
        request: REQUEST_HEAD + ROOM,
        reply: REPLY_HEAD + ROOM,
      });
      const words = new Int32Array(buffer);
      const posted = postedAt(new SharedArrayBuffer(POSTED_BYTES), 0);
      const slots = new Slots(words, POOL);
      const rooms = new Rooms(slots, posted, POOL);
      const post = (token: number) => {
        const at = rooms.claim();
        rooms.post(at, 0, token, 0);
        return at;
      };
      const at = post(1);
      let before: Int32Array | undefined;
      const run = () => {
        // Deno lets it go on, while another worker gets the next task.
        slots.abandon(DEAD);
        cancel(words, at);
        assert.is(post(2), at);
        assert.is(new Slots(words, OTHER).takeOrEnd(), at);
        before = words.slice();
        if (fails) throw new Error("x".repeat(length));
        return 1;
      };
      const codec = { name: "long", encode: () => length, decode: () => 0 };
      const messages: unknown[] = [];
      const task = {
        name: "task",
        run,
        request: codec,
        reply: codec,
        requestField: undefined,
        replyField: undefined,
      };
      new PoolServer({
        slots: new Slots(words, DEAD),
        posted,
        recycle: { tasks: 1, memory: Infinity },
        tasks: [task],
        names: ["task"],
        number: 0,
        done: () => messages.push("done"),
        hear: () => {},
        post: (message) => messages.push(message),
      }).serve();
      assert.equal(messages, []);
      assert.equal(words, before);
    });
  }
}
