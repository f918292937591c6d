// also: node, browsers
// it waits
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  agentId,
  type Memory,
  RwLock,
  type RwLockConfig,
  type RwReadGuard,
  type RwWriteGuard,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  endsBefore,
  endsWithin,
  isWoken,
  NEAR_WRAP,
  nowOf,
  passed,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./agent.ts", import.meta.url);
const {
  state: STATE,
  gate: GATE,
  writer: WRITER,
  writer_starving: STARVING,
  turns: TURNS,
} = LAYOUT.rw_lock;
const MOST = 8191;
const OTHER = 5;

const viewAs = (id: number, memory: Memory) =>
  asAgent(id, () => new RwLock(memory));

/** The views of a lock of this agent and of another one. */
function pair(
  phase = 0,
  gate = 0,
  config: RwLockConfig = {},
): { mine: RwLock; theirs: RwLock } {
  const mine = RwLock.create(config);
  wordsOf(mine)[STATE] = phase << 30;
  wordsOf(mine)[GATE] = gate & ~1;
  return { mine, theirs: viewAs(OTHER, mine.buffer) };
}

/** Whether its users left nothing behind in a lock. */
function isFree(lock: RwLock): boolean {
  const words = wordsOf(lock);
  return (words[STATE]! & 0x3fff_ffff) === 0 &&
    words[LAYOUT.rw_lock.writer] === 0;
}

const test = suite("RwLock");

test("try forms, blocking forms and guards obey the model", () => {
  const op = fc.constantFrom(
    ...["tryRead", "read", "tryWrite", "write", "unlock", "downgrade"] as const,
    "abandon" as const,
  );
  const calls = fc.array(fc.tuple(op, fc.nat({ max: 2 }), fc.nat()));
  fc.assert(fc.property(calls, (calls) => {
    const memory = RwLock.create().buffer;
    const ids = [1, 2, 2 ** 28 - 1];
    const views = ids.map((id) => viewAs(id, memory));
    let reads: RwReadGuard[] = []; // the model
    let writer = -1;
    let write: RwWriteGuard | undefined;
    let abandoned = false;
    for (const [op, who, at] of calls) {
      const lock = views[who]!;
      if (op === "tryRead" || op === "read") {
        if (op === "read" && writer === who) {
          refuses(memory, () => lock.tryRead(0.01), TypeError, "twice");
          continue;
        }
        const guard = op === "read" ? lock.tryRead(0.01) : lock.tryRead();
        assert.is(guard !== undefined, writer < 0);
        if (guard === undefined) continue;
        assert.is(guard.abandoned, abandoned);
        reads.push(guard);
      } else if (op === "tryWrite" || op === "write") {
        if (op === "write" && writer === who) {
          refuses(memory, () => lock.tryWrite(0.01), TypeError, "twice");
          continue;
        }
        const guard = op === "write" ? lock.tryWrite(0.01) : lock.tryWrite();
        assert.is(guard !== undefined, writer < 0 && reads.length === 0);
        if (guard === undefined) continue;
        assert.is(guard.abandoned, abandoned);
        [writer, write] = [who, guard];
      } else if (op === "unlock" && write !== undefined) {
        for (const view of views) {
          if (view === views[writer]) continue;
          const text = "does not hold";
          refuses(memory, () => view.unlockWrite(), TypeError, text);
          refuses(memory, () => view.downgrade(), TypeError, text);
        }
        write.unlock();
        write[Symbol.dispose](); // once more changes nothing
        assert.throws(() => write!.downgrade(), /holds nothing/);
        [writer, write, abandoned] = [-1, undefined, false];
      } else if (op === "downgrade" && write !== undefined) {
        reads.push(write.downgrade());
        write.unlock();
        [writer, write, abandoned] = [-1, undefined, false];
      } else if (op === "abandon") {
        const dead = ids[at % 3]!;
        const wrote = writer >= 0 && ids[writer] === dead;
        assert.is(lock.abandon(dead), wrote ? 1 : 0);
        if (!wrote) continue;
        [writer, write, abandoned] = [-1, undefined, true];
      } else if (reads.length > 0) {
        const [guard] = reads.splice(at % reads.length, 1);
        guard!.unlock();
        guard!.unlock(); // once more changes nothing
      } else if (op === "unlock") {
        refuses(memory, () => lock.unlockRead(), TypeError, "no agent reads");
      }
      assert.is(lock.readers, reads.length);
      assert.is(lock.writer, writer < 0 ? 0 : ids[writer]);
    }
    for (const guard of reads) guard.unlock();
    reads = [];
  }));
});

