// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { agentId, ClosedError, DamagedError, RecordRing } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  NEAR_WRAP,
  nowOf,
  preempted,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";
import { inside, isReady, MAKERS } from "../_queue/model.ts";
import { forge } from "../_region/impossible.ts";

const { tail, head, head_cache, tail_cache, claimant, pop_waiters } =
  LAYOUT.record_ring;
const { consumer } = LAYOUT.record_ring;
const { push_waiters, pushed, popped, popped_cache } = LAYOUT.record_ring;
const DEAD = 77;

/** An empty ring whose next record begins at `start`, modulo 2^32. */
function ringAt(
  capacity: number,
  single = false,
  start = 0,
  more: { manyConsumers?: boolean; most?: number } = {},
): RecordRing {
  const ring = RecordRing.create({ capacity, singleProducer: single, ...more });
  const words = wordsOf(ring);
  for (const word of [tail, head, head_cache, tail_cache]) {
    words[word] = start & ~7;
  }
  if (more.most === undefined) return ring;
  for (const word of [pushed, popped, popped_cache]) words[word] = start;
  return ring;
}

/** `length` bytes that differ for each record `i`. */
const record = (i: number, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, k) => i * 31 + k * 7 + 1);

const isClosed = (error: unknown): boolean => error instanceof ClosedError;

const test = suite("RecordRing");

test("every operation obeys the model, wherever positions wrap", () => {
  const op = fc.constantFrom(
    ...["push", "push", "push", "reserve", "shrink", "cancel", "hold"],
    ...["pop", "pop", "into", "read", "read many", "peek", "close"],
  );
  const calls = fc.array(
    fc.record({
      op,
      n: fc.nat({ max: 300 }),
      maker: fc.constantFrom(...Object.keys(MAKERS)),
    }),
    { maxLength: 60 },
  );
  const start = fc.tuple(fc.constantFrom(0, ...NEAR_WRAP), fc.nat({ max: 400 }))
    .map(([wrap, before]) => wrap - before | 0);
  const capacity = fc.constantFrom(16, 32, 64, 256, 512);
  const more = fc.constantFrom<{ manyConsumers?: boolean; most?: number }>(
    ...[{}, {}, { manyConsumers: true }, { most: 1 }, { most: 3 }],
    { manyConsumers: true, most: 2 },
  );
  fc.assert(
    fc.property(
      capacity,
      fc.boolean(),
      more,
      start,
      calls,
      (capacity, single, more, start, calls) => {
        const made = ringAt(capacity, single, start, more);
        const { most = Infinity } = more;
        const producer = new RecordRing(made.buffer);
        const consumer = new RecordRing(made.buffer);
        const held: Uint8Array[] = []; // the model
        let closed = false;
        let i = 0;
        const { maxLength } = made;
        assert.is(maxLength, capacity / 2 - 8);
        /** Pushes by `push`, which returns whether there was room. */
        const pushing = (
          bytes: Uint8Array,
          push: () => boolean,
          asked = bytes.length,
        ) => {
          if (closed) return assert.throws(push, isClosed);
          const { used } = producer;
          const room = hasRoom(asked);
          assert.is(push(), room, `${asked} bytes, ${used} used`);
          if (room) held.push(bytes);
        };
        /** Whether a record of `length` bytes fits now. */
        const hasRoom = (length: number) => {
          const space = 8 + Math.ceil(length / 8) * 8;
          const left = capacity - (wordsOf(made)[tail]! & capacity - 1);
          const total = left < space ? left + space : space;
          return producer.used + total <= capacity && held.length < most;
        };
        const popping = (pop: () => Uint8Array[]) => {
          if (closed && held.length === 0) return assert.throws(pop, isClosed);
          for (const bytes of pop()) {
            assert.equal([...bytes], [...held.shift()!]);
          }
        };
        for (const { op, n, maker } of calls) {
          const make = MAKERS[maker]!;
          const bytes = record(i++, n % (maxLength + 1));
          if (op === "push") {
            const src = /Uint8|DataView/.test(maker)
              ? make(bytes.length)
              : bytes;
            inside(src).set(bytes);
            pushing(bytes, () => producer.tryPush(src));
          } else if (op === "reserve" || op === "shrink") {
            const length = op === "shrink" ? bytes.length >> 1 : bytes.length;
            pushing(bytes.subarray(0, length), () => {
              const place = producer.reserve(bytes.length);
              if (place === undefined) return false;
              assert.is(place.length, bytes.length);
              place.set(bytes);
              producer.commit(length);
              return true;
            }, bytes.length);
          } else if (op === "cancel" && !closed) {
            const room = hasRoom(bytes.length);
            assert.is(producer.reserve(bytes.length) !== undefined, room);
            if (room) producer.cancel();
          } else if (op === "hold" && !closed) {
            const room = hasRoom(bytes.length);
            const place = producer.reserve(bytes.length);
            assert.is(place !== undefined, room);
            if (place === undefined) continue;
            // The consumer sees the records in front of it, and no more.
            while (held.length > 0) popping(() => [consumer.tryPop()!]);
            assert.is(consumer.tryPop(), undefined);
            place.set(bytes);
            producer.commit();
            held.push(bytes);
          } else if (op === "pop") {
            popping(() => [consumer.tryPop()].filter((r) => r !== undefined));
          } else if (op === "into") {
            popping(() => {
              const dst = new Uint8Array(capacity).fill(0xee);
              const length = consumer.tryPopInto(dst);
              if (length === undefined) return [];
              assert.ok(dst.subarray(length).every((byte) => byte === 0xee));
              return [dst.subarray(0, length)];
            });
          } else if (op === "read" || op === "read many") {
            popping(() => {
              const seen: Uint8Array[] = [];
              const limit = op === "read" ? 1 : n % 5 + 1;
              const count = consumer.read((bytes) => {
                assert.is(bytes.buffer, made.buffer); // no copy
                seen.push(bytes.slice());
              }, limit);
              assert.is(count, Math.min(limit, held.length));
              return seen;
            });
          } else if (op === "peek") {
            popping(() => {
              const place = consumer.peek();
              if (place === undefined) return [];
              assert.is(consumer.peek()!.byteOffset, place.byteOffset);
              const bytes = place.slice();
              consumer.consume();
              return [bytes];
            });
          } else if (op === "close" && n < 30) {
            producer.close();
            closed = true;
          }
          assert.is(producer.closed, closed);
          if (held.length > 0) assert.ok(consumer.used > 0);
          assert.is(consumer.size, held.length);
          assert.is(isReady(consumer), held.length > 0 || closed);
        }
        while (held.length > 0) popping(() => [consumer.tryPop()!]);
        if (closed) assert.throws(() => consumer.tryPop(), isClosed);
        else assert.is(consumer.tryPop(), undefined);
        assert.is(consumer.used, 0);
      },
    ),
    { numRuns: 600 },
  );
});

