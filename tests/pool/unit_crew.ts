// also: node
// How a pool tries again if a worker cannot start, or ends before it did a
// task: how often, after which pauses, and with which error in the end. The
// time is the test's own.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { ClosedError } from "../../mod.ts";
import {
  Crew,
  failuresAfter,
  isTooMany,
  type Member,
} from "../../primitives/_pool/crew.ts";
import { type Job, Jobs } from "../../primitives/_pool/jobs.ts";
import { Staff } from "../../primitives/_pool/staff.ts";
import { suite } from "../_run/harness.ts";

const test = suite("the crew of a pool");

const real = { setTimeout, clearTimeout };

/** A timer that was set. */
interface Timer {
  readonly due: number;
  readonly call: () => void;
  unref(): void;
}

/** The time, which passes only when it is told. */
class Clock {
  now = 0;
  readonly #timers = new Set<Timer>();

  /** Lets `body` run by this clock. */
  async run(body: () => Promise<unknown>): Promise<void> {
    const begin = performance.now();
    const own = Object.getOwnPropertyDescriptor(performance, "now");
    const its = {
      setTimeout: (call: () => void, ms = 0): Timer => {
        const timer = { due: this.now + ms, call, unref: () => {} };
        this.#timers.add(timer);
        return timer;
      },
      clearTimeout: (timer: Timer) => void this.#timers.delete(timer),
    };
    Object.assign(globalThis, its);
    performance.now = () => begin + this.now;
    try {
      await body();
    } finally {
      Object.assign(globalThis, real);
      // In Node and Deno the class has it, in Bun the object itself.
      Reflect.deleteProperty(performance, "now");
      if (own !== undefined) Object.defineProperty(performance, "now", own);
    }
  }

  /** Lets time pass, and calls the timers that are due, the earliest first. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      for (let i = 0; i < 9; i++) await undefined;
      const [next] = [...this.#timers].sort((a, b) => a.due - b.due);
      if (next === undefined || next.due > end) break;
      this.#timers.delete(next);
      this.now = Math.max(this.now, next.due);
      next.call();
    }
    this.now = end;
  }
}

type Listener = (value?: unknown) => void;

/** A worker that does what the test says. */
class Actor {
  readonly #listeners = new Map<string, Listener>();
  readonly posted: unknown[] = [];
  terminated = 0;

