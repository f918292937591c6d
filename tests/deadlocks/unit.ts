// also: node
// Tests what agents note in an AgentTable, and what `deadlocks` tells from it.
import * as assert from "uvu/assert";
import {
  agentId,
  CallRing,
  layout,
  Mutex,
  Once,
  RwLock,
  Semaphore,
  SpscQueue,
} from "../../mod.ts";
import {
  AGENT_ROW,
  AGENT_TABLE,
  RW_LOCK,
} from "../../primitives/_memory/layout.ts";
import { AgentTable, deadlocks } from "../../primitives/tools/deadlocks.ts";
import { cloned, suite } from "../_run/harness.ts";
import { headerFiles } from "../_run/header.ts";
import { asAgent, intervalsOf, refuses } from "../_run/model.ts";

const test = suite("deadlocks");

const PARTS = layout({
  a: Mutex,
  b: Mutex,
  c: Mutex,
  lock: [RwLock, { tracked: 2 }],
  once: Once,
  calls: [CallRing, { slots: 2, request: 4, reply: 4 }],
  jobs: [SpscQueue, { capacity: 4 }],
  seats: [Semaphore, 1],
  agents: [AgentTable, { agents: 4 }],
});

const make = () => PARTS.create();
type Made = ReturnType<typeof make>;

const { rows } = AGENT_TABLE;
const { agent, sequence, on, awaits, bytes, name, words: ROW } = AGENT_ROW;

const wordsOf = ({ agents }: Made) =>
  new Int32Array(agents.buffer, agents.byteOffset, agents.byteLength / 4);

/** Notes that an agent with this name blocks on the word at `at`, or awaits. */
function note(
  made: Made,
  id: number,
  text: string,
  at: number,
  how: number = on,
) {
  const words = wordsOf(made);
  let row: number = rows;
  while (words[row]! !== 0 && words[row] !== id) row += ROW;
  words[row + agent] = id;
  words[row + sequence]!++;
  words[row + how] = (at - made.agents.byteOffset) / 4 - row;
  const encoded = new TextEncoder().encode(text);
  words[row + bytes] = encoded.length;
  const from = made.agents.byteOffset + (row + name) * 4;
  new Uint8Array(made.buffer, from).set(encoded);
}

/** The agent `id` locks, and never unlocks. */
const lockAs = (id: number, lock: Mutex) =>
  asAgent(id, () => new Mutex(lock.buffer, lock.byteOffset).lock());

const textsOf = (made: Made) =>
  deadlocks(made.agents, made).map(({ text }) => text);

test("two agents that block for each other are told, in a sentence", () => {
  const made = make();
  lockAs(7, made.a);
  lockAs(8, made.b);
  note(made, 7, "ui", made.b.byteOffset);
  assert.equal(deadlocks(made.agents, made), []);
  note(made, 8, "worker 2", made.a.byteOffset);
  const [found, ...others] = deadlocks(made.agents, made);
  assert.equal(others, []);
  assert.is(
    found!.text,
    '"ui" waits for Mutex "b" held by "worker 2", which waits for Mutex "a" ' +
      'held by "ui"',
  );
  assert.ok(found!.certain);
  const [first, second] = found!.waits;
  assert.equal(first!.agent, { id: 7, name: "ui" });
  assert.equal(first!.owner, { id: 8, name: "worker 2" });
  assert.is(first!.primitive, made.b);
  assert.is(second!.name, "a");
  // A list of views has no names.
  const [listed] = deadlocks(made.agents, [made.a, made.b]);
  assert.match(listed!.text, `waits for Mutex at byte ${made.b.byteOffset}`);
  assert.equal(deadlocks(made.agents, made.a), [], "one of them alone");
});

test("three agents, a fourth behind them, and two circles", () => {
  const made = make();
  [made.a, made.b, made.c].forEach((lock, i) => lockAs(1 + i, lock));
  note(made, 1, "one", made.b.byteOffset);
  note(made, 2, "two", made.c.byteOffset);
  note(made, 3, "three", made.a.byteOffset);
  note(made, 4, "four", made.a.byteOffset);
  const circle = '"one" waits for Mutex "b" held by "two", which waits for ' +
    'Mutex "c" held by "three", which waits for Mutex "a" held by "one"';
  assert.equal(textsOf(made), [circle]);
  const also = awaits + 3;
  note(made, 3, "three", made.b.byteOffset, also);
  const [first, second, ...more] = deadlocks(made.agents, made);
  assert.is(first!.text, circle);
  assert.is(
    second!.text,
    '"two" waits for Mutex "c" held by "three", which awaits Mutex "b" held ' +
      'by "two"',
  );
  assert.equal([first!.certain, second!.certain, more.length], [
    true,
    false,
    0,
  ]);
});