test("a configuration, or roles, of no ring are refused", () => {
  const { buffer } = RecordRing.create({ capacity: 16 });
  for (const [name, type] of Object.entries(CONFIG)) {
    const config = { capacity: 16, [name]: 0.5 };
    const init = () => RecordRing.init(buffer, 0, config);
    refuses(buffer, init, type, "received 0.5");
  }
  const words = new Int32Array(buffer);
  for (const roles of [4, -1, 8]) {
    forge("record_ring", words, 16, roles);
    const attach = () => new RecordRing(buffer);
    refuses(buffer, attach, TypeError, "impossible", `roles are ${roles}`);
  }
});

/** The options of a ring, and the error of a fraction. */
const CONFIG = {
  capacity: RangeError,
  most: RangeError,
  singleProducer: TypeError,
  manyConsumers: TypeError,
};

test("a record that is too long for an array stays, and is not peeked at", () => {
  const ring = RecordRing.create({ capacity: 64 });
  ring.push(Uint8Array.of(1, 2, 3));
  const short = new Uint8Array(2);
  assert.throws(() => ring.tryPopInto(short), /3 bytes.* 2 bytes/);
  assert.throws(() => ring.consume(), /No record was peeked at/);
  assert.equal([...ring.tryPop()!], [1, 2, 3]);
});

