// it explores
// What an agent saw in an operation of a primitive is left out of its state
// when the operation has returned: the same ends and failures, of fewer states.
import fc from "../_run/property.ts";
import * as fs from "node:fs";
import process from "node:process";
import * as assert from "uvu/assert";
import * as weft from "../../mod.ts";
import {
  type Options,
  race,
  type RaceError,
  type Result,
} from "../../race/mod.ts";
import { RETURNS } from "../../race/engine/platform/whole.ts";
import { GOALS } from "./corpus/goals.ts";
import { all } from "../_run/depth.ts";
import { suite } from "../_run/harness.ts";
import { endsSeen } from "./ends.ts";

const test = suite("race returned operations", 120_000);

const { Barrier, Condition, Event, Latch, Mutex, Semaphore, WaitGroup } = weft;
const { RwLock } = weft;

const sizes = [
  Mutex,
  Condition,
  Semaphore,
  Event,
  Latch,
  WaitGroup,
  Event,
  Barrier,
  RwLock,
]
  .map((primitive) => primitive.byteLength());
const places = sizes.map((_, i) =>
  sizes.slice(0, i).reduce((sum, size) => sum + size, 0)
);
const WORDS = sizes.reduce((sum, size) => sum + size, 0) / 4;

/** Words 0.. behind the primitives: two counters, a flag, what agents saw. */
const SEEN = 3;

function memory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(4 * (WORDS + SEEN + 3));
  Semaphore.init(memory, places[2]!, 1);
  Latch.init(memory, places[4]!, 1);
  Event.init(memory, places[6]!, { autoReset: true });
  Barrier.init(memory, places[7]!, 2);
  return memory;
}

/** What agents can do; each answers a number. */
function actions(memory: SharedArrayBuffer) {
  const mutex = new Mutex(memory, places[0]);
  const condition = new Condition(memory, places[1]);
  const semaphore = new Semaphore(memory, places[2]);
  const event = new Event(memory, places[3]);
  const latch = new Latch(memory, places[4]);
  const group = new WaitGroup(memory, places[5]);
  const signal = new Event(memory, places[6]);
  const barrier = new Barrier(memory, places[7]);
  const rw = new RwLock(memory, places[8]);
  const w = new Int32Array(memory, 4 * WORDS);
  return {
    add: () => mutex.run(() => w[0]!++),
    look() {
      using guard = mutex.tryLock();
      return guard === undefined ? 9 : w[0]!;
    },
    insist() {
      let rounds = 0;
      for (;;) {
        using guard = mutex.tryLock();
        if (guard !== undefined) return w[0]!++;
        rounds++;
      }
    },
    tell: () =>
      mutex.run(() => {
        w[1] = 1;
        condition.notifyAll();
        return 0;
      }),
    hear: () =>
      mutex.run(() => {
        while (w[1] === 0) condition.wait(mutex);
        return w[0]!;
      }),
    take: () => (semaphore.acquire(), 0),
    try: () => Number(semaphore.tryAcquire()),
    give: () => (semaphore.release(), 0),
    hope: () => Number(semaphore.tryAcquire(1, 5)),
    heed: () => mutex.run(() => Number(condition.tryWait(mutex, 5))),
    lock: () => Number(mutex.tryLock(5)?.unlock() === undefined),
    rest: () => Number(latch.tryWait(5)),
    set: () => (event.set(), 0),
    unset: () => (event.reset(), 0),
    seen: () => Number(event.tryWait()),
    wait: () => (event.wait(), 0),
    down: () => Number(latch.tryWait()) + (latch.countDown(), 0),
    both: () => (group.add(), group.done(), Number(group.tryWait())),
    open: () => (latch.wait(), 0),
    join: () => (group.add(), group.done(), group.wait(), 0),
    call: () => (signal.set(), 0),
    come: () => (signal.wait(), 0),
    hurry: () => Number(signal.tryWait(5)),
    meet: () => Number(barrier.arriveAndWait().leader),
    study: () => rw.reading(() => w[2]!),
    glance() {
      using guard = rw.tryRead();
      return guard === undefined ? 9 : w[2]!;
    },
    write: () => rw.writing(() => w[2]!++),
    dare: () => Number(rw.tryWrite(5)?.unlock() === undefined),
    print() {
      using _reading = rw.write().downgrade();
      return w[2]!;
    },
    pass: () => Number(barrier.tryArriveAndWait(5)?.leader ?? 2),
  };
}

