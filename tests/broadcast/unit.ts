// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Broadcast,
  type BroadcastConfig,
  ClosedError,
  select,
  type Subscription,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  NEAR_WRAP,
  nowOf,
  preemptedAnywhere,
  refuses,
  rejects,
  wordsOf,
} from "../_run/model.ts";
import { element, inside, isReady, MAKERS } from "../_queue/model.ts";

const { tail: TAIL, slowest: SLOWEST, length: SEATS } = LAYOUT.broadcast;
const { pop_waiters, push_waiters } = LAYOUT.broadcast;

/** A broadcast whose next position is `start`. */
function broadcastAt(
  config: BroadcastConfig,
  start = 0,
): Broadcast<unknown> {
  const made = Broadcast.create(config);
  const words = wordsOf(made);
  words[TAIL] = words[SLOWEST] = start & ~1;
  return made;
}

const isClosed = (error: unknown): boolean => error instanceof ClosedError;

const test = suite("Broadcast");

test("every operation obeys the model, wherever positions wrap", () => {
  const calls = fc.array(
    fc.record({
      op: fc.constantFrom(
        ...["push", "push", "push", "pop", "pop", "pop", "join", "leave"],
        ...["close", "abandon"],
      ),
      who: fc.nat({ max: 2 }),
      maker: fc.constantFrom(...Object.keys(MAKERS)),
      rare: fc.nat({ max: 9 }),
    }),
    { maxLength: 80 },
  );
  const start = fc.tuple(fc.constantFrom(0, ...NEAR_WRAP), fc.nat({ max: 12 }))
    .map(([wrap, before]) => wrap - before | 0);
  const capacity = fc.constantFrom(1, 2, 4, 8);
  const size = fc.constantFrom(4, 12, 64);
  const slow = fc.constantFrom("block" as const, "drop" as const);
  fc.assert(fc.property(
    capacity,
    size,
    slow,
    start,
    calls,
    (capacity, size, slow, start, calls) => {
      const config = { capacity, elementSize: size, slow, subscribers: 3 };
      const producer = broadcastAt(config, start);
      interface Seen {
        seat: Subscription;
        items: number[]; // the model
        dropped: number;
      }
      const all: (Seen | undefined)[] = [undefined, undefined, undefined];
      const ids = [11, 12, 13];
      let closed = false;
      let next = 0;
      for (const { op, who, maker, rare } of calls) {
        const one = all[who];
        const array = MAKERS[maker]!(size);
        if (op === "push") {
          inside(array).set(element(next, size));
          if (closed) {
            assert.throws(() => producer.tryPush(array), isClosed);
            continue;
          }
          const late = all.filter((s) => s?.items.length === capacity);
          const room = slow === "drop" || late.length === 0;
          assert.is(producer.tryPush(array), room);
          if (!room) continue;
          for (const seen of late) {
            seen!.items.shift();
            seen!.dropped++;
          }
          for (const seen of all) seen?.items.push(next);
          next++;
        } else if (op === "pop" && one !== undefined) {
          const { seat, items } = one;
          assert.is(seat.size, items.length);
          if (closed && items.length === 0) {
            assert.throws(() => seat.tryPopInto(array), isClosed);
            continue;
          }
          const item = items.shift();
          assert.is(seat.tryPopInto(array), item !== undefined);
          if (item === undefined) continue;
          assert.equal([...inside(array)], [...element(item, size)]);
        } else if (op === "join" && one === undefined) {
          const view = asAgent(ids[who]!, () => new Broadcast(producer.buffer));
          all[who] = { seat: view.subscribe(), items: [], dropped: 0 };
        } else if (op === "leave" && one !== undefined) {
          one.seat.leave();
          one.seat.leave();
          assert.throws(() => one.seat.size, /left/);
          all[who] = undefined;
        } else if (op === "abandon" && rare < 3) {
          const was = one === undefined ? 0 : 1;
          assert.is(producer.abandon(ids[who]!), was);
          all[who] = undefined;
        } else if (op === "close" && rare < 2) {
          producer.close();
          closed = true;
        }
        assert.is(producer.closed, closed);
        const here = all.filter((seen) => seen !== undefined);
        assert.is(producer.subscribers, here.length);
        for (const { seat, items, dropped } of here) {
          assert.is(seat.dropped, dropped);
          assert.is(isReady(seat), closed || items.length > 0);
        }
      }
    },
  ));
});

