// also: node, browsers
// Tests which agents a step wakes. Bare waits stand for other agents. In the
// tests of the primitives, a lost wake would only come a second later.
import * as assert from "uvu/assert";
import {
  Channel,
  MpmcQueue,
  Mutex,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, nowOf, turns, wordsOf } from "../_run/model.ts";

/**
 * Puts `count` agents to sleep on a word; returns a function that says how many
 * are awake.
 */
function sleepers(
  words: Int32Array<SharedArrayBuffer>,
  index: number,
  count: number,
): () => Promise<number> {
  let awake = 0;
  for (let i = 0; i < count; i++) {
    const wait = Atomics.waitAsync(words, index, words[index]!);
    assert.ok(wait.async);
    wait.value.then(() => awake++);
  }
  return () => turns().then(() => awake);
}

const test = suite("wakes");

test("a wake of a Mutex is passed on by an agent that slept itself", async () => {
  const { state } = LAYOUT.mutex;
  const mutex = Mutex.create();
  const theirs = asAgent(5, () => new Mutex(mutex.buffer));
  theirs.lock();
  const wait = mutex.lockAsync();
  assert.is(await nowOf(wait), "pending");
  const awake = sleepers(wordsOf(mutex), state, 2);
  theirs.unlock();
  const guard = await wait;
  assert.is(await awake(), 0);
  guard.unlock(); // CONTENDED was kept for those who sleep on
  assert.is(await awake(), 1);
});

test("a wake of abandon() goes to one agent", async () => {
  const mutex = Mutex.create();
  const words = wordsOf(mutex);
  const theirs = asAgent(5, () => new Mutex(mutex.buffer));
  theirs.lock();
  words[LAYOUT.mutex.state]! |= 1 << 30;
  const awake = sleepers(words, LAYOUT.mutex.state, 2);
  mutex.abandon(5);
  assert.is(await awake(), 1);
});

test("wakes of release(n) go to as many agents as there are permits", async () => {
  const { permits, waiters } = LAYOUT.semaphore;
  const [SINGLES, SEVERALS, DEBT] = [1, 2, 3];
  for (
    const [who, before, n, expected] of [
      ...[[SINGLES, 0, 1, 1], [SINGLES, 0, 3, 3]],
      ...[[SEVERALS, 0, 1, 6], [DEBT, 2, 1, 0], [DEBT, 2, 2, 6]],
    ]
  ) {
    const semaphore = Semaphore.create(0);
    const words = wordsOf(semaphore);
    words[permits] = before! << 2 | who!;
    words[waiters] = 6;
    const awake = sleepers(words, permits, 6);
    semaphore.release(n);
    const how = `release(${n}) from ${before}, ${who}`;
    assert.is(await awake(), expected, how);
  }
});

test("wakes of a queue go to as many agents as there are elements, or slots", async () => {
  const { pop_epoch, pop_waiters, push_epoch, push_waiters } =
    LAYOUT.mpmc_queue;
  const src = new Int32Array(3);
  for (const n of [1, 3]) {
    const queue = MpmcQueue.create({ capacity: 4 });
    const words = wordsOf(queue);
    words[pop_waiters] = words[push_waiters] = 4;
    const pops = sleepers(words, pop_epoch, 4);
    const pushes = sleepers(words, push_epoch, 4);
    queue.tryPushMany(src, n);
    assert.equal([await pops(), await pushes()], [n, 0]);
    queue.tryPopMany(src, n);
    assert.equal([await pops(), await pushes()], [n, n]);
    queue.close();
    assert.equal([await pops(), await pushes()], [4, 4]);
  }
});

test("a wake of an SpscQueue goes to its other end, at each step", async () => {
  const { tail, head } = LAYOUT.spsc_queue;
  const pushes: ((queue: SpscQueue) => unknown)[] = [
    (queue) => queue.tryPushInt(1),
    (queue) => queue.tryPushMany(Int32Array.of(1), 1),
    (queue) => (queue.reserve(), queue.commit()),
    (queue) => queue.close(),
  ];
  for (const push of pushes) {
    const queue = SpscQueue.create({ capacity: 1 });
    wordsOf(queue)[tail]! |= 1; // the consumer sleeps
    const awake = sleepers(wordsOf(queue), tail, 1);
    push(queue);
    assert.is(await awake(), 1, `${push}`);
  }
  const pops: ((queue: SpscQueue) => unknown)[] = [
    (queue) => queue.tryPopInt(),
    (queue) => queue.tryPopMany(new Int32Array(1), 1),
    (queue) => (queue.peek(), queue.consume()),
    (queue) => queue.close(),
  ];
  for (const pop of pops) {
    const queue = SpscQueue.create({ capacity: 1 });
    queue.tryPushInt(1);
    wordsOf(queue)[head]! |= 1; // the producer sleeps
    const awake = sleepers(wordsOf(queue), head, 1);
    pop(queue);
    assert.is(await awake(), 1, `${pop}`);
  }
});

test("a wake of the last done(), or of cancel(), goes to all agents", async () => {
  const { finished } = LAYOUT.work_counter;
  for (const end of ["done", "cancel"] as const) {
    const work = WorkCounter.create(1);
    const words = wordsOf(work);
    words[finished] = 1; // somebody sleeps
    const awake = sleepers(words, finished, 3);
    work[end]();
    assert.is(await awake(), 3);
  }
});

test("a wait that begins while another one is resumed is woken, too", async () => {
  let second: Promise<number> | undefined;
  const codec = {
    name: "a byte",
    encode(value: number, into: Uint8Array) {
      into[0] = value;
      return 1;
    },
    decode(bytes: Uint8Array) {
      second ??= channel.receiveAsync();
      return bytes[0]!;
    },
  };
  const channel: Channel<number> = Channel.create({ codec, capacity: 4 });
  const first = channel.receiveAsync();
  assert.is(await nowOf(first), "pending");
  const theirs = asAgent(5, () => Channel.from(channel.handle, { codec }));
  theirs.send(1);
  assert.is(await first, 1);
  assert.is(await nowOf(second!), "pending");
  theirs.send(2);
  assert.is(await nowOf(second!), 2);
});