test("waits of both sides, ended in any way, obey the model", async () => {
  const op = fc.constantFrom(
    ...["read", "read", "write", "unlock", "unlock", "abort"] as const,
  );
  const call = fc.record({ op, at: fc.nat(), together: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 3 }),
      fc.constantFrom(0, ...NEAR_WRAP),
      fc.array(call, { maxLength: 25 }),
      fc.constantFrom(0, 2),
      async (phase, gate, calls, tracked) => {
        const { mine } = tracked > 0
          ? pair(0, gate, { tracked })
          : pair(phase, gate);
        interface Wait {
          kind: "read" | "write";
          abort: AbortController;
          guard?: Disposable;
          aborted?: true;
        }
        let waits: Wait[] = [];
        const check = async () => {
          await turns();
          waits = waits.filter((wait) => !wait.aborted);
          const held = waits.filter((wait) => wait.guard !== undefined);
          const writes = held.filter(({ kind }) => kind === "write").length;
          assert.ok(writes === 0 || held.length === 1, "written and read");
          assert.is(mine.readers, held.length - writes);
          assert.ok(waits.length === 0 || held.length > 0, "all wait");
        };
        for (const { op, at, together } of calls) {
          if (op === "read" || op === "write") {
            const wait: Wait = { kind: op, abort: new AbortController() };
            const { signal } = wait.abort;
            const guard = op === "read"
              ? mine.readAsync({ signal })
              : mine.writeAsync({ signal });
            guard.then(
              (guard) => wait.guard = guard!,
              () => wait.aborted = true,
            );
            waits.push(wait);
          } else if (op === "abort") {
            waits[at % waits.length]?.abort.abort();
          } else {
            const held = waits.filter((wait) => wait.guard !== undefined);
            const wait = held[at % held.length];
            waits = waits.filter((other) => other !== wait);
            wait?.guard?.[Symbol.dispose]();
          }
          if (!together) await check();
        }
        await check();
        while (waits.length > 0) {
          const first = waits.findIndex(({ guard }) => guard !== undefined);
          waits.splice(first, 1)[0]!.guard![Symbol.dispose]();
          await check();
        }
        assert.ok(isFree(mine), `${wordsOf(mine)}`);
      },
    ),
    { numRuns: 90 },
  );
});

test("a tracked lock knows how often each agent reads", () => {
  const op = fc.constantFrom(
    ...["read", "read", "write", "unlock", "downgrade", "die"] as const,
  );
  const calls = fc.array(fc.tuple(op, fc.nat({ max: 2 }), fc.boolean()));
  fc.assert(fc.property(calls, fc.nat(9000), (calls, phase) => {
    const lock = RwLock.create({ tracked: 3 });
    wordsOf(lock)[GATE] = 2 * phase;
    const ids = [11, 12, 13];
    const views = ids.map((id) => viewAs(id, lock.buffer));
    const reads: RwReadGuard[][] = [[], [], []]; // the model
    let writing: RwWriteGuard | undefined;
    let writer = -1;
    const free = () => reads.every(({ length }) => length === 0);
    for (const [op, who, waits] of calls) {
      const view = views[who]!;
      if (op === "read") {
        if (waits && writer === who) continue;
        const guard = view.tryRead(waits ? 0.01 : 0);
        assert.is(guard !== undefined, writer < 0);
        if (guard) reads[who]!.push(guard);
      } else if (op === "write") {
        if (waits && writer === who) continue;
        const guard = view.tryWrite(waits ? 0.01 : 0);
        assert.is(guard !== undefined, writer < 0 && free());
        if (guard) [writer, writing] = [who, guard];
      } else if (op === "unlock") {
        const guard = reads[who]!.pop();
        if (guard) guard.unlock();
        else {
          const text = "does not read";
          refuses(lock.buffer, () => view.unlockRead(), TypeError, text);
          writing?.unlock();
          [writer, writing] = [-1, undefined];
        }
      } else if (op === "downgrade") {
        if (writing === undefined) continue;
        reads[writer]!.push(writing.downgrade());
        [writer, writing] = [-1, undefined];
      } else {
        const held = reads[who]!.length;
        const wrote = writer === who ? 1 : 0;
        if (waits) assert.is(lock.abandonReading(ids[who]!), held);
        assert.is(lock.abandon(ids[who]!), (waits ? 0 : held) + wrote);
        reads[who] = [];
        if (wrote) [writer, writing] = [-1, undefined];
        views[who] = viewAs(ids[who] = ids[who]! + 10, lock.buffer);
      }
      assert.is(lock.readers, reads.flat().length);
    }
  }));
});