test("writers, tracked readers, a Once and a call are told, too", () => {
  const made = make();
  lockAs(5, made.a);
  note(made, 9, "nine", made.a.byteOffset);
  const inOf = (primitive: { byteOffset: number }, word = 0) =>
    note(made, 5, "five", primitive.byteOffset + 4 * word);
  const held = (which: string) =>
    assert.equal(textsOf(made), [
      `"five" waits for ${which} by "nine", which waits for Mutex "a" held by ` +
      '"five"',
    ]);
  const { buffer } = made;
  const writer = asAgent(9, () => {
    const lock = new RwLock(buffer, made.lock.byteOffset);
    return lock.write();
  });
  inOf(made.lock);
  held('RwLock "lock" held');
  writer.unlock();
  assert.equal(textsOf(made), []);
  asAgent(9, () => new RwLock(buffer, made.lock.byteOffset).read());
  held('RwLock "lock" held');
  new Int32Array(buffer, made.once.byteOffset)[0] = 9;
  inOf(made.once);
  held('Once "once" held');
  made.calls.tryPost(new Uint8Array(4));
  inOf(made.calls, 96);
  assert.equal(textsOf(made), [], "nobody serves it yet");
  asAgent(9, () => new CallRing(buffer, made.calls.byteOffset).tryTake());
  held('CallRing "calls" served');
  // Nobody is known to have these.
  for (const other of [made.jobs, made.seats]) {
    inOf(other);
    assert.equal(textsOf(made), []);
  }
});

test("a writer that waits for readers waits for them alone", () => {
  for (const byAwaiting of [false, true]) {
    const made = make();
    const { buffer, lock } = made;
    lockAs(5, made.a);
    const place = byAwaiting ? awaits : on;
    note(made, 5, "writer", lock.byteOffset, place);
    note(made, 9, "reader", made.a.byteOffset);
    const reader = asAgent(9, () => new RwLock(buffer, lock.byteOffset).read());
    // It is in line before the other writers, and so it owns the lock.
    new Int32Array(buffer, lock.byteOffset)[RW_LOCK.writer] = 5;
    const wait = byAwaiting ? "awaits" : "waits for";
    assert.equal(textsOf(made), [
      `"writer" ${wait} RwLock "lock" held by "reader", which waits for Mutex ` +
      '"a" held by "writer"',
    ]);
    reader.unlock();
    assert.equal(textsOf(made), []);
  }
});

test("16 deadlocks at most are told at a time", () => {
  const pairs = Array.from({ length: 17 }, (_, i) => i);
  const parts = layout({
    agents: [AgentTable, { agents: 34 }],
    ...Object.fromEntries(
      pairs.flatMap((i) => [[`a${i}`, Mutex], [`b${i}`, Mutex]]),
    ),
  });
  const made = parts.create() as unknown as Made & Record<string, Mutex>;
  for (const i of pairs) {
    const [a, b] = [made[`a${i}`]!, made[`b${i}`]!];
    lockAs(100 + i, a);
    lockAs(200 + i, b);
    note(made, 100 + i, "one", b.byteOffset);
    note(made, 200 + i, "two", a.byteOffset);
    assert.is(textsOf(made).length, Math.min(i + 1, 16));
  }
});

test("what changes between two looks is no deadlock", () => {
  const made = make();
  lockAs(7, made.a);
  lockAs(8, made.b);
  note(made, 7, "ui", made.b.byteOffset);
  note(made, 8, "worker", made.a.byteOffset);
  assert.is(textsOf(made).length, 1);
  const { load } = Atomics;
  const words = wordsOf(made);
  let looks = 0;
  // Each time somebody reads the row, the agent sleeps once more.
  Atomics.load = ((array: Int32Array, index: number) => {
    const value = load(array, index);
    const isRow = array.byteOffset === words.byteOffset;
    if (isRow && index === rows + sequence) words[index] = value + ++looks;
    return value;
  }) as typeof load;
  try {
    assert.equal(textsOf(made), []);
  } finally {
    Atomics.load = load;
  }
  assert.is(looks, 2);
});