test("while read() shows a record, nothing else takes it", async () => {
  for (
    const roles of [{}, { manyConsumers: true }, { singleProducer: true }]
  ) {
    const ring = RecordRing.create({ capacity: 64, ...roles });
    const abort = new AbortController();
    const { signal } = abort;
    const pop = ring.popAsync({ signal }).catch((error) => error);
    assert.is(await nowOf(pop), "pending");
    ring.push(Uint8Array.of(1));
    ring.push(Uint8Array.of(2));
    const seen: number[] = [];
    const count = ring.read((record) => {
      seen.push(record[0]!);
      const takes = [
        () => ring.tryPop(),
        () => ring.pop(),
        () => ring.tryPopInto(new Uint8Array(8)),
        () => ring.read(() => {}),
        () => ring.peek(),
        () => ring.consume(),
      ];
      for (const take of takes) {
        refuses(ring.buffer, take, TypeError, "within read");
      }
      abort.abort();
      if (seen.length === 2) ring.push(Uint8Array.of(3));
    }, 2);
    assert.is(count, 2);
    assert.instance(await pop, TypeError);
    assert.equal([...seen, ring.tryPop()![0]], [1, 2, 3]);
    const oops = () => {
      throw new Error("oops");
    };
    ring.push(Uint8Array.of(4));
    ring.push(Uint8Array.of(5));
    assert.throws(() => ring.read(oops), "oops");
    const peeked = ring.peek()!;
    assert.throws(() => ring.read(oops), "oops");
    assert.is(peeked[0], 4);
    ring.consume(); // it is peeked at still
    assert.throws(() => ring.read(oops), "oops");
    assert.throws(() => ring.consume(), "No record was peeked at");
    assert.is(ring.pop()[0], 5);
  }
});

test("a pop into an array has the role, and leaves what does not fit", () => {
  const dst = new Uint8Array(8);
  for (
    const roles of [{}, { manyConsumers: true }, { singleProducer: true }]
  ) {
    const ring = RecordRing.create({ capacity: 64, ...roles });
    ring.push(Uint8Array.of(1));
    ring.push(Uint8Array.of(2, 2));
    assert.is(ring.tryPopInto(dst), 1);
    const other = asAgent(DEAD, () => RecordRing.from(ring.handle));
    if (roles.manyConsumers) {
      const little = dst.subarray(0, 1);
      assert.throws(() => ring.tryPopInto(little), RangeError);
      assert.throws(() => ring.popInto(little), RangeError);
      assert.is(wordsOf(ring)[consumer], 0);
      assert.is(asAgent(DEAD, () => other.tryPopInto(dst)), 2);
    } else {
      assert.is(wordsOf(ring)[consumer], agentId());
      const pop = () => asAgent(DEAD, () => other.tryPopInto(dst));
      refuses(ring.buffer, pop, TypeError, `agent ${agentId()}`);
      assert.is(ring.popInto(dst), 2);
    }
  }
});

test("a record that is peeked at stays so if it does not fit an array", () => {
  for (
    const roles of [{}, { manyConsumers: true }, { singleProducer: true }]
  ) {
    const ring = RecordRing.create({ capacity: 64, ...roles });
    ring.push(Uint8Array.of(1, 2));
    ring.push(Uint8Array.of(3));
    const bytes = ring.peek()!;
    assert.throws(() => ring.tryPopInto(new Uint8Array(1)), RangeError);
    if (roles.manyConsumers) {
      const other = asAgent(DEAD, () => RecordRing.from(ring.handle));
      assert.is(other.tryPop(), undefined);
    }
    assert.equal([...bytes], [1, 2]);
    ring.consume();
    assert.equal([...ring.pop()], [3]);
  }
});

test("an agent that abandons itself has nothing reserved any more", () => {
  for (const roles of [{}, { singleProducer: true }, { most: 1 }]) {
    const ring = RecordRing.create({ capacity: 64, ...roles });
    const other = new RecordRing(ring.buffer);
    ring.reserve(8);
    ring.abandon(agentId());
    for (let i = 0; i < 9; i++) { // its place is used again
      ring.push(Uint8Array.of(i, 7));
      assert.equal([...other.tryPop()!], [i, 7]);
    }
    other.push(Uint8Array.of(1, 2));
    for (const end of [() => ring.commit(), () => ring.cancel()]) {
      refuses(ring.buffer, end, TypeError, "No record is reserved");
    }
    assert.equal([...ring.tryPop()!], [1, 2]);
    assert.is(ring.used, 0);
  }
});

test("a record of every length fits an empty ring, wherever it begins", () => {
  for (const single of [false, true]) {
    for (let start = 0; start < 64; start += 8) {
      for (let length = 0; length <= 24; length++) {
        const ring = ringAt(64, single, start);
        assert.ok(ring.tryPush(record(1, length)), `${length} at ${start}`);
        assert.equal([...ring.tryPop()!], [...record(1, length)]);
      }
    }
  }
});