test("a tracked lock refuses one agent more than it has rows", () => {
  const lock = RwLock.create({ tracked: 2 });
  const { buffer } = lock;
  assert.is(lock.byteLength, RwLock.byteLength({ tracked: 2 }));
  assert.is(lock.byteLength, 4 * (40 + 2 * 32));
  assert.is(lock.tracked, 2);
  assert.is(RwLock.create().tracked, 0);
  const [one, two, three] = [21, 22, 23]
    .map((id) => viewAs(id, buffer)) as [RwLock, RwLock, RwLock];
  one.read();
  viewAs(21, buffer).read(); // it has a row already
  two.read();
  refuses(buffer, () => three.tryRead(), RangeError, "23", "2 agents");
  refuses(buffer, () => three.read(), RangeError, "2 agents");
  assert.is(three.tryWrite(), undefined);
  assert.is(lock.abandon(21), 2);
  three.read().unlock();
  assert.is(lock.abandon(22), 1);
  const writing = one.write();
  one.abandon(23);
  two.tryRead();
  const reading = writing.downgrade();
  for (let i = 1; i < 1023; i++) one.read();
  refuses(buffer, () => one.read(), RangeError, "1023 reads");
  reading.unlock();
  one.read();
  const wrong = () => RwLock.init(buffer, 0, { tracked: null as never });
  refuses(buffer, wrong, TypeError, "received null");
  for (const tracked of [-1, 256, 1.5, NaN]) {
    const wrong = () => RwLock.init(buffer, 0, { tracked });
    refuses(buffer, wrong, RangeError, `received ${tracked}`);
  }
  const misspelt = () => RwLock.create({ track: 2 } as never);
  refuses(buffer, misspelt, TypeError, "track");
  for (const damaged of [2, -1, wordsOf(lock)[LAYOUT.rw_lock.tracked]! ^ 1]) {
    wordsOf(lock)[LAYOUT.rw_lock.tracked] = damaged;
    refuses(buffer, () => new RwLock(buffer), TypeError, `${damaged}`);
  }
});

test("a guard still writes if there is no row for its downgrade", () => {
  const lock = RwLock.create({ tracked: 1 });
  viewAs(OTHER, lock.buffer).read().unlock(); // it keeps the row
  const writing = lock.write();
  const late = () => writing.downgrade();
  refuses(lock.buffer, late, RangeError, "1 agents have a row");
  assert.is(lock.writer, agentId());
  writing.unlock();
  assert.ok(isFree(lock));
});

test("a tracked reader may be terminated at any step", () => {
  const ops: Record<string, (view: RwLock) => void> = {
    "read": (view) => void view.read(),
    "unlockRead": (view) => view.unlockRead(),
    "write, downgrade": (view) => void view.tryWrite()?.downgrade(),
  };
  for (const [name, run] of Object.entries(ops)) {
    for (let at = 0, ended = false; !ended; at++) {
      const lock = RwLock.create({ tracked: 2 });
      const theirs = viewAs(31, lock.buffer);
      if (name === "unlockRead") theirs.read();
      ended = endsBefore(at, () => run(theirs));
      const { readers, writer } = lock;
      const held = readers + (writer === 0 ? 0 : 1);
      assert.is(lock.abandon(31), held, `${name} at ${at}`);
      assert.ok(lock.tryWrite(), `${name} at ${at}`);
    }
  }
});

test("tryRead() and tryWrite() refuse a wrong timeout", async () => {
  const { mine } = pair();
  for (const timeout of [NaN, -1, -Infinity]) {
    const text = `received ${timeout}`;
    const { buffer } = mine;
    refuses(buffer, () => mine.tryRead(timeout), RangeError, text);
    refuses(buffer, () => mine.tryWrite(timeout), RangeError, text);
    await rejects(buffer, mine.tryReadAsync({ timeout }), RangeError, text);
    await rejects(buffer, mine.tryWriteAsync({ timeout }), RangeError, text);
  }
});

test("tryRead(timeout) and tryWrite(timeout) end in time, without a trace", () => {
  const { mine, theirs } = pair();
  for (const timeout of [0, 1, 30]) {
    for (const kind of ["read", "write"] as const) {
      const held = kind === "read" ? theirs.write() : theirs.read();
      const begin = performance.now();
      const guard = kind === "read"
        ? mine.tryRead(timeout)
        : mine.tryWrite(timeout);
      assert.is(guard, undefined);
      const took = performance.now() - begin;
      assert.ok(took >= timeout - 1 && took < timeout + 10_000, `${took} ms`);
      held.unlock();
      assert.ok(isFree(mine));
    }
  }
});