type Action = keyof ReturnType<typeof actions>;
const NAMES = Object.keys(actions(memory())) as Action[];

/** How a program of agents can end, and what was found. */
function endsOf(
  agents: readonly (readonly Action[])[],
  options: Options,
) {
  const bodies = agents.map((names, id) => (memory: SharedArrayBuffer) => {
    const can = actions(memory);
    let all = 0;
    for (const name of names) all = 10 * all + can[name]();
    Atomics.store(new Int32Array(memory), WORDS + SEEN + id, all);
  });
  return endsSeen((see) =>
    race.agents({ memory }, ...bodies, {
      states: 60_000,
      time: 60_000,
      runs: 0,
      shorten: false,
      ...options,
      after(memory: SharedArrayBuffer) {
        see(`${new Int32Array(memory, 4 * WORDS)}`);
        return undefined;
      },
    }) as Result
  );
}

test("random programs end as they do without", () => {
  const action = fc.constantFrom(...NAMES);
  const calls = fc.array(action, { minLength: 1, maxLength: 2 });
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? (all() ? 40 : 12));
  const programs = fc.sample(
    fc.oneof(
      fc.tuple(calls, calls),
      fc.tuple(calls, calls, action.map((a) => [a])),
    ),
    { numRuns, seed: 7 },
  );
  let [compared, fewer] = [0, 0];
  for (const agents of programs) {
    const [plain, whole] = endsOf(agents, { reduce: false });
    if (whole.ok && !whole.complete) continue;
    const [ends, reduced] = endsOf(agents, {});
    assert.equal(ends, plain, agents.join(" | "));
    assert.is(reduced.complete, whole.complete, agents.join(" | "));
    compared++;
    if (reduced.states < whole.states) fewer++;
  }
  assert.ok(compared > numRuns / 2, `${compared} programs`);
  assert.ok(fewer > compared / 2, `${fewer} of ${compared} programs`);
});

test("a mutex taken three times by two agents has few states", () => {
  const three = Array<Action>(3).fill("add");
  const [, { complete, states }] = endsOf([three, three], {});
  assert.ok(complete);
  assert.ok(states < 20_000, `${states} states`);
});

test("four agents that lock a mutex have few states", () => {
  const body = (memory: SharedArrayBuffer) => {
    const mutex = new Mutex(memory);
    mutex.lock();
    Atomics.add(new Int32Array(memory, 4 * WORDS), 0, 1);
    mutex.unlock();
  };
  const { complete, states } = race.agents(
    { memory },
    ...Array(4).fill(body),
    { time: 60_000 },
  ) as Result;
  assert.ok(complete);
  assert.ok(states < 100_000, `${states} states`);
});

test("two agents that wait for a permit for some time have few states", () => {
  const timed = (memory: SharedArrayBuffer) =>
    new Semaphore(memory, places[2]).tryAcquire(1, 5);
  const result = race.agents(
    {
      memory() {
        const shared = memory();
        Semaphore.init(shared, places[2]!, 0);
        return shared;
      },
    },
    timed,
    timed,
  ) as Result;
  assert.ok(result.complete);
  assert.ok(result.states < 8000, `${result.states} states`);
});

test("ways through an operation go on as one, so agents are run less", () => {
  let runs = 0;
  const body = (memory: SharedArrayBuffer) => {
    runs++;
    const mutex = new Mutex(memory);
    for (let i = 0; i < 3; i++) {
      mutex.lock();
      mutex.unlock();
    }
  };
  const { complete } = race.agents({ memory }, body, body) as Result;
  assert.ok(complete);
  assert.ok(runs < 7000, `${runs} runs`);
});

test("a loop that tries to lock has an end", () => {
  const adding: Action[][] = all() ? [["add"], ["add"]] : [["add"]];
  const agents: Action[][] = [...adding, ["insist"]];
  const [ends, { complete, states }] = endsOf(agents, {});
  const [plain, whole] = endsOf(agents, { reduce: false });
  assert.ok(complete && whole.complete);
  assert.equal(ends, plain);
  assert.ok(states < whole.states, `${states} states of ${whole.states}`);
});

