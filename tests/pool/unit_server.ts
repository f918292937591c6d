// also: node, browsers
// What serves a pool's tasks in a worker, without the worker.
import * as assert from "uvu/assert";
import { CallRing } from "../../mod.ts";
import { placeFrom } from "../../primitives/_pool/worker/serve.ts";
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

// V8 cannot read a view of 4 GiB or more in another thread, for example.
for (const isNode of [true, false]) {
  const kind = isNode ? "of Node" : "of the web";
  test(`a worker ${kind} says that it cannot read what the pool sent`, async () => {
    const listeners = new Map<string, (event: never) => void>();
    const on = (event: string, listener: (event: never) => void) =>
      void listeners.set(event, listener);
    const off = (event: string, listener: unknown) => {
      assert.is(listeners.get(event), listener);
      listeners.delete(event);
    };
    const names = isNode
      ? { on, off }
      : { addEventListener: on, removeEventListener: off };
    const postMessage = () => listeners.get("messageerror")!({} as never);
    const hello = { id: 1, tasks: {}, limit: 1, makes: false };
    const place = placeFrom({ ...names, postMessage }, hello);
    const error = await place.catch((error) => error);
    assert.match(`${error}`, /^TypeError: .* init cannot be read/);
    assert.is(listeners.size, 0);
  });
}

/** A pool with one slot, whose requests and replies have room for `ROOM`. */
const ROOM = 16;
/** The agents. */
const POOL = 1, DEAD = 2, OTHER = 3;

for (const length of [4, 4 * ROOM]) {
  for (const [fails, awaits] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
    const what = `${fails ? "an error" : "a result"} of ${length} bytes` +
      (awaits ? ", awaited" : "");
    test(`a worker that was taken for dead answers no other task: ${what}`, async () => {
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
      const later = async () => {
        await undefined;
        return run();
      };
      const codec = { name: "long", encode: () => length, decode: () => 0 };
      const messages: unknown[] = [];
      const task = {
        name: "task",
        run: awaits ? later : run,
        request: codec,
        reply: codec,
        requestField: undefined,
        replyField: undefined,
      };
      const server = new PoolServer({
        slots: new Slots(words, DEAD),
        posted,
        recycle: { tasks: 1, memory: Infinity },
        tasks: [task],
        names: ["task"],
        number: 0,
        done: () => messages.push("done"),
        hear: () => {},
        post: (message) => messages.push(message),
      });
      if (awaits) await server.serveAsync(1);
      else server.serve();
      assert.equal(messages, []);
      assert.equal(words, before);
    });
  }
}