  on(event: string, listener: Listener) {
    this.#listeners.set(event, listener);
  }
  postMessage(message: unknown) {
    this.posted.push(message);
  }
  terminate() {
    this.terminated++;
  }
  emit(event: string, value?: unknown) {
    this.#listeners.get(event)!(value);
  }
  say(what: string, more = {}) {
    this.emit("message", { weft: "@weft/sync/pool", what, ...more });
  }
  hello(makes = false) {
    this.say("hello", { id: 7, tasks: {}, limit: 1, makes });
  }
}

/** One of the web, which has no `on`. */
class WebActor extends Actor {
  constructor() {
    super();
    Object.defineProperty(this, "on", { value: undefined });
  }
  addEventListener(event: string, listener: Listener) {
    super.on(event, listener);
  }
  override emit(event: string, value?: unknown) {
    super.emit(event, event === "message" ? { data: value } : value);
  }
}

/** A crew, the workers that it has made, and when; and what it tells. */
function crewOf(clock: Clock, { patience = 5000, Kind = Actor } = {}) {
  const it = {
    actors: [] as Actor[],
    made: [] as number[],
    told: [] as string[],
    /** Why a seat was given up. */
    error: undefined as unknown,
    /** What `make` does in place of making a worker. */
    make: undefined as (() => never) | undefined,
    /** What is said of the tasks of a worker that is ready. */
    hello: (_: Member) => {},
    exits: [] as (() => void)[],
    /** The workers of which no message comes any more. */
    silent: [] as number[],
    /** Whether nobody can tell when a worker ends. */
    refuses: false,
    crew: undefined as unknown as Crew,
  };
  it.crew = new Crew({
    make: () => {
      it.made.push(clock.now);
      it.make?.();
      const actor = new Kind();
      it.actors.push(actor);
      return actor;
    },
    hello: (member) => it.hello(member),
    long: () => {},
    begun: () => {},
    report: () => {},
    ended: (_, died) => it.told.push(died ? "died" : "ended"),
    failed: (member, isLast) => {
      it.told.push(isLast ? "failed" : "tries again");
      it.error = isLast ? member.error : undefined;
    },
    started: (_, id) => it.told.push(`${id} starts`),
    over: (_, id, died) => it.told.push(`${id} ${died ? "dies" : "ends"}`),
    silent: (number) => it.silent.push(number),
    onExit: (_id, callback, _worker, refused) => {
      it.exits.push(callback);
      if (it.refuses) queueMicrotask(refused);
      return () => {};
    },
  }, patience);
  return it;
}

/** How a promise ends. */
function endOf(promise: Promise<unknown>) {
  const it = { end: undefined as unknown };
  promise.then(() => it.end = "ready", (reason) => it.end = reason);
  return it;
}

/** What keeps a worker from starting, and what is told of it. */
const TROUBLES: Record<string, [(actor: Actor, n: number) => void, RegExp]> = {
  "it throws": [
    (actor, n) => actor.emit("error", new RangeError(`no luck ${n}`)),
    /^no luck 3$/,
  ],
  "it exits": [
    (actor, n) => actor.emit("exit", n),
    /^A worker ended with exit code 3 before it called servePool$/,
  ],
};

for (const [what, [trouble, message]] of Object.entries(TROUBLES)) {
  test(`a seat is given up after three workers, and two pauses: ${what}`, () => {
    const clock = new Clock();
    return clock.run(async () => {
      const it = crewOf(clock);
      const start = endOf(it.crew.start());
      for (let n = 1; n <= 3; n++) {
        await clock.pass(10); // each takes a while
        assert.is(it.crew.size, 1, "the seat is kept");
        trouble(it.actors.at(-1)!, n);
        await clock.pass(1000);
      }
      assert.equal(it.made, [0, 110, 1420], "100 ms later, and then 400");
      assert.equal(it.told, ["tries again", "tries again", "failed"]);
      assert.match((start.end as Error).message, message);
      assert.is(it.error, start.end);
      assert.is(it.crew.size, 0);
      assert.equal(it.actors.map(({ terminated }) => terminated), [1, 1, 1]);
    });
  });
}

test("a make that throws is tried again, and its last error is told", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock);
    it.make = () => {
      throw new Error(`no thread left, ${it.made.length}`);
    };
    const start = endOf(it.crew.start());
    await clock.pass(5000);
    assert.equal(it.made, [0, 100, 500]);
    assert.equal(it.told, ["tries again", "tries again", "failed"]);
    assert.is((start.end as Error).message, "no thread left, 3");
  });
});

for (const refuses of [false, true]) {
  const how = refuses ? "at once, if nobody tells its end" : "by its end";
  test(`a worker of the web that an error ends has died: ${how}`, () => {
    const clock = new Clock();
    return clock.run(async () => {
      const it = crewOf(clock, { Kind: WebActor });
      it.refuses = refuses;
      const start = endOf(it.crew.start());
      const [actor] = it.actors;
      actor!.hello();
      await clock.pass(10);
      assert.is(start.end, "ready");
      actor!.emit("error", { message: "no luck", preventDefault() {} });
      assert.is(actor!.terminated, 1);
      if (!refuses) it.exits[0]!();
      assert.equal(it.told, ["7 starts", "7 dies", "died"]);
      assert.is(it.crew.size, 0);
    });
  });
}

