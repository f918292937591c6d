// about: semaphore, spsc_queue, mpmc_queue, work_counter, mutex
// also: node
import * as assert from "uvu/assert";
import {
  type Memory,
  MpmcQueue,
  Mutex,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../../mod.ts";
import { KIND, LAYOUT } from "../../primitives/_memory/layout.ts";
import { forge, IMPOSSIBLE } from "../_region/impossible.ts";
import { suite } from "../_run/harness.ts";
import { CONFIGURED } from "../_run/kinds.ts";
import { refuses } from "../_run/model.ts";
import { PLAY } from "./plays.ts";
import { Stage } from "./stage.ts";

const stage = await Stage.open();
const { memory, c } = stage;

const test = suite("Memory shared with C");

test.beforeEach(() => stage.clear());

const queue = { capacity: 4, elementSize: 8 };

/** How a message names a primitive: its letters are read one by one. */
const named = (kind: string): string =>
  `${/^(spsc|mpmc)/.test(kind) ? "an" : "a"} ${kind}`;

/** Each configured primitive, as TypeScript and as C make it. */
const KINDS = {
  semaphore: {
    bytes: Semaphore.byteLength(),
    init: (at: number) => void Semaphore.init(memory, at, 3),
    initInC: (at: number, _config: number) => c.weft_semaphore_init!(at, 36, 3),
    attach: (memory: Memory, at: number) => new Semaphore(memory, at),
  },
  spsc_queue: {
    bytes: SpscQueue.byteLength(queue),
    init: (at: number) => void SpscQueue.init(memory, at, queue),
    initInC: (at: number, config: number) =>
      c.weft_spsc_queue_init!(at, 4096, config),
    attach: (memory: Memory, at: number) => new SpscQueue(memory, at),
  },
  mpmc_queue: {
    bytes: MpmcQueue.byteLength(queue),
    init: (at: number) => void MpmcQueue.init(memory, at, queue),
    initInC: (at: number, config: number) =>
      c.weft_mpmc_queue_init!(at, 4096, config),
    attach: (memory: Memory, at: number) => new MpmcQueue(memory, at),
  },
  work_counter: {
    bytes: WorkCounter.byteLength(),
    init: (at: number) => void WorkCounter.init(memory, at, 4, { chunk: 8 }),
    initInC: (at: number, config: number) =>
      c.weft_work_counter_init!(at, 268, 4, swapped(config)),
    attach: (memory: Memory, at: number) => new WorkCounter(memory, at),
  },
};

/** The configuration of a queue, { 4, 8 }, in C's memory. */
function configured(): number {
  const config = stage.place(8);
  stage.heap.set([queue.capacity, queue.elementSize], config / 4);
  return config;
}

/** As {@linkcode configured}, as a work counter's: { 8, 0 }. */
function swapped(config: number): number {
  stage.heap.set([8, 0], config / 4);
  return config;
}

type Kind = keyof typeof KINDS;
const kinds = Object.keys(KINDS) as Kind[];

/** The words of a region that C (`byC`) or TypeScript makes. */
function make(kind: Kind, byC: boolean): number {
  const at = stage.place(KINDS[kind].bytes);
  stage.heap.fill(-1, at / 4, at / 4 + KINDS[kind].bytes / 4);
  if (!byC) KINDS[kind].init(at);
  else assert.is(KINDS[kind].initInC(at, configured()) >>> 0, at);
  return at;
}

const wordsAt = (at: number, bytes: number) => [
  ...stage.heap.subarray(at / 4, at / 4 + bytes / 4),
];

/** C's judgement of a place; checks that both of its functions agree. */
function attachErrorInC(kind: Kind, at: number): string {
  const attached = c[`weft_${kind}_attach`]!(at) >>> 0;
  const text = c.weft_attach_error!(at, KIND[kind]) >>> 0;
  assert.is(attached, text === 0 ? at : 0);
  if (text === 0) return "";
  const bytes = new Uint8Array(stage.heap.buffer);
  return String.fromCharCode(
    ...bytes.slice(text, bytes.indexOf(0, text)),
  );
}

for (const kind of kinds) {
  test(`a ${kind} is the same whoever makes it, and both attach`, () => {
    const { bytes, attach } = KINDS[kind];
    const [ours, theirs] = [make(kind, false), make(kind, true)];
    assert.equal(wordsAt(ours, bytes), wordsAt(theirs, bytes));
    for (const at of [ours, theirs]) {
      assert.is(attachErrorInC(kind, at), "");
      assert.is(attach(memory, at).byteLength, bytes);
    }
  });

  test(`both sides refuse memory that is no ${kind}, and change nothing`, () => {
    const { attach } = KINDS[kind];
    const { buffer } = stage.heap;
    const both = (at: number, inC: string, ...inTS: string[]) => {
      // A copy of the head is enough to notice a change, and is quick.
      const before = wordsAt(at & ~3, 2048);
      assert.is(attachErrorInC(kind, at), inC);
      try {
        attach(memory, at);
        assert.unreachable("attached");
      } catch (error) {
        const { message } = error as Error;
        for (const part of [named(kind), ...inTS]) {
          assert.ok(message.includes(part), `"${message}" lacks "${part}"`);
        }
      }
      assert.equal(wordsAt(at & ~3, 2048), before);
    };
    for (const byC of [false, true]) {
      for (const other of kinds) {
        if (other === kind) continue;
        both(
          make(other, byC),
          "a primitive of another kind",
          `is ${named(other)}`,
        );
      }
      const words = LAYOUT[kind] as Record<string, number>;
      const at = make(kind, byC);
      const word = at / 4;
      const magic = stage.heap[word]!;
      stage.heap[word] = magic + 1;
      both(at, "another layout version", `version ${(magic + 1) & 0xff}`);
      stage.heap[word] = 0;
      both(at, "no initialized primitive here", "no initialized primitive");
      stage.heap[word] = magic;
      for (let torn = 1; torn <= words.seal!; torn++) {
        stage.heap[word + torn]! ^= 4;
        both(at, "the configuration does not match its seal", "seal");
        stage.heap[word + torn]! ^= 4;
      }
      both(at + 2, "not a multiple of 4", "multiple of 4");
      assert.is(attachErrorInC(kind, at), "");
    }
    assert.is(stage.heap.buffer, buffer);
  });
}

test("memory of a page that is not shared is refused", () => {
  const lone = new WebAssembly.Memory({ initial: 1 });
  const bytes = lone.buffer as unknown as SharedArrayBuffer;
  for (const kind of kinds) {
    refuses(bytes, () => KINDS[kind].attach(lone, 0), TypeError, "shared");
  }
  refuses(bytes, () => new Mutex(lone, 0), TypeError, "shared");
});

// ---- growth, last: the memory stays large -----------------------------------

/** Lets C and JavaScript share a mutex and a queue at `at`. */
async function shareAt(at: number) {
  const mutexAt = at, countAt = at + 8, queueAt = at + 12;
  const seenAt = at + 65536;
  const mutex = Mutex.init(memory, mutexAt);
  const players = ["C", "JS", "main", "C"] as const;
  const added = await stage.perform(
    players.map((by) => ({
      by,
      role: "mutex add",
      at: mutexAt,
      extra: countAt,
      count: 200,
    })),
  );
  const sum = added.reduce((n, { words }) => n + words[PLAY.result]!, 0);
  assert.is(stage.heap[countAt / 4], sum);
  assert.is(mutex.owner, 0);

  const queue = MpmcQueue.init(memory, queueAt, {
    capacity: 8,
    elementSize: 12,
  });
  const count = 300;
  stage.heap.fill(0, seenAt / 4, seenAt / 4 + 2 * count);
  const taken = await Promise.all(
    (["C", "JS"] as const).map((by) =>
      stage.start({
        by,
        role: "mpmc consume",
        at: queueAt,
        extra: seenAt,
        count,
      })
    ),
  );
  await stage.perform((["main", "C"] as const).map((by, number) => ({
    by,
    role: "mpmc produce",
    at: queueAt,
    count,
    number,
  })));
  queue.close();
  for (const { over } of taken) await over;
  const seen = stage.heap.subarray(seenAt / 4, seenAt / 4 + 2 * count);
  assert.ok(seen.every((times) => times === 1));
}

test("everything works after the memory has grown", async () => {
  // Views, workers and sleepers from before must go on, too.
  const before = stage.place(MpmcQueue.byteLength({ capacity: 4 }));
  const old = MpmcQueue.init(memory, before, { capacity: 4 });
  const asleep = await Promise.all(
    (["C", "JS", "main"] as const).map((by) =>
      stage.start({ by, role: "mpmc sleep pop", at: before })
    ),
  );
  const length = stage.heap.byteLength;
  memory.grow(64);
  assert.is(stage.heap.byteLength, length + 64 * 65536);
  for (let i = 0; i < 3; i++) {
    if (i % 2 === 0) assert.ok(old.tryPushInt(i));
    else assert.is(c.weft_mpmc_queue_try_push_int!(before, i), 0);
  }
  for (const { over } of asleep) await over;
  await shareAt(length + 4);
});

test("everything works beyond 2 GiB", async () => {
  const beyond = 2 ** 31 + 2 ** 20;
  const pages = Math.ceil((beyond + 2 ** 20 - stage.heap.byteLength) / 65536);
  memory.grow(pages);
  await shareAt(beyond + 4);
  // Use a word on each side of the border.
  const at = 2 ** 31 - 4;
  const mutex = Mutex.init(memory, at);
  using _guard = mutex.lock();
  assert.is(c.weft_mutex_owner!(at), mutex.owner);
});

test("C refuses impossible configurations under a seal that fits", () => {
  for (const [stem, configs] of Object.entries(IMPOSSIBLE)) {
    for (const config of configs) {
      const at = stage.place(4096);
      CONFIGURED.find((kind) => kind.stem === stem)!.init(memory, at);
      const words = stage.heap.subarray(at / 4);
      const kind = KIND[stem as keyof typeof KIND];
      assert.is(c.weft_attach_error!(at, kind) >>> 0, 0);
      forge(stem, words, ...config);
      const text = c.weft_attach_error!(at, kind) >>> 0;
      const bytes = new Uint8Array(stage.heap.buffer);
      const said = String.fromCharCode(
        ...bytes.slice(text, bytes.indexOf(0, text)),
      );
      assert.is(said, "the configuration is impossible", `${stem} ${config}`);
    }
  }
});