/** Waits until something is true; a test that hangs is ended. */
async function until(isTrue: () => boolean) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("an agent notes what it awaits, and takes it back", async () => {
  const made = make();
  const { agents, jobs, a, buffer } = made;
  const words = wordsOf(made);
  const noted = () =>
    [...words.subarray(rows + awaits, rows + bytes)].filter((word) =>
      word !== 0
    );
  agents.join("main");
  assert.equal(agents.agents, [{ id: agentId(), name: "main" }]);
  lockAs(8, a);
  const control = new AbortController();
  const { signal } = control;
  const first = jobs.popIntAsync();
  const locks = [1, 2, 3].map(() => a.lockAsync({ signal }).catch(() => 0));
  const other = new Mutex(new SharedArrayBuffer(8));
  other.lock();
  const elsewhere = other.lockAsync({ signal }).catch(() => 0);
  await until(() => noted().length === 2);
  note(made, 8, "other", made.b.byteOffset);
  const mine = made.b.lock();
  assert.equal(textsOf(made).length, 1);
  assert.match(textsOf(made)[0], 'held by "main", which awaits Mutex "a" held');
  mine.unlock();
  assert.equal(textsOf(made), []);
  control.abort();
  await Promise.all([...locks, elsewhere]);
  await until(() => noted().length === 1);
  jobs.pushInt(4);
  assert.is(await first, 4);
  await until(() => noted().length === 0);
  // A lock that this agent itself holds is no deadlock: its holder runs on.
  const guard = made.c.lock();
  const next = made.c.lockAsync();
  await until(() => noted().length === 1);
  assert.equal(textsOf(made), []);
  guard.unlock();
  (await next).unlock();
  agents.leave();
  const pending = new SpscQueue(buffer, jobs.byteOffset).popIntAsync();
  assert.equal(agents.agents.map(({ name }) => name), ["other"]);
  jobs.pushInt(5);
  assert.is(await pending, 5);
});

test("an agent notes on what it blocks", () => {
  const made = make();
  const words = wordsOf(made);
  made.agents.join("main");
  lockAs(8, made.a);
  const before = words[rows + sequence]!;
  // A thread that is kept from its core as long as it may wait does not sleep.
  for (let ms = 2; ms < 3000 && words[rows + sequence] === before; ms *= 2) {
    assert.is(made.a.tryLock(ms), undefined);
  }
  assert.ok(words[rows + sequence]! > before, "it noted nothing");
  assert.is(words[rows + on], 0);
  made.agents.leave();
  const row = [...words.subarray(rows, rows + name)];
  assert.is(made.a.tryLock(2), undefined);
  assert.equal([...words.subarray(rows, rows + name)], row);
});

test("agents get, change and lose their names", () => {
  const { agents } = make();
  assert.is(agents.capacity, 4);
  const was = agentId();
  for (const id of [1, 2, 3, 4]) {
    asAgent(id, () => agents.join(`ä ${id}`));
  }
  asAgent(2, () => agents.join("x".repeat(80)));
  assert.equal(agents.agents.map(({ name }) => name), [
    "ä 1",
    "x".repeat(80),
    "ä 3",
    "ä 4",
  ]);
  const { buffer } = agents;
  const full = () => asAgent(5, () => agents.join("five"));
  refuses(buffer, full, RangeError, "agent 5", "4 agents have one");
  refuses(buffer, () => agents.join("ü".repeat(41)), RangeError, "82");
  refuses(buffer, () => agents.join(4 as never), TypeError, "received 4");
  for (const id of [-1, 2 ** 28]) {
    refuses(buffer, () => agents.abandon(id), RangeError, `received ${id}`);
  }
  const none = () => AgentTable.create({ agents: null as never });
  assert.throws(none, /received null/);
  const config = { agent: 4 } as never;
  refuses(buffer, () => AgentTable.create(config), TypeError, '"agent"');
  for (const count of [0, -1, 2 ** 30]) {
    const words = new Int32Array(buffer, agents.byteOffset);
    words[AGENT_TABLE.agents] = count;
    const attach = () => new AgentTable(buffer, agents.byteOffset);
    refuses(buffer, attach, TypeError, "no table was made here");
    words[AGENT_TABLE.agents] = 4;
  }
  assert.is(agents.abandon(3), 1);
  assert.is(agents.abandon(3), 0);
  asAgent(5, () => agents.join("five"));
  assert.equal(agents.agents.map(({ id }) => id), [1, 2, 5, 4]);
  asAgent(5, () => agents.leave());
  assert.is(agentId(), was);
});