test("too many readers are refused, and there is room for a downgrade", async () => {
  const { mine, theirs } = pair();
  const text = `${MOST} agents`;
  wordsOf(mine)[STATE]! += MOST;
  refuses(mine.buffer, () => mine.tryRead(), RangeError, text);
  refuses(mine.buffer, () => mine.read(), RangeError, text);
  await rejects(mine.buffer, mine.readAsync(), RangeError, text);
  wordsOf(mine)[STATE]! -= MOST;
  const writing = theirs.write();
  const pending = Array.from({ length: MOST - 1 }, () => mine.readAsync());
  await rejects(mine.buffer, mine.readAsync(), RangeError, text);
  using reading = writing.downgrade();
  assert.is(mine.readers, MOST);
  for (const guard of await Promise.all(pending)) guard.unlock();
  reading.unlock();
  assert.ok(isFree(mine));
});

test("a reader that comes after a writer waits for that writer only", async () => {
  const { mine, theirs } = pair(3);
  const first = theirs.read();
  const writes = [mine.writeAsync(), mine.writeAsync()];
  assert.is(await nowOf(Promise.race(writes)), "pending");
  assert.is(mine.tryRead(), undefined, "a writer waits");
  const late = mine.readAsync();
  first.unlock();
  const won = await Promise.race(writes.map((write, k) => write.then(() => k)));
  const [writing, other] = [await writes[won]!, writes[1 - won]!];
  assert.is(await nowOf(late), "pending");
  wordsOf(mine)[STARVING] = 0; // as a writer soon is on a slow machine
  writing.unlock();
  const reading = await late;
  assert.is(await nowOf(other), "pending", "readers come between");
  reading.unlock();
  (await other).unlock();
  assert.ok(isFree(mine));
});

test("a writer that starves is the next one, but seven times at most", async () => {
  const { mine, theirs } = pair();
  const words = wordsOf(mine);
  for (const passed of [0, 6, 7]) {
    words[STARVING] = 1;
    words[TURNS] = passed;
    const writing = theirs.write();
    const [read, write] = [mine.readAsync(), mine.writeAsync()];
    assert.is(await nowOf(Promise.race([read, write])), "pending");
    writing.unlock();
    const waits: Promise<{ unlock(): void }>[] = [read, write];
    if (passed < 7) waits.reverse();
    const guard = await Promise.race(waits);
    assert.is(guard, await waits[0]);
    assert.is(await nowOf(waits[1]!), "pending");
    guard.unlock();
    (await waits[1]!).unlock();
    assert.ok(isFree(mine), `passed on ${passed} times`);
  }
});

test("readers come in if the next writer does not come", async () => {
  const { mine } = pair();
  const words = wordsOf(mine);
  const passOn = () => {
    words[STATE] = 1 << 27; // WANTED
    words[WRITER] = 3 << 29; // kept for a writer that was woken
    words[STARVING] = 1;
  };
  // It looks each tenth of a second; an ordinary sleeper does each second.
  const looked = await isWoken(async () => {
    passOn();
    const begin = performance.now();
    (await mine.readAsync()).unlock();
    assert.ok(isFree(mine));
    return performance.now() - begin;
  });
  assert.ok(looked);
  passOn();
  assert.is(mine.tryRead(), undefined);
  assert.is(mine.abandon(OTHER), 0);
  mine.tryRead()!.unlock();
  assert.ok(isFree(mine));
  passOn();
  mine.tryWrite()!.unlock();
  assert.ok(isFree(mine));
  passOn();
  words[STATE] = 0; // the agent that was to be next died before it said so
  const guard = mine.tryWrite(30_000);
  assert.ok(guard, "it waits for the dead one");
  guard.unlock();
  assert.ok(isFree(mine));
});

test("downgrade() lets waiting readers in, but no writer", async () => {
  const { mine, theirs } = pair();
  const writing = theirs.write();
  const [read, write] = [mine.readAsync(), mine.writeAsync()];
  assert.is(await nowOf(Promise.race([read, write])), "pending");
  const reading = writing.downgrade();
  const other = await read;
  assert.is(await nowOf(write), "pending");
  reading.unlock();
  other.unlock();
  (await write).unlock();
  assert.ok(isFree(mine));
});

test("a writer that gives up lets in the readers that it kept waiting", async () => {
  const { mine, theirs } = pair();
  const reading = theirs.read();
  const abort = new AbortController();
  const write = mine.writeAsync({ signal: abort.signal });
  const late = mine.readAsync();
  assert.is(await nowOf(late), "pending");
  abort.abort("given up");
  assert.is(await write.catch((reason) => reason), "given up");
  (await late).unlock();
  reading.unlock();
  assert.ok(isFree(mine));
});

