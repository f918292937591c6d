// limit: 300 s
// What the fast path of each operation does to shared memory, counted by the
// race tester: docs/scaling.md has the table. Neither the checks for damaged
// words nor the tracking of agents may cost an operation that has no use for
// them.
import * as assert from "uvu/assert";
import { type Traffic, traffic } from "../../bench/traffic.ts";
import { suite } from "../_run/harness.ts";
import { CASTS, mixed } from "../_run/mixed/cast.ts";
import { weft } from "../_run/weft.ts";

const test = suite("traffic", 120_000); // C may have to be compiled

/**
 * Loads, stores and exchanges, all of them atomic, before words were checked
 * for damage and agents could be tracked. A store that was an exchange before
 * is the only change allowed.
 */
const BEFORE: Readonly<Record<string, readonly [number, number, number]>> = {
  "Mutex: lock": [0, 0, 1],
  "Mutex: unlock": [0, 0, 1],
  "RwLock: read": [0, 0, 1],
  "RwLock: unlock, read": [0, 0, 1],
  "RwLock: write": [0, 0, 2],
  "RwLock: unlock, written": [0, 0, 2],
  "Semaphore: acquire": [0, 0, 1],
  "Semaphore: release": [1, 0, 1],
  "Event: set": [1, 0, 1],
  "Event: wait, set before": [1, 0, 0],
  "Event: reset": [1, 0, 1],
  "Latch: count down": [0, 0, 1],
  "WaitGroup: add": [0, 0, 1],
  "WaitGroup: done": [0, 0, 1],
  "Barrier: arrive as the last": [0, 0, 1],
  "Condition: notify, nobody waits": [3, 0, 0],
  "Once: run, done before": [0, 0, 0],
  "Snapshot of 16 bytes: write": [0, 5, 0],
  "Snapshot of 16 bytes: read": [6, 0, 0],
  "SpscQueue: push an int": [0, 0, 1],
  "SpscQueue: pop an int": [0, 0, 1],
  "MpmcQueue: push an int": [2, 1, 1],
  "MpmcQueue: pop an int": [2, 1, 1],
  "LockFreeQueue: push an int": [1, 0, 2],
  "LockFreeQueue: pop an int": [1, 0, 3],
  "RecordRing, records of 16 bytes: push": [1, 0, 3],
  "RecordRing, records of 16 bytes: pop": [2, 1, 0],
  "RecordRing, records of 16 bytes, one producer: push": [1, 0, 3],
  "RecordRing, records of 16 bytes, one producer: pop": [2, 1, 0],
  "Channel of capacity 0, numbers: receive, and wait": [12, 0, 7],
  "Channel of capacity 0, numbers: send to one that waits": [7, 1, 3],
  "WorkCounter: next": [0, 0, 1],
  "WorkCounter: done": [1, 0, 1],
  "WorkDeque: push": [0, 2, 0],
  "WorkDeque: pop": [1, 1, 0],
  "WorkDeque: steal": [3, 0, 1],
  "SlabPool: allocate": [0, 0, 2],
  "SlabPool: free": [0, 0, 2],
  "StripedCounter: add": [0, 0, 1],
};

const atomics = ({ loads, stores, changes }: Traffic) =>
  loads + stores + changes;
const say = ({ loads, stores, changes }: Traffic) =>
  `${loads} loads, ${stores} stores, ${changes} exchanges`;

const counted = traffic();

/** What the tracked twin of an operation does. */
function trackedOf(name: string): Traffic | undefined {
  const [what, operation] = name.split(": ");
  const key = [...counted.keys()].find((key) =>
    key.startsWith(`${what}, tracked`) && key.endsWith(`: ${operation}`)
  );
  return key === undefined ? undefined : counted.get(key);
}

for (const [name, now] of counted) {
  if (name.includes(", tracked")) continue;
  test(`${name}: no check and no tracking costs it an atomic access`, () => {
    const [loads, stores, exchanges] = BEFORE[name]!;
    assert.ok(now.changes <= exchanges, say(now));
    assert.ok(now.stores <= stores, say(now));
    assert.ok(now.loads <= loads, say(now));
  });
}

test("what was counted before is counted still", () => {
  const names = [...counted.keys()].filter((name) =>
    !name.includes(", tracked")
  );
  assert.equal(names, Object.keys(BEFORE));
});

for (
  const name of [
    "Semaphore: acquire",
    "Semaphore: release",
    "RwLock: read",
    "RwLock: unlock, read",
    "WorkCounter: next",
    "WorkCounter: done",
  ]
) {
  test(`${name}, tracked: at most one atomic access more`, () => {
    const tracked = trackedOf(name)!;
    const [loads, stores, changes] = BEFORE[name]!;
    assert.ok(atomics(tracked) <= loads + stores + changes + 1, say(tracked));
    assert.ok(tracked.changes <= counted.get(name)!.changes, say(tracked));
  });
}

test("a tracked writer, and a tracked party, look at all rows", () => {
  const write = trackedOf("RwLock: write")!; // it tries: it looks twice
  assert.ok(write.loads <= 2 * 4 + 1, say(write));
  assert.ok(write.stores + write.changes <= 3, say(write));
  const arrive = trackedOf("Barrier: arrive as the last")!;
  assert.ok(arrive.loads <= 2 * 1 + 2, say(arrive));
  assert.ok(arrive.stores + arrive.changes <= 2, say(arrive));
});

test("C stores and exchanges as often, and loads what TypeScript reads", async () => {
  const { compileAll } = await import("../_run/mixed/module.ts");
  const ofC = traffic(mixed(weft, await compileAll(), CASTS["C+C"]!).mod);
  assert.equal([...ofC.keys()], [...counted.keys()]);
  for (const [name, c] of ofC) {
    const { loads, stores, changes, plain } = counted.get(name)!;
    const both = `${name}: ${say(c)} in C, ${say(counted.get(name)!)} here`;
    assert.is(c.stores, stores, both);
    assert.is(c.changes, changes, both);
    // In WebAssembly, hints are atomic loads. And C loads one word at each call
    // that a view in TypeScript remembers: whether agents are tracked, whether
    // the function of a Once has run, or who has a role. The owner of a deque
    // also remembers `top`.
    const remembered = name === "WorkDeque: push" ? 2 : 1;
    assert.ok(c.loads <= loads + plain + remembered, both);
  }
});