test("a row that was abandoned keeps nothing for the next agent", () => {
  const made = make();
  note(made, 7, "seven", made.a.byteOffset);
  note(made, 7, "seven", made.b.byteOffset, awaits);
  assert.is(made.agents.abandon(7), 1);
  assert.is(made.agents.abandon(7), 0);
  const row = wordsOf(made).subarray(rows, rows + name);
  assert.equal(
    [row[agent], ...row.subarray(on)],
    new Array(name - on + 1).fill(0),
  );
});

test("notes keep no process alive", () => {
  const { agents } = make();
  const begin = () => {
    agents.join("main");
    return () => agents.leave();
  };
  assert.equal(intervalsOf(begin), [false]);
});

test("tracked readers are told in memory of any length", () => {
  const parts = layout({
    lock: [RwLock, { tracked: 2 }],
    a: Mutex,
    agents: AgentTable,
  });
  const buffer = new SharedArrayBuffer(parts.byteLength + 3);
  const { lock, a, agents } = parts.init(buffer);
  const made = { buffer, agents } as Made;
  lockAs(5, a);
  asAgent(9, () => new RwLock(buffer, lock.byteOffset).read());
  note(made, 9, "nine", a.byteOffset);
  note(made, 5, "five", lock.byteOffset);
  assert.is(deadlocks(agents, [lock, a]).length, 1);
});

test("deadlocks are told in memory that has grown meanwhile", async () => {
  const pages = { initial: 1, maximum: 2, shared: true };
  const memory = new WebAssembly.Memory(pages);
  const { a, b, agents } = PARTS.init(memory);
  memory.grow(1);
  const grown = new AgentTable(memory, agents.byteOffset);
  assert.is.not(grown.buffer, a.buffer);
  const made = { buffer: grown.buffer, agents: grown } as Made;
  grown.join("main");
  const mine = b.lock();
  lockAs(8, a);
  note(made, 8, "other", b.byteOffset);
  const control = new AbortController();
  const { signal } = control;
  const waiting = a.lockAsync({ signal }).catch(() => 0);
  const told = () => deadlocks(grown, { a, b });
  const end = performance.now() + 5000;
  while (told().length === 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.is(told().length, 1);
  assert.match(told()[0]!.text, 'which awaits Mutex "a" held by "other"');
  control.abort();
  await waiting;
  mine.unlock();
  grown.leave();
});

test("a table is found by its handle, and nowhere else", () => {
  const made = make();
  const { agents, buffer, a } = made;
  const same = AgentTable.from(cloned(agents.handle));
  assert.is(same.capacity, 4);
  assert.is(AgentTable.byteLength({ agents: 4 }), agents.byteLength);
  assert.is(AgentTable.create().capacity, 16);
  refuses(buffer, () => new AgentTable(buffer), TypeError, "no table was");
  const views = () => deadlocks({} as never, [a]);
  refuses(buffer, views, TypeError, "AgentTable");
  refuses(
    buffer,
    () => deadlocks(agents, [1] as never),
    TypeError,
    "not a view",
  );
  for (const n of [0, 256, 1.5]) {
    const config = { agents: n };
    assert.throws(() => AgentTable.create(config), `${n}`);
  }
  // Whatever is in its words, it ends.
  const words = wordsOf(made);
  for (const value of [-1, 2 ** 31 - 1, -(2 ** 31), 0x5555_5555]) {
    words.fill(value, rows);
    deadlocks(agents, made);
    // A negative id is that of an agent that clears the row.
    assert.is(agents.agents.length, value > 0 ? 4 : 0);
  }
});

test("C has the same words", () => {
  const text = headerFiles()["weft/deadlocks.h"]!;
  const found: Record<string, Record<string, number>> = {};
  const asserted = /== 4 \* (\d+), "AGENT_(\w+)\.(\w+)"\)/g;
  for (const [, n, row, word] of text.matchAll(asserted)) {
    (found[row!] ??= {})[word!] = Number(n);
  }
  const { magic, ...table } = AGENT_TABLE;
  assert.is(magic, 0);
  assert.equal(found, { TABLE: table, ROW: AGENT_ROW });
});