test("a record that is too long, or a wrong length, is refused with the sizes", async () => {
  const ring = RecordRing.create({ capacity: 64 });
  const { buffer } = ring;
  const long = new Uint8Array(25);
  const sizes = ["25 bytes", "64 bytes", "the most is 24"];
  refuses(buffer, () => ring.tryPush(long), RangeError, ...sizes);
  refuses(buffer, () => ring.push(long), RangeError, ...sizes);
  await rejects(buffer, ring.pushAsync(long), RangeError, ...sizes);
  for (const n of [25, -1, 1.5, NaN, Infinity]) {
    refuses(buffer, () => ring.reserve(n), RangeError, `received ${n}`);
  }
  for (const capacity of [15, 0, -1, NaN, 2 ** 30 + 1]) {
    const init = () => RecordRing.init(buffer, 0, { capacity });
    refuses(buffer, init, RangeError, `received ${capacity}`);
  }
  for (const timeout of [NaN, -1]) {
    const text = `received ${timeout}`;
    refuses(buffer, () => ring.tryPop(timeout), RangeError, text);
    refuses(buffer, () => ring.tryPopInto(long, timeout), RangeError, text);
    const into = ring.tryPopIntoAsync(long, { timeout });
    await rejects(buffer, into, RangeError, text);
    refuses(buffer, () => ring.tryPush(long, timeout), RangeError, text);
    await rejects(buffer, ring.tryPopAsync({ timeout }), RangeError, text);
  }
  refuses(buffer, () => ring.commit(), TypeError, "reserved");
  refuses(buffer, () => ring.cancel(), TypeError, "reserved");
  refuses(buffer, () => ring.consume(), TypeError, "peeked");
  ring.reserve(8);
  refuses(buffer, () => ring.commit(9), RangeError, "received 9");
  refuses(buffer, () => ring.reserve(1), TypeError, "A record is reserved");
  refuses(buffer, () => ring.tryPush(long.subarray(20)), TypeError, "already");
  ring.commit();
  const { used } = ring;
  assert.throws(() => ring.tryPopInto(new Uint8Array(7)), /8 bytes.* 7 bytes/);
  assert.throws(() => ring.popInto(new Uint8Array(7)), /8 bytes.* 7 bytes/);
  const into = ring.popIntoAsync(new Uint8Array(7)).catch((error) => error);
  assert.match((await into).message, /8 bytes.* 7 bytes/);
  assert.is(ring.used, used);
  assert.throws(() =>
    ring.read(() => {
      throw new Error("no");
    }), "no");
  assert.is(ring.tryPop()!.length, 8); // it was the oldest still
});

test("abandon() skips what a dead producer had reserved, and no more", () => {
  for (const start of [0, ...NEAR_WRAP]) {
    const ring = ringAt(256, false, start);
    const dead = asAgent(DEAD, () => new RecordRing(ring.buffer));
    const other = asAgent(78, () => new RecordRing(ring.buffer));
    ring.tryPush(record(1, 5));
    assert.ok(dead.reserve(20));
    ring.tryPush(record(2, 0));
    assert.ok(other.reserve(3));
    ring.tryPush(record(3, 9));
    assert.equal([...ring.tryPop()!], [...record(1, 5)]);
    assert.is(ring.tryPop(), undefined);
    assert.is(ring.abandon(0), 0);
    assert.is(ring.abandon(5), 0);
    assert.is(ring.abandon(DEAD), 1);
    assert.is(ring.abandon(DEAD), 0);
    assert.is(ring.tryPop()!.length, 0);
    assert.is(ring.tryPop(), undefined);
    other.commit();
    assert.is(ring.tryPop()!.length, 3);
    assert.is(ring.tryPop()!.length, 9);
    assert.is(ring.used, 0);
  }
});

