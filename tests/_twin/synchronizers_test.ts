// about: barrier, condition, event, latch, once, rw_lock, striped_counter
// about: wait_group
// also: node
import * as assert from "uvu/assert";
import {
  Barrier,
  Condition,
  Event,
  Latch,
  Mutex,
  Once,
  RwLock,
  StripedCounter,
  WaitGroup,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { NUMBERS, PLAY } from "./plays.ts";
import { type Player, Stage } from "./stage.ts";

const stage = await Stage.open();
const { memory, c } = stage;

const test = suite("Synchronizers shared with C");

test.beforeEach(() => stage.clear());

/**
 * The agents that take part. Their number is even: half of them put and half
 * take.
 */
const CASTS: Record<string, Player[]> = {
  "C and workers": ["C", "JS", "JS awaiting", "C"],
  "C and this agent": ["C", "main", "main", "C"],
  "all": ["C", "JS", "C", "JS awaiting", "main", "main"],
};

for (const [title, cast] of Object.entries(CASTS)) {
  test(`all are used at once: ${title}`, async () => {
    const count = 300;
    const parties = cast.length;
    const at = stage.place(4 * (64 + 32 + 3 * 32));
    const words = stage.heap.subarray(at / 4, at / 4 + 64);
    Barrier.init(memory, at + 44 * 4, parties);
    Latch.init(memory, at + 20 * 4, parties);
    const token = Event.init(memory, at + 26 * 4, { autoReset: true });
    token.set();
    words[28] = parties;
    WaitGroup.init(memory, at + 29 * 4).add(parties);
    const counter = StripedCounter.init(memory, at + 64 * 4, { stripes: 3 });
    const parts = await Promise.all(
      cast.map((by, number) =>
        stage.start({ by, role: "synchronizers use", at, count, number })
      ),
    );
    new Event(memory, at + 25 * 4).set();
    await Promise.all(parts.map(({ over }) => over));
    const leads = parts.reduce((n, { words }) => n + words[PLAY.result]!, 0);
    assert.is(leads, count, "one leads each round");
    assert.is(words[40], words[41]);
    assert.is(words[0]! & 0x3fff_ffff, 0);
    assert.is(words[14], 0);
    assert.is(words[15], count * parties / 2);
    assert.is(words[27], count * parties);
    assert.is(counter.sum(), 3 * (count / 2) * parties);
    assert.ok(new Latch(memory, at + 20 * 4).tryWait());
    assert.ok(new Once(memory, at + 23 * 4).done);
    assert.is(new WaitGroup(memory, at + 29 * 4).count, 0);
  });
}

test("one language attaches to what the other configured", () => {
  const at = stage.place(4096);
  for (const n of [1, 3, 4095]) {
    assert.is(c.weft_barrier_init!(at, Barrier.byteLength(), n), at);
    assert.is(new Barrier(memory, at).parties, n);
    assert.is(Barrier.init(memory, at, n).parties, n);
    assert.is(c.weft_barrier_attach!(at), at);
    assert.is(c.weft_latch_attach!(at), 0);
    assert.is(c.weft_latch_init!(at, 12, n), at);
    assert.is(new Latch(memory, at).count, n);
    assert.is(Latch.init(memory, at, n).count, n);
    assert.is(c.weft_latch_attach!(at), at);
    assert.throws(() => new StripedCounter(memory, at), /a latch/);
  }
  for (const stripes of [1, 7]) {
    assert.is(
      c.weft_striped_counter_init!(at, 128 * (1 + stripes), stripes),
      at,
    );
    const counter = new StripedCounter(memory, at);
    assert.is(counter.stripes, stripes);
    assert.is(counter.byteLength, c.weft_striped_counter_bytes!(stripes));
    StripedCounter.init(memory, at, { stripes }).add(-(2 ** 31));
    c.weft_striped_counter_add!(at, -7);
    assert.is(counter.sum(), -(2 ** 31) - 7);
  }
});

test("one language sees what the other did", async () => {
  const at = stage.place(64);
  const event = Event.init(memory, at, { autoReset: true });
  c.weft_event_set!(at);
  assert.ok(event.tryWait());
  event.set();
  assert.is(c.weft_event_try_wait!(at), 0);
  assert.is(c.weft_event_try_wait!(at), NUMBERS.EBUSY);
  const group = WaitGroup.init(memory, at);
  assert.is(c.weft_wait_group_add!(at, 2 ** 18 - 1), 0);
  assert.throws(() => group.add(), /the count is 262143/);
  group.done(2 ** 18 - 3);
  assert.is(c.weft_wait_group_count!(at), 2);
  assert.is(c.weft_wait_group_try_wait!(at), NUMBERS.EBUSY);
  assert.is(c.weft_wait_group_done!(at, 2), 0);
  assert.ok(group.tryWait());
  const lock = RwLock.init(memory, at);
  assert.is(c.weft_rw_lock_try_read!(at), 0);
  assert.is(lock.readers, 1);
  assert.is(lock.tryWrite(), undefined);
  lock.unlockRead();
  assert.is(c.weft_rw_lock_try_write!(at), 0);
  assert.is(lock.tryRead(), undefined);
  assert.is(lock.abandon(lock.writer), 1);
  assert.is(c.weft_rw_lock_try_read!(at), NUMBERS.EOWNERDEAD);
  lock.unlockRead();
  const condition = Condition.init(memory, at);
  const mutex = Mutex.init(memory, at + 16);
  using _lock = mutex.lock();
  const wait = condition.waitAsync(mutex);
  c.weft_condition_notify!(at, 1);
  await wait;
});