test("a second producer is refused until the first one is abandoned", async () => {
  const [A, B] = [1001, 1002];
  const { buffer } = Broadcast.create({ capacity: 4 });
  const [first, second] = [A, B].map((id) =>
    asAgent(id, () => new Broadcast(buffer))
  ) as [Broadcast, Broadcast];
  const seat = asAgent(A, () => new Broadcast(buffer)).subscribe();
  first.pushInt(1);
  const value = Int32Array.of(2);
  const acts = [
    () => second.pushInt(2),
    () => second.tryPushInt(2, 5),
    () => second.push(value),
    () => second.tryPush(value),
  ];
  for (const act of acts) refuses(buffer, act, TypeError, `agent ${A}`);
  await rejects(buffer, second.pushAsync(value), TypeError, `agent ${A}`);
  assert.is(second.abandonRoles(B), 0);
  assert.is(second.abandonRoles(A), 1);
  second.pushInt(2);
  assert.is(wordsOf(second)[LAYOUT.broadcast.producer], B);
  assert.is(second.abandon(B), 0); // it had no seats
  second.pushInt(3);
  assert.equal([1, 2, 3].map(() => seat.tryPopInt()), [1, 2, 3]);
  assert.is(second.abandon(0), 0); // the free seats are nobody's
  assert.is(second.abandon(A), 1);
  for (const wrong of [-1, 2 ** 28, 0.5]) {
    refuses(buffer, () => second.abandon(wrong), RangeError, `${wrong}`);
  }
});

test("wrong configurations, elements and times change nothing", async () => {
  const memory = new SharedArrayBuffer(8192);
  const refused = (config: unknown, text: string) => {
    const init = () => Broadcast.init(memory, 0, config as BroadcastConfig);
    refuses(memory, init, RangeError, `received ${text}`);
  };
  refused({ capacity: 0 }, "0");
  refused({ capacity: 1, elementSize: 6 }, "6");
  const size = () => Broadcast.byteLength({ capacity: 1, elementSize: 2 });
  refuses(memory, size, RangeError, "must be a multiple of 4: received 2");
  for (const subscribers of [0, -1, 1.5, 1025, NaN]) {
    refused({ capacity: 1, subscribers }, `${subscribers}`);
  }
  refused({ capacity: 1, slow: "never" }, '"never"');
  const made = Broadcast.create({
    capacity: 2,
    elementSize: 8,
    subscribers: 1,
  });
  const { buffer } = made;
  using seat = made.subscribe();
  refuses(buffer, () => made.subscribe(), RangeError, "seats", "1");
  refuses(buffer, () => made.tryPushInt(1), TypeError, "8 bytes");
  refuses(buffer, () => seat.tryPopInt(), TypeError, "8 bytes");
  const short = new Uint8Array(7);
  refuses(buffer, () => made.tryPush(short), RangeError, "received 7");
  refuses(buffer, () => seat.tryPopInto(short), RangeError, "7 bytes");
  for (const timeout of [NaN, -1]) {
    const text = `received ${timeout}`;
    const array = new Uint8Array(8);
    refuses(buffer, () => made.tryPush(array, timeout), RangeError, text);
    refuses(buffer, () => seat.tryPopInto(array, timeout), RangeError, text);
    await rejects(buffer, seat.tryPopAsync({ timeout }), RangeError, text);
  }
  const ints = Broadcast.create({ capacity: 2 });
  for (const value of [2 ** 31, 0.5, NaN]) {
    const push = () => ints.tryPushInt(value);
    refuses(ints.buffer, push, RangeError, `received ${value}`);
  }
});

test("the producer waits for the slowest, and no longer than that", async () => {
  const made = Broadcast.create({ capacity: 2, subscribers: 3 });
  const dead = asAgent(77, () => new Broadcast(made.buffer)).subscribe();
  const [a, b] = [made.subscribe(), made.subscribe()];
  made.pushInt(1);
  made.pushInt(2);
  const push = made.pushIntAsync(3);
  assert.is(made.tryPushInt(9, 10), false);
  a.popInt();
  b.popInt();
  assert.is(await nowOf(push), "pending");
  assert.is(made.abandon(77), 1);
  await push;
  const more = made.pushIntAsync(4);
  a.popInt();
  assert.is(await nowOf(more), "pending");
  b.leave();
  await more;
  assert.equal([a.popInt(), a.popInt()], [3, 4]);
  assert.is(a.tryPopInt(10), undefined);
  assert.is(dead.size > 0, true);
  const words = wordsOf(made);
  assert.equal([words[pop_waiters], words[push_waiters]], [0, 0]);
});

test("leaving ends what awaits an element of the subscription", async () => {
  const made = Broadcast.create({ capacity: 4 });
  const [left, stays] = [made.subscribe(), made.subscribe()];
  const pops = [left.popIntAsync(), left.values().next(), select([left])]
    .map((pop) => Promise.resolve(pop).catch((error) => error));
  const other = stays.popIntAsync();
  assert.is(await nowOf(Promise.race(pops)), "pending");
  left.leave();
  for (const error of await Promise.all(pops)) {
    assert.instance(error, TypeError);
    assert.match((error as Error).message, "was left");
  }
  assert.is(await nowOf(other), "pending");
  made.pushInt(5);
  assert.is(await other, 5);
});

