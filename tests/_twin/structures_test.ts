// about: broadcast, channel, hash_map, lock_free_queue, record_ring
// about: slab_pool, snapshot, work_deque
// also: node
// Threads of C and of TypeScript on one data structure, in both directions.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import {
  Broadcast,
  Channel,
  ClosedError,
  type Codec,
  codec as codecs,
  HashMap,
  LockFreeQueue,
  RecordRing,
  SlabPool,
  Snapshot,
  WorkDeque,
} from "../../mod.ts";
import { type TwinModule, twinModule } from "./module.ts";
import type { Part } from "./structure.ts";
import { isSent } from "./sent.ts";
import { suite } from "../_run/harness.ts";
import { Crew } from "../_run/workers.ts";

const crew = new Crew(new URL("./structure.ts", import.meta.url));
const SOURCE = fileURLToPath(
  new URL("./structures.c", import.meta.url),
);
const OUT = fileURLToPath(
  new URL("../../.weft/twin/structures.mjs", import.meta.url),
);

type Role = Part["role"];
/** In the order of structures.c. */
const ROLES: readonly Role[] = [
  "queue push",
  "queue pop",
  "record push",
  "record pop",
  "pool use",
  "deque own",
  "deque steal",
  "snapshot write",
  "snapshot read",
  "broadcast push",
  "broadcast see",
  "channel send",
  "channel receive",
  "map count",
  "map write",
];

const { module, memory, arena } = await twinModule<TwinModule>(
  SOURCE,
  OUT,
  ["-sPTHREAD_POOL_SIZE=4"],
);
/** The parts lie before the structures. */
const STRUCTURES = arena + 4096;

const test = suite("Twins of data structures");

/** A part that is played: resolves to its result. */
interface Played {
  over: Promise<number>;
}

/** A part lies in one of these, which is free again when it is over. */
const places = Array.from({ length: 8 }, (_, i) => arena + 64 * i);

const soon = () => new Promise((resolve) => setTimeout(resolve, 1));

async function start(
  by: "C" | "JS",
  role: Role,
  count = 0,
  number = 0,
): Promise<Played> {
  if (by === "JS") {
    const at = STRUCTURES;
    const job: Part = { role, memory, at, count, number };
    const thread = await crew.begin(job);
    assert.is(await thread.next(), "begun");
    const end = async () => {
      const result = await thread.next<number>();
      crew.end(thread);
      return result;
    };
    return { over: end() };
  }
  const place = places.pop()!;
  const buffer = memory.buffer as unknown as SharedArrayBuffer;
  const words = new Int32Array(buffer, place, 7);
  words.set([0, ROLES.indexOf(role), STRUCTURES, count, number, 0, 0]);
  assert.is(module._start(place), 0);
  while (Atomics.load(words, 0) === 0) await soon();
  const end = async () => {
    while (Atomics.load(words, 0) < 2) await soon();
    places.push(place);
    assert.is(words[6], 0, `${role}: structures.c:${words[6]}`);
    return words[5]!;
  };
  return { over: end() };
}

const sum = (n: number) => n * (n + 1) / 2;

test("a LockFreeQueue between both loses nothing", async () => {
  for (const capacity of [1, 64]) {
    const queue = LockFreeQueue.init(memory, STRUCTURES, { capacity });
    const n = 2000;
    const pops = [
      await start("C", "queue pop"),
      await start("JS", "queue pop"),
    ];
    let own = 0;
    const reading = (async () => {
      for await (const item of queue) own += item;
    })();
    const pushes = [
      await start("C", "queue push", n),
      await start("JS", "queue push", n),
    ];
    for (let i = 1; i <= n; i++) await queue.pushIntAsync(i);
    await Promise.all(pushes.map(({ over }) => over));
    queue.close();
    await reading;
    const [c, js] = await Promise.all(pops.map(({ over }) => over));
    assert.is(c! + js! + own, 3 * sum(n));
    assert.is(queue.repair(), 0);
  }
});