test("what an operation returned stays in the state", () => {
  const agents: Action[][] = [["seen", "add"], ["set", "add"]];
  const [ends, { complete, states }] = endsOf(agents, {});
  const [plain, whole] = endsOf(agents, { reduce: false });
  assert.ok(complete && whole.complete);
  assert.equal(ends, plain);
  // Else the walks behind the search notice it, and it begins again without.
  assert.ok(states < whole.states, `${states} states of ${whole.states}`);
});

/** What a user's class over a mutex sees when it locks. */
const isBusy = ({ buffer }: weft.Mutex) =>
  Atomics.load(new Int32Array(buffer), 0) !== 0;

/** A mutex whose view keeps whether it was contended when it was locked. */
class Over extends Mutex {
  #busy = false;
  override lock(): weft.MutexGuard {
    this.#busy = isBusy(this);
    return super.lock();
  }
  override unlock(): void {
    if (this.#busy) Atomics.add(new Int32Array(this.buffer, 4 * WORDS), 1, 1);
    super.unlock();
  }
}

/** The states of two agents that lock a mutex which `make` makes. */
function statesOf(
  make: (memory: SharedArrayBuffer) => Locks,
  o: Options,
  rounds = 1,
) {
  const body = (memory: SharedArrayBuffer) => {
    const mutex = make(memory);
    for (let i = 0; i < rounds; i++) {
      mutex.lock();
      Atomics.add(new Int32Array(memory, 4 * WORDS), 0, 1);
      mutex.unlock();
    }
  };
  const result = race.agents({ memory }, body, body, o) as Result;
  assert.ok(result.complete, result.summary);
  return result.states;
}

type Locks = Pick<weft.Mutex, "lock" | "unlock">;

test("a user's class over a primitive may keep something", () => {
  const make = (memory: SharedArrayBuffer) => new Over(memory);
  assert.is(statesOf(make, {}), statesOf(make, { reduce: false }));
});

test("a view that keeps something is noticed", () => {
  const { lock, unlock } = Mutex.prototype;
  const busy = new WeakMap<object, boolean>();
  const make = (memory: SharedArrayBuffer) => new Mutex(memory);
  const fewer = statesOf(make, {});
  assert.ok(fewer < statesOf(make, { reduce: false }));
  // What the view of the class above keeps, in the library's own class.
  Mutex.prototype.lock = function () {
    busy.set(this, isBusy(this));
    return lock.call(this);
  };
  Mutex.prototype.unlock = function () {
    const word = new Int32Array(this.buffer, 4 * WORDS);
    if (busy.get(this)) Atomics.add(word, 1, 1);
    unlock.call(this);
  };
  try {
    // The search began again, and left nothing out.
    assert.is(statesOf(make, {}), statesOf(make, { reduce: false }));
  } finally {
    Object.assign(Mutex.prototype, { lock, unlock });
  }
});

/** The tester, as primitives find it, with one of whose methods replaced. */
interface Told {
  keep(values: readonly unknown[]): void;
  keepAsleep(values: readonly unknown[]): void;
  hides?: true;
}

const tester = () =>
  (globalThis as { [key: symbol]: unknown })[
    Symbol.for("@weft/sync/race")
  ] as Told;

test("an operation that keeps more than it says is noticed", () => {
  const make = (memory: SharedArrayBuffer) => new Mutex(memory);
  const makeHiding = (memory: SharedArrayBuffer) => {
    const told = tester();
    if (told.hides === undefined) {
      const { keep } = told;
      told.hides = true;
      // The mutex's word as the operation saw it last.
      told.keep = ([place, _, ...others]) => keep([place, ...others]);
    }
    return make(memory);
  };
  const usual = statesOf(make, {}, 2);
  const all = statesOf(make, { reduce: "order" }, 2);
  assert.ok(2 * usual < all, `${usual} states of ${all}`);
  // The search began again, and left nothing out.
  assert.is(statesOf(makeHiding, {}, 2), all);
});

test("an operation that goes round for ever is found", () => {
  const { lock } = Mutex.prototype;
  const wordsOf = (memory: SharedArrayBuffer) =>
    new Int32Array(memory, 4 * WORDS);
  // No round is as the first one, so the agent is not seen to be in a loop.
  Mutex.prototype.lock = function () {
    const w = wordsOf(this.buffer);
    for (;;) {
      tester().keep(["turn"]);
      const turn = Atomics.load(w, 0);
      Atomics.store(w, 0, turn < 9 ? turn + 1 : 3);
    }
  };
  const first = (memory: SharedArrayBuffer, looks: boolean) => {
    const w = wordsOf(memory);
    for (let i = 1; i < 12; i++) Atomics.store(w, 1, i);
    if (looks) Atomics.load(w, 0);
  };
  // In no execution in which agents take turns of some steps does it see this.
  const second = (memory: SharedArrayBuffer) => {
    if (Atomics.load(wordsOf(memory), 1) === 8) new Mutex(memory).lock();
  };
  try {
    for (const looks of [true, false]) {
      for (const reduce of [false, true]) {
        const writes = (memory: SharedArrayBuffer) => first(memory, looks);
        const check = () => race.agents({ memory }, writes, second, { reduce });
        assert.throws(
          check,
          ({ result }: RaceError) => result.failure?.kind === "livelock",
        );
      }
    }
  } finally {
    Mutex.prototype.lock = lock;
  }
});

test("a sleep of which too little is told is noticed", () => {
  const { lock } = Mutex.prototype;
  // A lock that writes, once it was woken, on which value it went to sleep.
  Mutex.prototype.lock = function () {
    const w = new Int32Array(this.buffer, 4 * WORDS);
    const seen = Atomics.load(w, 0);
    if (!tells) tester().keepAsleep(["asleep"]);
    else tester().keepAsleep(["asleep", seen]);
    const woken = Atomics.wait(w, 0, seen, 10);
    if (woken === "ok") Atomics.store(w, 1, seen);
    return undefined as never;
  };
  let tells = true;
  const waits = (memory: SharedArrayBuffer) => {
    Atomics.add(new Int32Array(memory, 4 * WORDS), 2, 1);
    new Mutex(memory).lock();
  };
  const wakes = (memory: SharedArrayBuffer) => {
    const w = new Int32Array(memory, 4 * WORDS);
    for (let i = 1; i < 4; i++) Atomics.store(w, 0, i);
    Atomics.notify(w, 0);
  };
  const endsOfSleeps = (reduce: Options["reduce"]) => {
    const seen = new Set<string>();
    const after = (memory: SharedArrayBuffer) => {
      seen.add(`${new Int32Array(memory, 4 * WORDS, 3)}`);
    };
    const options = { reduce, after, rescue: true, shorten: false };
    const sleeps = { memory: () => new SharedArrayBuffer(1 << 13) };
    const { ok } = race.agents(sleeps, waits, wakes, options) as Result;
    return [ok, ...[...seen].sort()];
  };
  try {
    const ends = endsOfSleeps(false);
    for (tells of [true, false]) assert.equal(endsOfSleeps(true), ends);
  } finally {
    Mutex.prototype.lock = lock;
  }
});

/** A program that waits, and which of the values told it needs. */
interface Waits {
  readonly place: string;
  readonly at: number;
  init(memory: SharedArrayBuffer): void;
  readonly bodies: readonly ((memory: SharedArrayBuffer) => unknown)[];
}

const WAITS: readonly Waits[] = [
  {
    place: "pulse",
    at: 1, // how often it was set when the operation began
    init: () => {},
    bodies: [
      (memory) => new Event(memory).wait(),
      (memory) => new Event(memory).wait(),
      (memory) => {
        const event = new Event(memory);
        for (let i = 0; i < 2; i++) {
          event.set();
          event.reset();
        }
        event.set();
      },
    ],
  },
  {
    place: "signal",
    at: 2, // whether it counts as a waiter
    init: (memory) => Event.init(memory, 0, { autoReset: true }),
    bodies: Array(2).fill((memory: SharedArrayBuffer) => {
      const event = new Event(memory);
      event.set();
      event.tryWait(5);
      event.tryWait(5);
    }),
  },
  {
    place: "wait",
    at: 2, // whether its time is over
    init: (memory) => Barrier.init(memory, 0, 2),
    bodies: Array(2).fill((memory: SharedArrayBuffer) => {
      const barrier = new Barrier(memory);
      for (let i = 0; i < 2; i++) barrier.tryArriveAndWait(5);
    }),
  },
];

/** The states of such a program; `hide` makes it tell one value less. */
function waiting({ place, at, init, bodies }: Waits, hide: boolean) {
  const result = race.agents(
    {
      memory() {
        const memory = new SharedArrayBuffer(256);
        init(memory);
        return memory;
      },
    },
    ...bodies.map((body) => (memory: SharedArrayBuffer) => {
      const told = tester();
      if (hide && told.hides === undefined) {
        const { keep } = told;
        told.hides = true;
        told.keep = (values) =>
          keep(values[0] === place ? values.with(at, 0) : values);
      }
      body(memory);
    }),
    { shorten: false, rescue: true },
  ) as Result;
  assert.ok(result.ok && result.complete, result.summary);
  return result.states;
}

test("what a waiting operation does not tell is noticed", () => {
  for (const program of WAITS) {
    const all = waiting(program, false);
    // The search began again, and left nothing out.
    const whole = waiting(program, true);
    assert.ok(whole > 2 * all, `${program.place}: ${all}, ${whole} states`);
  }
});

/**
 * Variables that are not read again where an operation says what it keeps, and
 * those by which it says what is.
 */
const MEANT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "_lock/semaphore.ts asleep claimed": { value: "" },
  "_lock/semaphore.ts asleep asleep": { all: "", value: "" },
  "_lock/rw_lock.ts asleep reads": { last: "", gate: "", state: "" },
  "_wait/pending.ts pending": { result: "", outcome: "!outcome" },
  "_wait/pending.ts waiter": { result: "", outcome: "!outcome" },
  "_wait/pending.ts taken": { stuck: "", outcome: "" },
  "_wait/pending.ts asleep pending": { result: "", outcome: "" },
  "_lock/rw_lock.ts in": { last: "", gate: "", state: "", outcome: "" },
  "_lock/rw_lock.ts asleep writes": { last: "" },
  "_lock/rw_lock_counted.ts look": { state: "" },
  "condition.ts turn": { called: "" },
  "condition.ts joined": { seen: "" },
  "condition.ts asleep wait": {
    ...{ called: "", outcome: "", state: "", others: "", atMost: "" },
  },
  "_lock/mutex.ts sleep": { woken: "meant", seen: "" },
  "_lock/mutex.ts awake": {
    ...{ state: "offered", woken: "meant" },
    ...{ contended: "", seen: "" },
  },
  "_lock/mutex.ts asleep asleep": {
    ...{ state: "offered", woken: "meant" },
    ...{ contended: "", seen: "" },
  },
};