test("one agent's subscriptions wait for elements of their own", async () => {
  const made = Broadcast.create({ capacity: 4 });
  const [first, second, third] = [1, 2, 3].map(() => made.subscribe());
  const early = first!.popIntAsync();
  const [pop, left] = [second!.popIntAsync(), third!.popIntAsync()];
  const error = left.catch((error) => error);
  assert.is(await nowOf(Promise.race([early, pop, left])), "pending");
  third!.leave();
  assert.instance(await error, TypeError);
  made.pushInt(5);
  assert.is(first!.tryPopInt(), 5); // so that the one in front sleeps on
  assert.is(await pop, 5);
  assert.is(await nowOf(early), "pending");
  made.pushInt(6);
  assert.is(await early, 6);
});

test("all sleepers get the next element, and the end", async () => {
  const made = Broadcast.create({ capacity: 4 });
  const seats = [1, 2, 3].map(() => made.subscribe());
  const pops = seats.map((seat) => seat.popIntAsync());
  assert.is(await nowOf(Promise.race(pops)), "pending");
  made.pushInt(5);
  assert.equal(await Promise.all(pops), [5, 5, 5]);
  const seen = seats.map(async (seat) => {
    const items = [];
    for await (const item of seat) items.push(item);
    return items;
  });
  for (let i = 0; i < 9; i++) await made.pushIntAsync(i);
  made.close();
  made.close();
  for (const items of await Promise.all(seen)) {
    assert.equal(items, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  }
  refuses(made.buffer, () => made.tryPushInt(1), ClosedError, "closed");
});

test("a subscriber and the producer may meet at any step", () => {
  type Op = (
    made: Broadcast<unknown>,
    seat: Subscription<unknown>,
    log: number[],
  ) => void;
  const ops: Record<string, Op> = {
    pop: (_, seat, log) => {
      const item = seat.tryPopInt();
      if (item !== undefined) log.push(item);
    },
    "join and pop": (made, _, log) => {
      using seat = made.subscribe();
      const item = seat.tryPopInt();
      if (item !== undefined) log.push(item);
    },
    leave: (_, seat) => seat.leave(),
  };
  for (const slow of ["block", "drop"] as const) {
    for (const [name, op] of Object.entries(ops)) {
      for (const swapped of [false, true]) {
        for (const filled of [0, 1, 2]) {
          preemptedAnywhere(
            () => {
              const made = broadcastAt(
                { capacity: 2, subscribers: 2, slow },
                NEAR_WRAP[0]! - 3,
              );
              const seat = new Broadcast(made.buffer).subscribe();
              for (let i = 0; i < filled; i++) made.tryPushInt(i);
              return { made, seat, log: [] as number[], pushed: filled };
            },
            (it) => {
              if (swapped) op(it.made, it.seat, it.log);
              else pushThree(it);
            },
            (it) => {
              if (swapped) pushThree(it);
              else op(it.made, it.seat, it.log);
            },
            ({ made, seat, log, pushed }, at) => {
              const path = `${name} at ${at}, ${filled}, ${slow}, ${swapped}`;
              if (name === "pop") {
                for (let i; (i = seat.tryPopInt()) !== undefined;) log.push(i);
                const lost = seat.dropped;
                assert.is(log.length + lost, pushed, path);
              }
              const sorted = log.toSorted((a, b) => a - b);
              assert.equal(log, sorted, path);
              assert.is(new Set(log).size, log.length, path);
              assert.ok(log.every((i) => i < pushed), path);
              if (slow === "block" && name === "pop") {
                assert.equal(log, Array.from({ length: pushed }, (_, i) => i));
              }
              // The first seat holds the producer up, if it is still there.
              if (name === "join and pop" && slow === "block") seat.leave();
              assert.ok(made.tryPushInt(99), path);
            },
          );
        }
      }
    }
  }
});

function pushThree(it: { made: Broadcast<unknown>; pushed: number }): void {
  for (let i = 0; i < 3; i++) if (it.made.tryPushInt(it.pushed)) it.pushed++;
}

test("the seat of an agent that died while joining is free again", () => {
  const made = Broadcast.create({ capacity: 2, subscribers: 1 });
  wordsOf(made)[SEATS + 1] = 77 | 1 << 28;
  assert.throws(() => made.subscribe(), RangeError);
  assert.ok(made.tryPushInt(1) && made.tryPushInt(2) && made.tryPushInt(3));
  assert.is(made.abandon(77), 1);
  made.subscribe();
});

test("a subscriber that joins behind an element wakes the producer that waits", async () => {
  const ended: { seat: Subscription; push: Promise<void>; at: number }[] = [];
  preemptedAnywhere<{
    made: Broadcast;
    seat?: Subscription;
    push?: Promise<void>;
  }>(
    () => ({ made: Broadcast.create({ capacity: 1, subscribers: 1 }) }),
    (it) => it.seat = new Broadcast(it.made.buffer).subscribe(),
    (it) => {
      it.made.tryPushInt(1);
      it.push = it.made.pushIntAsync(2);
    },
    ({ seat, push }, at) => ended.push({ seat: seat!, push: push!, at }),
  );
  for (const { seat, push, at } of ended) {
    if (seat.size === 1 && await nowOf(push) === "pending") seat.popInt();
    // It was woken, and not by its look each second.
    assert.is(await nowOf(push), undefined, `at ${at}`);
  }
});