test("a RecordRing takes records of both to either", async () => {
  for (const consumer of ["C", "JS", "main"] as const) {
    const ring = RecordRing.init(memory, STRUCTURES, { capacity: 256 });
    const n = 1000;
    const pop = consumer === "main"
      ? undefined
      : await start(consumer, "record pop");
    const pushes = [
      await start("C", "record push", n),
      await start("JS", "record push", n),
    ];
    let seen = 0;
    const reading = pop !== undefined ? undefined : (async () => {
      for await (const record of ring) {
        assert.ok(record.every((byte, k) => byte === (record[0]! + k & 0xff)));
        seen++;
      }
    })();
    for (let i = 0; i < 50; i++) await ring.pushAsync(Uint8Array.of(7, 8, 9));
    await Promise.all(pushes.map(({ over }) => over));
    ring.close();
    await reading;
    assert.is(pop === undefined ? seen : await pop.over, 2 * n + 50);
    assert.is(ring.used, 0);
  }
});

test("a Channel delivers what both sent to either, equal", async () => {
  const n = 1000;
  for (const codec of [codecs.text, codecs.f64] as Codec<unknown>[]) {
    const sized = "field" in codec;
    for (const receiver of ["C", "JS", "main"] as const) {
      const room = sized ? {} : { messageSize: 48 };
      const config = { codec, capacity: 4, tracked: 3, ...room };
      const channel = Channel.init(memory, STRUCTURES, config);
      const end = channel.sender(); // until the others have begun
      const receive = receiver === "main"
        ? undefined
        : await start(receiver, "channel receive");
      const sends = [
        await start("C", "channel send", n, 1),
        await start("JS", "channel send", n, 2),
      ];
      let seen = 0;
      const receiving = receive === undefined && (async () => {
        for await (const message of channel) seen += isSent(message) ? 1 : 0;
      })();
      for (let i = 0; i < 50; i++) {
        await channel.sendAsync(sized ? 1.5 : "ü");
      }
      // Those who send leave at the end, and the last one closes the channel.
      let sent = false;
      const over = Promise.all(sends.map(({ over }) => over))
        .finally(() => sent = true);
      while (!sent && channel.senders < 3) await soon();
      end.leave();
      await over;
      assert.ok(channel.closed);
      await receiving;
      const got = receive === undefined ? seen : await receive.over;
      assert.is(got, 2 * n + 50, `${codec.name}, ${receiver}`);
    }
  }
});

test("a SlabPool gives no block to both", async () => {
  for (const capacity of [2, 40]) {
    const pool = SlabPool.init(memory, STRUCTURES, { capacity, blockSize: 8 });
    const users = [
      await start("C", "pool use", 20_000, 0),
      await start("JS", "pool use", 20_000, 3),
      await start("C", "pool use", 20_000, 5),
    ];
    const used = await Promise.all(users.map(({ over }) => over));
    // One agent may keep all blocks of a small pool in its cache for long.
    assert.ok(capacity === 2 || used.every((times) => times > 0), `${used}`);
    assert.is(pool.available, capacity);
  }
});

test("a HashMap finds the keys of both", async () => {
  const own = { key: codecs.text, value: codecs.i32 };
  const sizes = { capacity: 8, keySize: 8 };
  const map = HashMap.init(memory, STRUCTURES, { ...own, ...sizes });
  const n = 4000;
  const parts = [
    await start("C", "map count", n),
    await start("JS", "map count", n),
    await start("C", "map count", n),
  ];
  const counted = await Promise.all(parts.map(({ over }) => over));
  assert.equal(counted, [n, n, n]);
  assert.is(map.size, 8);
  for (const [word, count] of map) {
    assert.is(word, word.charAt(0).repeat(word.charCodeAt(0) - 97));
    assert.is(count, 3 * n / 8, word);
  }
});