test("nothing is kept of workers that have ended", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock);
    // What a worker is put into: lists, maps and sets.
    const kept = new Set<Set<unknown> | Map<unknown, unknown> | unknown[]>();
    const isMember = (value: unknown) =>
      typeof value === "object" && value !== null && "failures" in value;
    const places = [
      [Set.prototype, "add"],
      [Map.prototype, "set"],
      [Array.prototype, "push"],
    ] as unknown as [Record<string, unknown>, string][];
    const restore = places.map(([prototype, name]) => {
      const put = prototype[name] as () => unknown;
      prototype[name] = function (this: Set<unknown>, ...args: unknown[]) {
        if (args.some(isMember)) kept.add(this);
        return Reflect.apply(put, this, args);
      };
      return () => prototype[name] = put;
    });
    try {
      for (let n = 0; n < 30; n++) {
        void it.crew.start();
        it.actors.at(-1)!.hello();
        await clock.pass(10);
        const [member] = it.crew.members;
        if (n % 3 === 0) it.exits.at(-1)!();
        else if (n % 3 === 1) it.crew.dismiss(member!);
        else void it.crew.leave(member!);
        await clock.pass(2000);
      }
    } finally {
      for (const run of restore) run();
    }
    assert.is(it.crew.size, 0);
    assert.ok(kept.size > 0);
    for (const all of kept) {
      assert.is(Array.isArray(all) ? all.length : all.size, 0);
    }
  });
});

test("a worker is ended if its make has ended the pool", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock);
    const make = () => void it.crew.stopAll();
    it.make = make as () => never;
    const start = endOf(it.crew.start());
    await clock.pass(10);
    assert.instance(start.end, ClosedError);
    assert.equal(it.actors.map(({ terminated }) => terminated), [1]);
    assert.is(it.crew.size, 0);
  });
});

test("workers that cannot be terminated keep no others from it", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock);
    const starts = [0, 1, 2].map(() => endOf(it.crew.start()));
    const [one, two, three] = it.actors;
    one!.terminate = () => {
      throw new Error("no end");
    };
    two!.terminate = () => Promise.reject(new Error("no end, either")) as never;
    await it.crew.stopAll();
    assert.is(three!.terminated, 1);
    assert.is(it.crew.size, 0);
    for (const { end } of starts) assert.instance(end, ClosedError);
  });
});

test("a worker that starts at last serves; what earlier ones tell is over", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock);
    const start = endOf(it.crew.start());
    await clock.pass(0);
    it.actors[0]!.emit("error", new Error("no luck"));
    it.actors[0]!.emit("exit", 1); // as Node does
    await clock.pass(100);
    it.actors[0]!.emit("error", new Error("no luck"));
    assert.equal(it.told, ["tries again"]);
    it.actors[1]!.hello();
    await clock.pass(100_000); // longer than any patience
    assert.is(start.end, "ready");
    assert.equal(it.told, ["tries again", "7 starts"]);
    const [member] = it.crew.members;
    assert.equal([it.made.length, member!.state], [2, "ready"]);
  });
});

test("a worker that never serves, or serves other tasks, is not tried again", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const silent = crewOf(clock, { patience: 700 });
    const start = endOf(silent.crew.start());
    await clock.pass(699);
    assert.is(start.end, undefined);
    await clock.pass(10_000);
    assert.match((start.end as Error).message, "servePool within 700 ms");
    assert.equal([silent.made.length, silent.told], [1, ["failed"]]);
    const other = crewOf(clock);
    const refused = new TypeError("another codec");
    other.hello = () => {
      throw refused;
    };
    const second = endOf(other.crew.start());
    await clock.pass(0);
    other.actors[0]!.hello();
    await clock.pass(10_000);
    assert.is(second.end, refused);
    assert.equal([other.made.length, other.told], [1, ["failed"]]);
    const [why] = other.actors[0]!.posted as { what: string; why: string }[];
    assert.equal([why!.what, why!.why], ["refused", "another codec"]);
  });
});

test("time in which this thread stood still does not count for a worker", () => {
  const clock = new Clock();
  return clock.run(async () => {
    for (const inTime of [true, false]) {
      const it = crewOf(clock, { patience: 700 });
      const start = endOf(it.crew.start());
      clock.now += 100_000;
      await clock.pass(699); // what was said meanwhile is heard
      assert.is(start.end, undefined);
      if (inTime) it.actors[0]!.hello();
      await clock.pass(10_000);
      assert.is(start.end === "ready", inTime);
      assert.equal(it.told, [inTime ? "7 starts" : "failed"]);
    }
  });
});