test("operations say all that they keep", () => {
  let found = 0;
  const files = ["_lock/mutex.ts", "_lock/semaphore.ts", "condition.ts"];
  files.push("event.ts", "latch.ts", "wait_group.ts", "_lock/barrier.ts");
  files.push("_lock/rw_lock.ts", "_lock/rw_lock_counted.ts");
  files.push("_wait/pending.ts");
  for (const file of files) {
    const url = new URL(`../../primitives/${file}`, import.meta.url);
    const source = fs.readFileSync(url, "utf8");
    const all = source.matchAll(/\bkeeps(Asleep)?\(([^)]*)\)/g);
    for (const { index, 1: asleep, 2: list } of all) {
      found++;
      const before = source.slice(0, index);
      const end = Math.max(
        ...["\n  }\n", "\n}\n"].map((brace) => before.lastIndexOf(brace)),
      );
      const begin = before.indexOf(" {\n", end + 5);
      const head = before.slice(
        Math.max(end, before.lastIndexOf("*/", begin)),
        begin,
      );
      const rest = source.slice(begin).split(/\n {0,2}\}\n/)[0]!;
      const variables = [...before.slice(begin).matchAll(/\blet (\w+)/g)]
        .map(([, name]) => name!);
      const seen = [
        ...before.slice(begin).matchAll(/\bconst (\w+) = [^;]*Atomics/g),
      ].map(([, name]) => name!);
      const given = [...head.matchAll(/\b(\w+)(?:: \w+| = )/g)]
        .map(([, name]) => name!)
        .filter((name) => new RegExp(`\\b${name} \\|?= `).test(rest));
      const said = list!.split(/,\s+/);
      const place = `${asleep === undefined ? "" : "asleep "}${said[0]}`;
      const meant = MEANT[`${file} ${place.replaceAll('"', "")}`] ?? {};
      for (const name of [...variables, ...seen, ...given]) {
        const by = meant[name] ?? name;
        assert.ok(by === "" || said.includes(by), `${file} ${place}: ${name}`);
      }
    }
  }
  assert.is(found, 37);
});