test("a HashMap finds the keys of both in its heap", async () => {
  const own = { key: codecs.text, value: codecs.i32 };
  const heap = { bytes: 24 * 12, blockSize: 12, keyInEntry: 3 };
  const sizes = { capacity: 8, keySize: 8, heap };
  for (const first of ["C", "JS"] as const) {
    const map = HashMap.init(memory, STRUCTURES, { ...own, ...sizes });
    const n = 4000;
    // The first one adds the keys, and the other one finds them.
    await (await start(first, "map count", 8)).over;
    const parts = [
      await start("C", "map count", n),
      await start("JS", "map count", n),
    ];
    assert.equal(await Promise.all(parts.map(({ over }) => over)), [n, n]);
    assert.is(map.size, 8);
    for (const [word, count] of map) {
      assert.is(word, word.charAt(0).repeat(word.charCodeAt(0) - 97));
      assert.is(count, 2 * n / 8 + 1, word);
      assert.ok(map.delete(word));
    }
  }
});

test("a HashMap gives whole texts to both", async () => {
  const own = { key: codecs.i32, value: codecs.text };
  for (const capacity of [1, 5, 13]) {
    const sizes = { capacity, valueSize: 9 };
    const map = HashMap.init(memory, STRUCTURES, { ...own, ...sizes });
    const parts = [
      await start("C", "map write", 20_000),
      await start("JS", "map write", 20_000),
      await start("C", "map write", 20_000),
    ];
    const found = await Promise.all(parts.map(({ over }) => over));
    assert.ok(found.every((times) => times > 0), `${found}`);
    for (const text of map.values()) {
      assert.is(text, text.charAt(0).repeat(text.length));
    }
    map.clear();
    for (let key = 0; key < capacity; key++) assert.ok(map.set(key, "x"));
    assert.not.ok(map.set(capacity, "x"));
  }
});

test("a WorkDeque of either is stolen from by the other", async () => {
  for (const [owner, thief] of [["C", "JS"], ["JS", "C"]] as const) {
    WorkDeque.init(memory, STRUCTURES, { capacity: 16 });
    const n = 30_000;
    const steal = await start(thief, "deque steal");
    const own = await start(owner, "deque own", n);
    assert.is((await own.over + await steal.over) | 0, sum(n) | 0);
  }
});

test("a Snapshot of either is read by the other, whole", async () => {
  for (const single of [false, true]) {
    for (const [writer, reader] of [["C", "JS"], ["JS", "C"]] as const) {
      const config = { size: 32, singleReader: single };
      const snapshot = Snapshot.init(memory, STRUCTURES, config);
      const n = 20_000;
      const readers = [await start(reader, "snapshot read", n)];
      if (!single) readers.push(await start(writer, "snapshot read", n));
      const write = await start(writer, "snapshot write", n);
      await write.over;
      for (const { over } of readers) assert.ok(await over > 0);
      assert.is(snapshot.version, n);
    }
  }
});

test("a Broadcast of either is seen by both", async () => {
  for (const slow of ["block", "drop"] as const) {
    for (const producer of ["C", "JS"] as const) {
      const config = { capacity: 16, subscribers: 3, slow };
      const broadcast = Broadcast.init(memory, STRUCTURES, config);
      const n = 2000;
      const seats = [
        await start("C", "broadcast see"),
        await start("JS", "broadcast see"),
      ];
      using own = broadcast.subscribe();
      let seen = 0;
      const reading = (async () => {
        try {
          for (;;) {
            await own.popIntAsync();
            seen++;
          }
        } catch (error) {
          if (!(error instanceof ClosedError)) throw error;
        }
      })();
      const push = await start(producer, "broadcast push", n);
      await push.over;
      await reading;
      assert.is(seen + own.dropped, n);
      for (const { over } of seats) {
        const count = await over;
        assert.ok(slow === "drop" ? count > 0 && count <= n : count === n);
      }
    }
  }
});
