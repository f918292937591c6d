// about: semaphore, spsc_queue, mpmc_queue, work_counter, mutex
// also: node
import * as assert from "uvu/assert";
import {
  agentId,
  ClosedError,
  MpmcQueue,
  Mutex,
  Semaphore,
  setAgentId,
  SpscQueue,
  type WorkConfig,
  WorkCounter,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, NEAR_WRAP } from "../_run/model.ts";
import { type ErrorName, ERRORS, NUMBERS } from "./plays.ts";
import { Stage } from "./stage.ts";
import { wind } from "./wind.ts";

// One agent does each operation by TypeScript or by C, by turns at random, on
// the same words; both must answer what the model does.

const stage = await Stage.open();
const { memory, c } = stage;

const test = suite("Twins, by turns");

test.beforeEach(() => stage.clear());

/** A generator of numbers 0 to n - 1, the same ones in each run. */
function randoms(seed: number): (n: number) => number {
  return (n) => {
    seed = Math.imul(seed ^ seed >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return ((seed ^ seed >>> 13) >>> 0) % n;
  };
}

/** The answer of an operation: `""` is success, a number is a count. */
type Answer = "" | ErrorName | number;

/** C's answer to an operation that returns an errno. */
function inC(name: string, ...words: (number | bigint)[]): Answer {
  const result = c[name]!(...words);
  if (result === 0) return "";
  const error = ERRORS.find((name) => NUMBERS[name] === result);
  assert.ok(error, `${name}(${words}) answered ${result}`);
  return error!;
}

/** C's answer to an operation that returns a count. */
function manyInC(name: string, ...words: number[]): Answer {
  const result = c[name]!(...words);
  if (result >= 0) return result;
  const error = ERRORS.find((name) => NUMBERS[name] === -result);
  assert.ok(error, `${name}(${words}) answered ${result}`);
  return error!;
}

/** TypeScript's answer in C's terms; `no` stands for a refusal. */
function inJS(operation: () => unknown, no: ErrorName = "EBUSY"): Answer {
  try {
    const result = operation();
    if (typeof result === "number") return result;
    if (result === undefined || result === false) return no;
    const { abandoned } = result as { abandoned?: boolean };
    return abandoned ? "EOWNERDEAD" : "";
  } catch (error) {
    if (error instanceof ClosedError) return "EPIPE";
    const { message } = error as Error;
    if (message.startsWith("Cannot release")) return "EOVERFLOW";
    if (error instanceof RangeError) return "EINVAL";
    if (message.startsWith("Cannot lock a mutex twice")) return "EDEADLK";
    if (message.startsWith("Cannot unlock")) return "EPERM";
    if (message.startsWith("Elements here are")) return "EINVAL";
    throw error;
  }
}

test("errno has the same numbers on both sides", () => {
  for (const [i, name] of ERRORS.entries()) {
    assert.is(c.error_number!(i), NUMBERS[name], name);
  }
});

test("a mutex is the same for both languages", () => {
  const own = agentId();
  const at = stage.place(Mutex.byteLength());
  const ids = [1, 2, 0x0fff_ffff];
  const views = ids.map((id) => asAgent(id, () => new Mutex(memory, at)));
  const random = randoms(1);
  let owner = 0, abandoned = false;
  for (let i = 0; i < 20_000; i++) {
    const byC = random(2) === 0;
    const who = random(3);
    const id = ids[who]!, view = views[who]!;
    assert.is(c.weft_agent_set_id!(id), 0);
    const free: Answer = owner !== 0 ? "EBUSY" : abandoned ? "EOWNERDEAD" : "";
    switch (random(4)) {
      case 0:
        assert.is(
          byC ? inC("weft_mutex_try_lock", at) : inJS(() => view.tryLock()),
          free,
        );
        if (owner === 0) [owner, abandoned] = [id, false];
        break;
      case 1:
        assert.is(
          byC
            ? inC("weft_mutex_lock", at, 0n)
            : inJS(() => view.tryLock(0.001), "ETIMEDOUT"),
          owner === id ? "EDEADLK" : owner !== 0 ? "ETIMEDOUT" : free,
        );
        if (owner === 0) [owner, abandoned] = [id, false];
        break;
      case 2:
        assert.is(
          byC
            ? inC("weft_mutex_unlock", at)
            : inJS(() => (view.unlock(), true)),
          owner === id ? "" : "EPERM",
        );
        if (owner === id) owner = 0;
        break;
      default: {
        const dead = [0, ...ids][random(4)]!;
        const held = dead !== 0 && dead === owner;
        assert.is(
          byC ? c.weft_mutex_abandon!(at, dead) : view.abandon(dead),
          held ? 1 : 0,
        );
        if (held) [owner, abandoned] = [0, true];
      }
    }
    assert.is(c.weft_mutex_owner!(at), owner);
    assert.is(view.owner, owner);
  }
  assert.is(c.weft_agent_set_id!(own), 0);
});

test("a semaphore is the same for both languages", () => {
  const most = 2 ** 30 - 1;
  const random = randoms(2);
  for (const start of [0, 3, most, most - 5]) {
    const at = stage.place(Semaphore.byteLength());
    // Made by either side in turn.
    if (start === 3) Semaphore.init(memory, at, start);
    else assert.is(c.weft_semaphore_init!(at, 64, start) >>> 0, at);
    const view = new Semaphore(memory, at);
    assert.is(c.weft_semaphore_attach!(at) >>> 0, at);
    let permits = start;
    for (let i = 0; i < 5000; i++) {
      const byC = random(2) === 0;
      const n = random(7) - (random(50) === 0 ? 1 : 0);
      const wrong = n < 1;
      switch (random(4)) {
        case 0: {
          const fits = permits + n <= most;
          assert.is(
            byC
              ? inC("weft_semaphore_release", at, n)
              : inJS(() => (view.release(n), true)),
            wrong ? "EINVAL" : fits ? "" : "EOVERFLOW",
          );
          if (!wrong && fits) permits += n;
          break;
        }
        case 1:
          assert.is(
            byC
              ? inC("weft_semaphore_try_acquire", at, n)
              : inJS(() => view.tryAcquire(n)),
            wrong ? "EINVAL" : n <= permits ? "" : "EBUSY",
          );
          if (!wrong && n <= permits) permits -= n;
          break;
        case 2:
          if (random(8) !== 0) break; // leaves some to the rest
          assert.is(
            byC ? c.weft_semaphore_drain!(at) : view.drain(),
            permits,
          );
          permits = 0;
          break;
        default:
          assert.is(
            byC
              ? inC("weft_semaphore_acquire", at, n, 0n)
              : inJS(() => view.tryAcquire(n, 0.001), "ETIMEDOUT"),
            wrong ? "EINVAL" : n <= permits ? "" : "ETIMEDOUT",
          );
          if (!wrong && n <= permits) permits -= n;
      }
      assert.is(view.available, permits);
      assert.is(c.weft_semaphore_available!(at), permits);
    }
    const { length, waiters } = LAYOUT.semaphore;
    const words = new Int32Array(view.buffer, at, length);
    assert.equal([...words.subarray(waiters)].filter(Boolean), []);
  }
});

// ---- queues -----------------------------------------------------------------

/** A queue that either side has made, and what names its functions in C. */
function queueOf(
  stem: "spsc" | "mpmc",
  capacity: number,
  size: number,
  random: (n: number) => number,
) {
  const Queue = stem === "spsc" ? SpscQueue : MpmcQueue;
  const name = (operation: string) => `weft_${stem}_queue_${operation}`;
  const config = stage.place(8);
  const shape = { capacity, elementSize: size };
  stage.heap.set([capacity, size], config / 4);
  const bytes = Queue.byteLength(shape);
  const at = stage.place(bytes);
  assert.is(c[name("bytes")]!(config), bytes);
  if (random(2) === 0) Queue.init(memory, at, shape);
  else assert.is(c[name("init")]!(at, bytes, config) >>> 0, at);
  const view = new Queue(memory, at);
  return { name, at, view };
}

/** A queue that both sides work on, and its expected content. */
function queueByTurns(
  stem: "spsc" | "mpmc",
  capacity: number,
  size: number,
  start: number,
  random: (n: number) => number,
) {
  const { name, at, view } = queueOf(stem, capacity, size, random);
  assert.is(c[name("attach")]!(at) >>> 0, at);
  assert.is(c[name("capacity")]!(at), view.capacity);
  assert.is(c[name("element_size")]!(at), view.elementSize);
  wind(view, start);

  const each = size / 4;
  const most = 12;
  const scratch = stage.place(most * size);
  const elements = stage.heap.subarray(
    scratch / 4,
    scratch / 4 + most * each,
  );
  const one = elements.subarray(0, each);
  const fill = (first: number, from = 0) => {
    for (let i = 0; i < each; i++) elements[from + i] = first + i * 1000003;
  };
  const check = (first: number, from = 0) => {
    for (let i = 0; i < each; i++) {
      assert.is(elements[from + i], first + i * 1000003 | 0);
    }
  };
  const model: number[] = [];
  let closed = false;
  let next = -50;

  const reserveByC = (first: number): Answer => {
    const slot = c[name("reserve")]!(at) >>> 0;
    if (slot === 0) return closed ? "EPIPE" : "EBUSY";
    for (let i = 0; i < each; i++) {
      stage.heap[slot / 4 + i] = first + i * 1000003;
    }
    if (stem === "spsc") return inC(name("commit"), at);
    c[name("commit")]!(at, slot);
    return "";
  };
  const reserveByJS = (first: number): Answer =>
    inJS(() => {
      const place = view.reserve();
      if (place === undefined) return false;
      fill(first);
      new Int32Array(place.buffer, place.byteOffset, each).set(one);
      view.commit();
      return true;
    });
  const peekByC = (): Answer => {
    const slot = c[name("peek")]!(at) >>> 0;
    if (slot === 0) return closed && model.length === 0 ? "EPIPE" : "EBUSY";
    one.set(stage.heap.subarray(slot / 4, slot / 4 + each));
    c[name("consume")]!(at, slot);
    return "";
  };
  const peekByJS = (): Answer =>
    inJS(() => {
      const place = view.peek();
      if (place === undefined) return false;
      one.set(new Int32Array(place.buffer, place.byteOffset, each));
      view.consume();
      return true;
    });
  const intInJS = (pop: () => number | undefined, no?: ErrorName) =>
    inJS(() => {
      const value = pop();
      if (value !== undefined) elements[0] = value;
      return value !== undefined;
    }, no);

  const push = (byC: boolean): Answer => {
    fill(next);
    switch (random(5)) {
      case 0:
        return byC
          ? inC(name("try_push"), at, scratch)
          : inJS(() => view.tryPush(one));
      case 1:
        return byC
          ? inC(name("push"), at, scratch, 0n)
          : inJS(() => view.tryPush(one, 0.001), "ETIMEDOUT");
      case 2:
        return byC
          ? inC(name("try_push_int"), at, next)
          : inJS(() => view.tryPushInt(next));
      case 3:
        return byC
          ? inC(name("push_int"), at, next, 0n)
          : inJS(() => view.tryPushInt(next, 0.001), "ETIMEDOUT");
      default:
        return byC ? reserveByC(next) : reserveByJS(next);
    }
  };
  const pop = (byC: boolean): Answer => {
    elements.fill(0x77777777);
    switch (random(5)) {
      case 0:
        return byC
          ? inC(name("try_pop"), at, scratch)
          : inJS(() => view.tryPopInto(one));
      case 1:
        return byC
          ? inC(name("pop"), at, scratch, 0n)
          : inJS(() => view.tryPopInto(one, 0.001), "ETIMEDOUT");
      case 2:
        return byC
          ? inC(name("try_pop_int"), at, scratch)
          : intInJS(() => view.tryPopInt());
      case 3:
        return byC
          ? inC(name("pop_int"), at, scratch, 0n)
          : intInJS(() => view.tryPopInt(0.001), "ETIMEDOUT");
      default:
        return byC ? peekByC() : peekByJS();
    }
  };
  /** Asking for records as ints is refused, and is not an answer. */
  const answer = (operation: (byC: boolean) => Answer): Answer => {
    for (;;) {
      const got = operation(random(2) === 0);
      if (got === "EINVAL" && each > 1) continue;
      return got === "ETIMEDOUT" ? "EBUSY" : got;
    }
  };

  const end = 150 + random(200);
  for (let i = 0; i < 400; i++) {
    if (i === end) {
      if (random(2) === 0) c[name("close")]!(at);
      else view.close();
      closed = true;
    }
    const room = view.capacity - model.length;
    const byC = random(2) === 0;
    switch (random(4)) {
      case 0: {
        const wanted: Answer = closed ? "EPIPE" : room > 0 ? "" : "EBUSY";
        assert.is(answer(push), wanted);
        if (wanted === "") model.push(next++);
        break;
      }
      case 1: {
        const wanted: Answer = model.length > 0
          ? ""
          : closed
          ? "EPIPE"
          : "EBUSY";
        assert.is(answer(pop), wanted);
        if (wanted === "") check(model.shift()!);
        break;
      }
      case 2: {
        const n = random(most);
        for (let i = 0; i < n; i++) fill(next + i, i * each);
        const wanted: Answer = n > 0 && closed ? "EPIPE" : Math.min(n, room);
        assert.is(
          byC
            ? manyInC(name("try_push_many"), at, scratch, n)
            : inJS(() => view.tryPushMany(elements, n)),
          wanted,
        );
        if (wanted === "EPIPE") break;
        for (let i = 0; i < wanted; i++) model.push(next++);
        break;
      }
      default: {
        const n = random(most);
        const wanted: Answer = n > 0 && closed && model.length === 0
          ? "EPIPE"
          : Math.min(n, model.length);
        elements.fill(0x77777777);
        assert.is(
          byC
            ? manyInC(name("try_pop_many"), at, scratch, n)
            : inJS(() => view.tryPopMany(elements, n)),
          wanted,
        );
        const count = wanted === "EPIPE" ? 0 : wanted;
        for (let i = 0; i < count; i++) check(model.shift()!, i * each);
        assert.is(elements[count * each], 0x77777777, "one too many");
      }
    }
    assert.is(view.size, model.length);
    assert.is(c[name("size")]!(at), model.length);
    assert.is(view.closed, closed);
    assert.is(c[name("closed")]!(at), Number(closed));
  }
}

for (const stem of ["spsc", "mpmc"] as const) {
  test(`an ${stem}_queue is the same for both languages`, () => {
    const random = randoms(3);
    for (const capacity of [1, 2, 3, 16]) {
      for (const size of [4, 8, 12, 72]) {
        for (const start of [0, ...NEAR_WRAP]) {
          stage.clear();
          queueByTurns(stem, capacity, size, start - random(100) | 0, random);
        }
      }
    }
  });
}

/**
 * Bytes that both sides push and pop, by turns, as elements of `size` bytes.
 */
function bytesByTurns(
  stem: "spsc" | "mpmc",
  capacity: number,
  size: number,
  random: (n: number) => number,
) {
  const { name, at, view } = queueOf(stem, capacity, size, random);
  assert.is(c[name("element_size")]!(at), view.elementSize);
  const most = 12;
  const scratch = stage.place(most * size + 4);
  const elements = new Uint8Array(stage.heap.buffer, scratch, most * size + 1);
  let [pushed, popped] = [0, 0];
  for (let turn = 0; turn < 300; turn++) {
    const n = random(most) + 1;
    const byC = random(2) === 0;
    const held = (pushed - popped) / size;
    if (random(2) === 0) {
      for (let i = 0; i < n * size; i++) elements[i] = pushed + i;
      const wanted = Math.min(n, view.capacity - held);
      assert.is(
        n === 1
          ? byC
            ? c[name("try_push")]!(at, scratch) === 0 ? 1 : 0
            : Number(view.tryPush(elements.subarray(0, size)))
          : byC
          ? c[name("try_push_many")]!(at, scratch, n)
          : view.tryPushMany(elements, n),
        wanted,
      );
      pushed += wanted * size;
    } else {
      const wanted = Math.min(n, held);
      elements.fill(0xa5);
      assert.is(
        n === 1
          ? byC
            ? c[name("try_pop")]!(at, scratch) === 0 ? 1 : 0
            : Number(view.tryPopInto(elements))
          : byC
          ? c[name("try_pop_many")]!(at, scratch, n)
          : view.tryPopMany(elements, n),
        wanted,
      );
      for (let i = 0; i < wanted * size; i++) {
        assert.is(elements[i], popped + i & 0xff);
      }
      assert.is(elements[wanted * size], 0xa5, "one too many");
      popped += wanted * size;
    }
  }
}

for (const stem of ["spsc", "mpmc"] as const) {
  test(`bytes in an ${stem}_queue are the same for both languages`, () => {
    const random = randoms(5);
    for (const capacity of [1, 2, 3, 16]) {
      for (const size of [1, 2]) {
        stage.clear();
        bytesByTurns(stem, capacity, size, random);
      }
    }
  });
}

// ---- work counter -----------------------------------------------------------

test("a work counter is the same for both languages", () => {
  const random = randoms(4);
  const configs: WorkConfig[] = [
    { schedule: "single" },
    { chunk: 1 },
    { chunk: 7 },
    { chunk: 2 ** 30 },
    { schedule: "guided", agents: 1 },
    { schedule: "guided", agents: 3 },
    { schedule: "guided", agents: 2 ** 16 },
  ];
  const inWords = ({ chunk, schedule, agents }: WorkConfig) =>
    schedule === "guided" ? [1, agents!] : [chunk ?? 1, 0];
  for (const config of configs) {
    for (const total of [0, 1, 2, 99, 100, 1000]) {
      for (const cancelAt of [Infinity, 5]) {
        stage.clear();
        const [place, range, at] = [8, 8, WorkCounter.byteLength()]
          .map((bytes) => stage.place(bytes)) as [number, number, number];
        stage.heap.set(inWords(config), place / 4);
        if (random(2) === 0) WorkCounter.init(memory, at, total, config);
        else {assert.is(
            c.weft_work_counter_init!(at, 268, total, place) >>> 0,
            at,
          );}
        const view = new WorkCounter(memory, at);
        assert.is(c.weft_work_counter_attach!(at) >>> 0, at);
        const heap = stage.heap;
        let [taken, done] = [0, 0];
        const cancelled = () => taken >= cancelAt && cancelAt < total;
        const left = () => cancelled() ? 0 : total - taken;
        const share = () => {
          const { agents = 1, chunk = 1, schedule } = config;
          const share = schedule === "guided"
            ? Math.floor(left() / (2 * agents))
            : chunk;
          return Math.min(Math.max(share, 1), left());
        };
        let over = false;
        for (let turn = 0; turn < 2 * total + 20; turn++) {
          const wanted = over ? 0 : share();
          let [start, end] = [0, 0];
          if (random(2) === 0) {
            const n = c.weft_work_counter_next_range!(at, range);
            [start, end] = heap.subarray(range / 4, range / 4 + 2);
            assert.is(end - start, n);
          } else {
            const range = view.nextRange();
            if (range !== undefined) ({ start, end } = range);
          }
          assert.is(end - start, wanted);
          if (wanted > 0) assert.is(start, taken);
          taken += wanted;
          if (!over && cancelled()) {
            if (random(2) === 0) c.weft_work_counter_cancel!(at);
            else view.cancel();
            over = true;
          }
          assert.is(view.cancelled, over && taken < total);
          assert.is(c.weft_work_counter_cancelled!(at), Number(view.cancelled));
          const remaining = over ? 0 : total - taken;
          assert.is(view.remaining, remaining);
          assert.is(c.weft_work_counter_remaining!(at), remaining);
          const n = random(wanted + 3);
          const fits = done + n <= total;
          if (done + n > taken && fits) continue;
          assert.is(
            random(2) === 0
              ? inC("weft_work_counter_done", at, n)
              : inJS(() => (view.done(n), true)),
            fits ? "" : "EINVAL",
          );
          if (fits) done += n;
          assert.is(view.completed, done);
          assert.is(c.weft_work_counter_completed!(at), done);
        }
        view.done(taken - done);
        assert.is(inC("weft_work_counter_wait", at, 0n), "");
        assert.is(view.tryWait(0), true);
      }
    }
  }
});

test("TypeScript and C of one thread can be one agent", () => {
  const at = stage.place(Mutex.byteLength());
  setAgentId(c.weft_agent_id!());
  const mutex = new Mutex(memory, at);
  assert.is(inC("weft_mutex_lock", at, -1n), "");
  assert.is(mutex.owner, agentId());
  assert.is(inJS(() => mutex.lock()), "EDEADLK");
  mutex.unlock();
  assert.is(c.weft_mutex_owner!(at), 0);
  const guard = mutex.lock();
  assert.is(inC("weft_mutex_lock", at, -1n), "EDEADLK");
  assert.is(inC("weft_mutex_unlock", at), "");
  assert.is(inJS(() => (guard.unlock(), true)), "EPERM");
  // The other way round, C takes over TypeScript's id.
  setAgentId(12345);
  assert.is(c.weft_agent_set_id!(agentId()), 0);
  assert.is(c.weft_agent_id!(), 12345);
});