test("a worker that makes its functions is ready when it has", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock, { patience: 700 });
    const start = endOf(it.crew.start());
    await clock.pass(600);
    it.actors[0]!.say("ready"); // before its hello: it is of no use
    it.actors[0]!.hello(true);
    await clock.pass(99);
    assert.equal([start.end, it.told], [undefined, []]);
    it.actors[0]!.say("ready");
    await clock.pass(10_000);
    assert.equal([start.end, it.told], ["ready", ["7 starts"]]);
    it.exits[0]!();
    assert.equal(it.told, ["7 starts", "7 dies", "died"]);
    const slow = crewOf(clock, { patience: 700 });
    const late = endOf(slow.crew.start());
    await clock.pass(1);
    slow.actors[0]!.hello(true);
    await clock.pass(10_000);
    assert.match((late.end as Error).message, "within 700 ms");
  });
});

test("the end of each worker that was ready is told once", () => {
  const clock = new Clock();
  return clock.run(async () => {
    for (const how of ["stop", "leave", "dismiss"] as const) {
      const it = crewOf(clock);
      void it.crew.start();
      await clock.pass(0);
      it.actors[0]!.hello();
      const [member] = it.crew.members;
      void it.crew[how](member!);
      await clock.pass(10_000);
      void it.crew.stopAll();
      const end = how === "dismiss" ? "7 dies" : "7 ends";
      assert.equal(it.told, ["7 starts", end]);
    }
  });
});

test("a message is waited for a while after the end of its worker", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock);
    void it.crew.start();
    await clock.pass(0);
    it.actors[0]!.hello();
    const [member] = it.crew.members;
    const { number } = member!;
    it.crew.expectFrom(number);
    await clock.pass(10_000);
    assert.equal(it.silent, [], "it may come");
    it.exits[0]!();
    await clock.pass(10_000);
    assert.equal(it.silent.splice(0), [number]);
    it.crew.expectFrom(number);
    await clock.pass(50);
    assert.equal(it.silent, [], "it may still come");
    await clock.pass(10_000);
    assert.equal(it.silent, [number]);
  });
});

test("a crew that ends makes no worker after the pause", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock);
    const start = endOf(it.crew.start());
    await clock.pass(0);
    it.actors[0]!.emit("error", new Error("no luck"));
    await clock.pass(50);
    await it.crew.leaveAll();
    await clock.pass(10_000);
    assert.match((start.end as Error).message, "closed before");
    assert.equal([it.made.length, it.crew.size], [1, 0]);
  });
});

test("workers that end without a task count as failures of their seat", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const it = crewOf(clock);
    let failures = 0;
    const lives: number[] = [];
    while (!isTooMany(failures)) {
      const began = clock.now;
      void it.crew.start(failures);
      await clock.pass(400);
      lives.push(it.made.at(-1)! - began);
      it.actors.at(-1)!.hello();
      const [member] = it.crew.members;
      assert.is(member!.failures, failures);
      member!.since = performance.timeOrigin + performance.now();
      it.exits.at(-1)!();
      assert.is(it.told.at(-1), "died");
      failures = failuresAfter(member!, false);
      // One that did a task when it ended, or before, is none.
      assert.is(failuresAfter(member!, true), 0);
      assert.is(failuresAfter({ ...member!, tasks: 1 }, false), 0);
      await clock.pass(9_999);
      assert.is(failuresAfter(member!, false), failures, "10 s are not long");
      await clock.pass(2);
      assert.is(failuresAfter(member!, false), 0, "it has waited for long");
    }
    assert.equal(lives, [0, 100, 400]);
    assert.is(failures, 3);
  });
});

test("a staff starts a worker for each that is missing, unless too many failed", () => {
  for (const failures of [0, 1, 2, 3, Infinity]) {
    const started: number[] = [];
    const staff = new Staff({
      jobs: new Jobs(() => {}, () => {}),
      poster: undefined as never, // there are no orders
      size: () => 1 + started.length,
      hanging: () => 0,
      start: (failures) => {
        started.push(failures);
        return Promise.resolve();
      },
      ordered: () => {},
    });
    staff.range(2, 2);
    staff.balance(failures);
    const isLost = failures >= 3;
    assert.equal(started, isLost ? [] : [failures]);
    assert.equal(
      [staff.workers, staff.min, staff.max],
      Array(3).fill(isLost ? 1 : 2),
    );
  }
});