test("abandon() frees a ring whose producer died anywhere", () => {
  const ops: Record<string, (ring: RecordRing) => void> = {
    push: (ring) => ring.tryPush(record(9, 12)),
    reserve: (ring) => {
      if (ring.reserve(12)) ring.commit();
    },
    shrink: (ring) => {
      if (ring.reserve(20)) ring.commit(3);
    },
    cancel: (ring) => {
      if (ring.reserve(12)) ring.cancel();
    },
  };
  const death = new Error("terminated");
  for (const [name, op] of Object.entries(ops)) {
    for (const start of [0, 48]) {
      for (let at = 0;; at++) {
        const ring = ringAt(64, false, start);
        const dead = asAgent(DEAD, () => new RecordRing(ring.buffer));
        let died = false;
        let over = false;
        try {
          const steps = preempted(() => op(dead), at, () => {
            died = true;
            throw death;
          });
          over = at >= steps;
        } catch (error) {
          if (error !== death) throw error;
        }
        if (over) break;
        assert.ok(died);
        const path = `${name} died at ${at}`;
        assert.ok(ring.abandon(DEAD) >= 0, path);
        assert.is(ring.claimant, 0, path);
        // All committed records come out, and the ring then takes as much as
        // before.
        const first = ring.tryPop();
        if (first) assert.ok([3, 12].includes(first.length), path);
        assert.is(ring.tryPop(), undefined, path);
        assert.is(ring.used, 0, path);
        for (let i = 0; i < 9; i++) {
          assert.ok(ring.tryPush(record(i, 24)), path);
          assert.equal([...ring.tryPop()!], [...record(i, 24)], path);
        }
      }
    }
  }
});

test("long records find room or change nothing, and stay whole", () => {
  for (const many of [false, true]) {
    const ring = ringAt(8192, false, 0, { manyConsumers: many });
    let sent = 0;
    let taken = 0;
    // Each is copied when other producers may go on.
    for (let round = 0; round < 5; round++) {
      while (ring.tryPush(record(sent, 2001 + sent))) sent++;
      assert.ok(sent - taken >= 3, `${sent} sent, ${taken} taken`);
      const before = wordsOf(ring).slice();
      assert.not.ok(ring.tryPush(record(sent, 2001 + sent)));
      assert.equal(wordsOf(ring), before);
      for (; taken < sent - 1; taken++) {
        assert.equal(ring.tryPop(), record(taken, 2001 + taken));
      }
    }
  }
});

test("a producer that stands still with the claim stops only producers", () => {
  const ring = ringAt(256);
  ring.tryPush(record(1, 4));
  wordsOf(ring)[claimant] = DEAD;
  assert.is(ring.claimant, DEAD);
  assert.is(ring.tryPush(record(2, 4)), false);
  assert.is(ring.reserve(4), undefined);
  assert.is(ring.tryPop()!.length, 4);
  assert.is(ring.abandon(5), -DEAD); // not that one
  assert.is(ring.abandon(DEAD), 0);
  assert.is(ring.tryPush(record(2, 4)), true);
});

test("abandon() tells which agent has the claim, and does nothing then", () => {
  const ring = ringAt(256);
  const [first, second] = [1001, 1002];
  assert.ok(asAgent(second, () => new RecordRing(ring.buffer)).reserve(4));
  for (const contended of [0, 2 ** 28]) {
    wordsOf(ring)[claimant] = first | contended;
    for (let i = 0; i < 3; i++) assert.is(ring.abandon(second), -first);
  }
  assert.is(ring.abandon(first), 0); // what the answer said
  assert.is(ring.abandon(second), 1);
  wordsOf(ring)[claimant] = 2 ** 28; // names nobody
  assert.throws(() => ring.abandon(second), /damaged/);
});

test("a push sleeps until the claim, or a record, gives way", async () => {
  const ring = ringAt(64);
  wordsOf(ring)[claimant] = DEAD;
  const push = ring.pushAsync(record(1, 8));
  assert.is(await nowOf(push), "pending");
  ring.abandon(DEAD);
  await push;
  ring.tryPush(record(2, 24));
  const more = [ring.pushAsync(record(3, 24)), ring.pushAsync(record(4, 0))];
  assert.is(await nowOf(more[0]!), "pending");
  ring.tryPop();
  ring.tryPop();
  await Promise.all(more);
  assert.is(ring.tryPush(record(5, 24), 10), false);
  assert.equal([ring.tryPop()!.length, ring.tryPop()!.length].sort(), [0, 24]);
  assert.is(ring.tryPop(10), undefined);
  assert.is(await ring.tryPopAsync({ timeout: 5 }), undefined);
  const words = wordsOf(ring);
  assert.equal([words[pop_waiters], words[push_waiters]], [0, 0]);
});