test("an agent that awaits writing may read, and is refused to write", async () => {
  const { mine, theirs } = pair();
  const reading = theirs.read();
  const write = mine.writeAsync();
  await turns();
  mine.read().unlock();
  refuses(mine.buffer, () => mine.write(), TypeError, "awaits");
  reading.unlock();
  (await write).unlock();
  assert.ok(isFree(mine));
});

test("abandon() gives up a writer that wrote, or waited", async () => {
  const { mine, theirs } = pair();
  theirs.write(); // and is terminated
  const [read, write] = [mine.readAsync(), mine.writeAsync()];
  assert.is(await nowOf(Promise.race([read, write])), "pending");
  assert.is(mine.abandon(0), 0);
  assert.is(mine.abandon(agentId()), 0);
  assert.is(mine.abandon(OTHER), 1);
  assert.is(mine.abandon(OTHER), 0);
  const reading = await read;
  assert.is(reading.abandoned, true);
  reading.unlock();
  const writing = await write;
  assert.is(writing.abandoned, true);
  writing.unlock();
  const after = mine.read();
  assert.is(after.abandoned, false);
  const waits = theirs.writeAsync(); // and is terminated, in effect
  await turns();
  const late = mine.readAsync();
  assert.is(await nowOf(late), "pending");
  assert.is(mine.abandon(OTHER), 1);
  assert.is((await late).abandoned, false);
  mine.unlockRead();
  after.unlock();
  await Promise.race([waits, passed(10)]); // for it does run, here
});

test("a reader knows that it was let in, whatever the phase", async () => {
  // Four phases later the phase is the same, so the gate must show the
  // difference.
  for (const gate of [0, ...NEAR_WRAP]) {
    const { mine, theirs } = pair(1, gate);
    const writing = theirs.write();
    const read = mine.readAsync();
    await turns(1);
    writing.unlock(); // the reader is in, but was not woken yet
    const words = wordsOf(mine);
    words[STATE] = 1 << 30 | 1; // as after three more phases
    words[GATE] = (words[GATE]! & ~1) + 6;
    Atomics.notify(words, GATE);
    assert.ok(await endsWithin(3000, read), "it thinks that it still waits");
  }
});

/** Lets threads use a lock for a time. */
async function use(ms: number, roles: readonly number[], patient: boolean) {
  const memory = new SharedArrayBuffer(RwLock.byteLength() + 8);
  const over = new Int32Array(new SharedArrayBuffer(4));
  const started = await Promise.all(
    roles.map((writes) => spawn(AGENT, { memory, writes, over, patient })),
  );
  await passed(ms);
  Atomics.store(over, 0, 1);
  const all: Record<"read" | "written" | "torn" | "longest", number>[] = [];
  for (const thread of started) all.push(await thread.next());
  for (const thread of started) thread.stop();
  const [first, second] = new Int32Array(memory, RwLock.byteLength(), 2);
  assert.is(first, second);
  assert.is(first, all.reduce((n, { written }) => n + written, 0));
  for (const { torn } of all) assert.is(torn, 0);
  const lock = new RwLock(memory);
  // It may be kept for one that was woken as it gave up: then it is the next's.
  const last = lock.tryWrite(30_000);
  assert.ok(last, `nobody holds it: ${wordsOf(lock)}`);
  last.unlock();
  assert.ok(isFree(lock), `${wordsOf(lock)}`);
  return all;
}

/** As {@linkcode use}, for longer while `enough` says no: machines differ. */
async function useUntil(
  enough: (all: Awaited<ReturnType<typeof use>>) => boolean,
  roles: readonly number[],
  patient: boolean,
) {
  for (const ms of [1500, 5000, 20_000]) {
    if (enough(await use(ms, roles, patient))) return true;
  }
  return false;
}

test("threads read whole values, and lose no write", async () => {
  const enough = await useUntil(
    (all) => all.every(({ read, written }) => read > 0 && written > 0),
    [5, 5, 1, 1],
    false,
  );
  assert.ok(enough, "a thread never read, or never wrote");
});

test("neither side keeps the other out under a saturating load", async () => {
  // Three that read all the time, and one that writes; then the reverse.
  const writes = await useUntil(
    ([writer]) => writer!.written > 50,
    [10, 0, 0, 0],
    true,
  );
  assert.ok(writes, "fewer than 50 writes in 20 s");
  const reads = await useUntil(
    ([reader]) => reader!.read > 50,
    [0, 10, 10, 10],
    true,
  );
  assert.ok(reads, "fewer than 50 reads in 20 s");
});