/** What happens to a staff. */
const event = fc.oneof(
  fc.record({ submit: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ end: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ pass: fc.integer({ min: 1, max: 250 }) }),
  fc.record({ giveUp: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ let: fc.integer({ min: 1, max: 3 }) }),
  fc.constant({ lose: true }),
  fc.constant({ obey: true }),
);

test("a staff has as many workers as its tasks need, within its range", () => {
  const range = fc.record({
    min: fc.nat(3),
    more: fc.integer({ min: 1, max: 4 }),
  });
  const limits = fc.integer({ min: 1, max: 3 });
  const events = fc.array(event, { maxLength: 60 });
  return fc.assert(
    fc.asyncProperty(range, limits, events, ({ min, more }, limit, events) => {
      const clock = new Clock();
      const max = min + more;
      return clock.run(async () => {
        let size = 0;
        let hanging = 0;
        const jobs = new Jobs(() => {}, () => {});
        const open: Job[] = [];
        const needed = () =>
          Math.min(Math.ceil((open.length + hanging) / limit), max);
        const nobody = { resolve: () => {}, reject: () => {} };
        const staff = new Staff({
          jobs,
          poster: {
            order: (job: Job) => jobs.move(job, "waiting"),
            takeBack: (job: Job) => (jobs.resolve(job, undefined), true),
          } as never,
          size: () => size,
          hanging: () => hanging,
          start: () => (size++, Promise.resolve()),
          ordered: () => {},
        });
        staff.limit = limit;
        staff.idle = 100;
        staff.range(min, max);
        staff.balance();
        const obey = () => {
          for (const order of [...staff.orders]) {
            size--;
            jobs.resolve(order, undefined);
          }
        };
        const settle = async () => {
          staff.rest();
          await clock.pass(0);
          const tasks = Math.min(Math.ceil(open.length / limit), max);
          assert.ok(staff.workers >= Math.max(tasks, min), "too few");
          assert.ok(staff.workers <= max, "too many");
          assert.is(size - staff.orders.size, staff.workers);
        };
        for (const it of events) {
          if ("submit" in it) {
            for (let i = 0; i < it.submit; i++) {
              const job = jobs.make({} as never, 0, 0, nobody);
              jobs.move(job, "waiting");
              open.push(job);
              staff.grow();
            }
            await clock.pass(0);
            assert.ok(
              staff.workers >= needed(),
              "too few beside given up ones",
            );
          } else if ("end" in it) {
            for (const job of open.splice(0, it.end)) jobs.resolve(job, 0);
          } else if ("giveUp" in it) {
            for (const job of open.splice(0, it.giveUp)) {
              jobs.reject(job, 0);
              hanging++;
            }
          } else if ("let" in it) hanging = Math.max(hanging - it.let, 0);
          else if ("pass" in it) await clock.pass(it.pass);
          else if ("obey" in it) obey();
          else if (size > 0) {
            size--;
            staff.balance();
          }
          await settle();
        }
        await clock.pass(201);
        obey();
        await settle();
        assert.is(size, Math.max(needed(), min), "who idles has ended");
        staff.end();
      });
    }),
    { numRuns: 300 },
  );
});

test("a staff that has ended starts nobody", () => {
  const clock = new Clock();
  return clock.run(async () => {
    const started: number[] = [];
    const jobs = new Jobs(() => {}, () => {});
    const staff = new Staff({
      jobs,
      poster: undefined as never, // there are no orders
      size: () => started.length,
      hanging: () => 0,
      start: (failures) => (started.push(failures), Promise.resolve()),
      ordered: () => {},
    });
    staff.range(0, 2);
    const job = jobs.make({} as never, 0, 0, undefined as never);
    jobs.move(job, "waiting");
    staff.grow();
    staff.end();
    await clock.pass(1000);
    assert.equal(started, []);
  });
});