test("popInto() sleeps, and moves records into arrays of any kind", async () => {
  for (const single of [true, false]) {
    const ring = ringAt(256, single);
    const dst = new Uint8Array(8);
    assert.is(ring.tryPopInto(dst, 5), undefined);
    assert.is(await ring.tryPopIntoAsync(dst, { timeout: 5 }), undefined);
    const pops = [
      ring.popIntoAsync(dst),
      ring.popIntoAsync(
        new DataView(
          new ArrayBuffer(16),
          1,
          11,
        ),
      ),
    ];
    assert.is(await nowOf(Promise.race(pops)), "pending");
    ring.tryPush(record(1, 7));
    ring.tryPush(record(2, 11));
    assert.equal(await Promise.all(pops), [7, 11]);
    assert.equal([...dst], [...record(1, 7), 0]);
    ring.tryPush(record(3, 5));
    assert.is(ring.popInto(dst), 5);
    assert.equal([...dst], [...record(3, 5), ...record(1, 7).slice(5), 0]);
    ring.close();
    assert.throws(() => ring.popInto(dst), isClosed);
    await rejects(ring.buffer, ring.popIntoAsync(dst), ClosedError);
    const words = wordsOf(ring);
    assert.equal([words[pop_waiters], words[push_waiters]], [0, 0]);
  }
});

test("pops sleep until the record in front is committed or cancelled", async () => {
  for (const end of ["commit", "cancel"] as const) {
    const ring = ringAt(256);
    const slow = new RecordRing(ring.buffer);
    const pops = [ring.popAsync(), ring.popAsync(), ring.popAsync()];
    slow.reserve(1);
    ring.tryPush(record(2, 2));
    ring.tryPush(record(3, 3));
    assert.is(await nowOf(Promise.race(pops)), "pending");
    slow[end]();
    await turns();
    if (end === "cancel") ring.tryPush(record(4, 4));
    const lengths = (await Promise.all(pops)).map((r) => r!.length);
    assert.equal(lengths, end === "commit" ? [1, 2, 3] : [2, 3, 4]);
  }
});

test("close() wakes all, keeps reservations valid, and ends iteration", async () => {
  const ring = ringAt(256);
  const slow = new RecordRing(ring.buffer);
  slow.reserve(6);
  const seen: number[] = [];
  const reading = (async () => {
    for await (const { length } of ring) seen.push(length);
  })();
  ring.tryPush(record(1, 1));
  ring.close();
  ring.close();
  refuses(ring.buffer, () => ring.reserve(1), ClosedError, "closed");
  await rejects(ring.buffer, ring.pushAsync(record(1, 1)), ClosedError);
  slow.commit();
  await reading;
  assert.equal(seen, [6, 1]);
  const one = ringAt(64, true);
  one.reserve(4);
  one.close();
  assert.throws(() => one.commit(), isClosed);
  assert.throws(() => one.pop(), isClosed);
});

test("a length that leads out of the ring is damage, even if as much is used", () => {
  const ring = ringAt(64, false, 40);
  ring.tryPush(record(1, 8)); // from 40 to 56
  ring.tryPush(record(2, 8)); // skips the rest, and lies at 0
  const words = wordsOf(ring);
  const first = LAYOUT.record_ring.length + 10;
  const whole = words[first]!;
  words[first] = 24 << 2 | whole & 3; // 32 bytes of 40, but 24 are left
  const isDamaged = (error: unknown) => error instanceof DamagedError;
  assert.throws(() => ring.tryPop(), isDamaged);
  assert.throws(() => ring.tryPopInto(new Uint8Array(64)), isDamaged);
  words[first] = whole;
  assert.equal([...ring.tryPop()!], [...record(1, 8)]);
  assert.equal([...ring.tryPop()!], [...record(2, 8)]);
});

test("read() tells of damage only once it has told of the records before", () => {
  const ring = RecordRing.create({ capacity: 64 });
  ring.tryPush(Uint8Array.of(1));
  ring.tryPush(Uint8Array.of(2));
  const words = wordsOf(ring);
  const second = LAYOUT.record_ring.length + 4;
  const whole = words[second]!;
  words[second] = -4; // longer than the ring
  const seen: number[] = [];
  const read = () => ring.read((record) => seen.push(record[0]!), 9);
  assert.is(read(), 1);
  assert.throws(read, (error: Error) => error instanceof DamagedError);
  words[second] = whole;
  ring.close();
  assert.is(read(), 1);
  assert.throws(read, (error: Error) => error instanceof ClosedError);
  assert.equal(seen, [1, 2]);
});