/** Fields that change, but only with what an agent was given: a mutex. */
const GIVEN: Readonly<Record<string, string[]>> = {
  condition: ["#mutex", "#mutexWords"],
};

test("views of the table's kinds keep nothing that they see", () => {
  for (const kind of Object.keys(RETURNS)) {
    // Of these, see returns_queues_test.ts.
    if (/_queue$|_ring$|^(channel|broadcast|subscription)$/.test(kind)) {
      continue;
    }
    const url = new URL(`../../primitives/${kind}.ts`, import.meta.url);
    const source = fs.readFileSync(url, "utf8");
    const name = kind.replace(/(?:^|_)(.)/g, (_, c) => c.toUpperCase());
    const begin = source.search(new RegExp(`^export class ${name} `, "m"));
    assert.ok(begin >= 0, name);
    const view = source.slice(begin, source.indexOf("\n}\n", begin));
    const fields = view.matchAll(
      /^ {2}(?:declare )?(#?\w+)[?!]?(?::.*| = .*)?;$/gm,
    );
    const changing = [...fields].map(([, field]) => field);
    assert.equal(changing, GIVEN[kind] ?? [], kind);
  }
  // A barrier's view has this object, unless the barrier is tracked.
  const url = new URL("../../primitives/_lock/barrier.ts", import.meta.url);
  const source = fs.readFileSync(url, "utf8");
  const counted = source.split("class Counted ")[1]!.split("\n}\n")[0]!;
  const fields = counted.matchAll(/^ {2}(readonly )?#?\w+(?::.*| = .*);$/gm);
  const marks = [...fields].map(([, mark]) => mark);
  assert.equal(marks, ["readonly ", "readonly "]);
});

test("a lock for reading keeps only what it sees where it spins", () => {
  const url = new URL("../../primitives/_lock/rw_lock.ts", import.meta.url);
  const source = fs.readFileSync(url, "utf8");
  const view = source.split("class Lock ")[1]!.split("\n}\n")[0]!;
  const fields = [...view.matchAll(/^ {2}(#\w+) = .*;$/gm)];
  assert.equal(fields.map(([, name]) => name), ["#gateSeen", "#since"]);
  const [, spins] = view.split("#giveWay(): void {");
  const [body] = spins!.split("\n  }\n");
  for (const [, name] of fields) {
    const all = view.split(`this.${name}`).length;
    assert.is(body!.split(`this.${name}`).length, all, name);
  }
  assert.is(view.split("#giveWay()").length, 3);
  assert.match(view, /if \(spinning\.rounds > 0 && .*\) this\.#giveWay\(\);/);
});

test("a search after another one remembers the same", () => {
  // The second search is that with the fewest preemptions.
  const goal = GOALS.find(({ name }) => name === "Condition, 2 waiters")!;
  for (const states of [1000, 5000]) {
    const result = goal.run({ states, time: 60_000, runs: 0 });
    assert.ok(result.ok && !result.complete, result.summary);
  }
});

test("the table names operations that there are", () => {
  const locks = { Mutex, RwLock, Condition, Semaphore };
  const { MpmcQueue, LockFreeQueue } = weft;
  const { RecordRing, Channel, Broadcast, Subscription } = weft;
  const rings = { RecordRing, Channel, Broadcast, Subscription };
  const queues = { MpmcQueue, LockFreeQueue, ...rings };
  const classes = { ...locks, ...queues, Event, Latch, WaitGroup, Barrier };
  const kinds = Object.values(classes).map(({ prototype }) => prototype);
  assert.is(Object.keys(RETURNS).length, kinds.length);
  Object.values(RETURNS).flat().forEach((name) => {
    assert.ok(kinds.some((kind) => name in kind), name);
  });
});
