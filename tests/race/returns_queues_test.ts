// it explores
// What an agent saw in an operation of a queue is left out of its state when
// the operation has returned: the same ends and failures, of fewer states.
import fc from "../_run/property.ts";
import * as fs from "node:fs";
import process from "node:process";
import * as assert from "uvu/assert";
import {
  Broadcast,
  Channel,
  codec,
  Latch,
  lockFree,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  type Subscription,
} from "../../mod.ts";
import { SeatCore } from "../../primitives/_queue/broadcast_core.ts";
import { type Options, race, RaceError, type Result } from "../../race/mod.ts";
import { all } from "../_run/depth.ts";
import { suite } from "../_run/harness.ts";
import { endsSeen } from "./ends.ts";

const test = suite("race returned operations of queues", 120_000);

type Queue = MpmcQueue | LockFreeQueue;

const QUEUES = { MpmcQueue, LockFreeQueue };
type Name = keyof typeof QUEUES;

const CONFIG = { capacity: 2, elementSize: 4 };
/** Where agents say what they saw. */
const SEEN = 2048;

function memoryOf(name: Name): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(SEEN + 16);
  QUEUES[name].init(memory, 0, CONFIG);
  return memory;
}

/** What agents can do with a queue; each answers a number. */
const ACTIONS: Readonly<Record<string, (queue: Queue) => number>> = {
  push: (queue) => (queue.pushInt(1), 0),
  other: (queue) => Number(queue.tryPushInt(2)),
  late: (queue) => Number(queue.tryPushInt(3, 5)),
  pop: (queue) => queue.popInt(),
  look: (queue) => queue.tryPopInt() ?? 8,
  wait: (queue) => queue.tryPopInt(5) ?? 8,
  many: (queue) => queue.tryPushMany(new Int32Array([4, 5]), 2),
  close: (queue) => (queue.close(), 0),
};

/** How a program of agents can end, and what was found. */
function endsOf(
  name: Name,
  agents: readonly (readonly string[])[],
  options: Options,
) {
  const bodies = agents.map((names, id) => (memory: SharedArrayBuffer) => {
    const queue = new QUEUES[name](memory);
    let all = 0;
    try {
      for (const name of names) all = 10 * all + ACTIONS[name]!(queue);
    } catch {
      all = 10 * all + 9; // it is closed
    }
    Atomics.store(new Int32Array(memory, SEEN), id, all);
  });
  return endsSeen((see) =>
    race.agents({ memory: () => memoryOf(name) }, ...bodies, {
      states: 30_000,
      time: 60_000,
      runs: 0,
      shorten: false,
      ...options,
      after(memory: SharedArrayBuffer) {
        see(`${new Int32Array(memory, SEEN)}`);
      },
    }) as Result
  );
}

test("random programs end as they do without", () => {
  const action = fc.constantFrom(...Object.keys(ACTIONS));
  const calls = fc.array(action, { minLength: 1, maxLength: 2 });
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? (all() ? 40 : 8));
  const programs = fc.sample(
    fc.tuple(
      fc.constantFrom("MpmcQueue", "LockFreeQueue"),
      fc.oneof(
        fc.tuple(calls, calls),
        fc.tuple(calls, action.map((a) => [a]), action.map((a) => [a])),
      ),
    ),
    { numRuns, seed: 5 },
  );
  let [compared, fewer] = [0, 0];
  for (const [name, agents] of programs) {
    const [plain, whole] = endsOf(name, agents, { reduce: false });
    if (whole.ok && !whole.complete) continue;
    const [ends, reduced] = endsOf(name, agents, {});
    assert.equal(ends, plain, `${name} ${agents.join(" | ")}`);
    assert.is(reduced.complete, whole.complete, agents.join(" | "));
    compared++;
    if (reduced.states < whole.states) fewer++;
  }
  assert.ok(compared > numRuns / 3, `${compared} programs`);
  assert.ok(fewer > compared / 2, `${fewer} of ${compared} programs`);
});

test("two producers and a consumer that wait have few states", () => {
  const pushes = (memory: SharedArrayBuffer) =>
    new MpmcQueue(memory).pushInt(1);
  const pops = (memory: SharedArrayBuffer) => {
    const queue = new MpmcQueue(memory);
    return queue.popInt() + queue.popInt();
  };
  const queue = { memory: () => memoryOf("MpmcQueue") };
  const result = race.agents(queue, pushes, pushes, pops) as Result;
  assert.ok(result.complete);
  assert.ok(result.states < 40_000, `${result.states} states`);
  // Rounds of waits are one, so no loop counts as endless.
  assert.equal(result.bounds ?? [], []);
});

test("a timed operation is another one than the look in it", () => {
  // If the two were one, the search would begin again, with all states.
  for (const [name, most] of [["MpmcQueue", 1100], ["LockFreeQueue", 900]]) {
    const pops = (memory: SharedArrayBuffer) =>
      new QUEUES[name as Name](memory).tryPopInt(5);
    const queue = { memory: () => memoryOf(name as Name) };
    const result = race.agents(queue, pops, pops) as Result;
    assert.ok(result.complete);
    assert.ok(result.states < Number(most), `${name}: ${result.states} states`);
  }
});

/** A queue whose view keeps whether it was empty when it was pushed to. */
class Over extends MpmcQueue {
  #empty = 0;
  override pushInt(value: number): void {
    this.#empty += this.size === 0 ? 1 : 0;
    super.pushInt(value + this.#empty);
  }
}

test("a user's class over a queue may keep something", () => {
  const states = (reduce: boolean) => {
    const body = (memory: SharedArrayBuffer) => {
      const queue = new Over(memory);
      queue.pushInt(4);
      queue.tryPopInt();
    };
    const queue = { memory: () => memoryOf("MpmcQueue") };
    const o: Options = { reduce: reduce ? "remembered" : false };
    const result = race.agents(queue, body, body, o) as Result;
    assert.ok(result.complete);
    return result.states;
  };
  assert.is(states(true), states(false));
});

/** What agents can do with a channel or a broadcast; see `ACTIONS`. */
interface Line {
  readonly actions: Readonly<Record<string, () => number>>;
}

const LINES: Readonly<Record<string, (memory: SharedArrayBuffer) => Line>> = {
  i32: (memory) => channelOf(new Channel(memory, 0, { codec: codec.i32 })),
  value: (memory) => channelOf(new Channel<number>(memory)),
  lockFree: (memory) => {
    const config = { codec: codec.i32, carrier: lockFree };
    return channelOf(new Channel(memory, 0, config));
  },
  tracked(memory) {
    const channel = new Channel(memory, 0, { codec: codec.i32 });
    return {
      actions: {
        push: () => (channel.send(1), 0),
        other: () => Number(channel.trySend(2)),
        pop: () => channel.receive(),
        look: () => channel.tryReceive() ?? 8,
        sit: () => (channel.sender(), channel.senders),
        leave: () => (channel.leaveSender(), 0),
      },
    };
  },
  ring(memory) {
    const ring = new RecordRing(memory);
    return {
      actions: {
        push: () => (ring.push(new Uint8Array([1])), 0),
        other: () => Number(ring.tryPush(new Uint8Array([2, 3]))),
        pop: () => ring.pop().length,
        look: () => ring.tryPop()?.[0] ?? 8,
        close: () => (ring.close(), 0),
      },
    };
  },
  broadcast(memory) {
    const all = new Broadcast(memory);
    let seat: Subscription | undefined;
    return {
      actions: {
        push: () => (all.pushInt(1), 0),
        other: () => Number(all.tryPushInt(2)),
        sit: () => (seat ??= all.subscribe()).size,
        look: () => (seat ??= all.subscribe()).tryPopInt() ?? 8,
        leave: () => (seat?.leave(), seat = undefined, 0),
        close: () => (all.close(), 0),
      },
    };
  },
};
type LineName =
  | "i32"
  | "value"
  | "lockFree"
  | "tracked"
  | "ring"
  | "broadcast";

const channelOf = (channel: Channel<number>): Line => ({
  actions: {
    push: () => (channel.send(1), 0),
    other: () => Number(channel.trySend(2)),
    late: () => Number(channel.trySend(3, 5)),
    pop: () => channel.receive(),
    look: () => channel.tryReceive() ?? 8,
    close: () => (channel.close(), 0),
  },
});

const FAR = 16_384;

function lineMemory(name: LineName): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(FAR + 16);
  if (name === "ring") RecordRing.init(memory, 0, { capacity: 64 });
  else if (name === "broadcast") {
    const slow = { slow: "drop", subscribers: 2 } as const;
    Broadcast.init(memory, 0, { capacity: 2, ...slow });
  } else if (name === "value") {
    Channel.init<number>(memory, 0, { capacity: 1 });
  } else {
    const carrier = name === "lockFree" ? { carrier: lockFree } : {};
    const tracked = name === "tracked" ? { tracked: 2 } : {};
    const config = { codec: codec.i32, capacity: 2, ...carrier, ...tracked };
    Channel.init(memory, 0, config);
  }
  return memory;
}

/** As `endsOf`, for a channel, a ring or a broadcast. */
function lineEnds(
  name: LineName,
  agents: readonly (readonly number[])[],
  options: Options,
) {
  const bodies = agents.map((numbers, id) => (memory: SharedArrayBuffer) => {
    const { actions } = LINES[name]!(memory);
    const list = Object.values(actions);
    let all = 0;
    try {
      for (const n of numbers) all = 10 * all + list[n % list.length]!();
    } catch {
      all = 10 * all + 9; // it is closed
    }
    Atomics.store(new Int32Array(memory, FAR), id, all);
  });
  return endsSeen((see) =>
    race.agents({ memory: () => lineMemory(name) }, ...bodies, {
      states: 30_000,
      time: 60_000,
      runs: 0,
      shorten: false,
      ...options,
      after(memory: SharedArrayBuffer) {
        see(`${new Int32Array(memory, FAR)}`);
      },
    }) as Result
  );
}

test("random programs of channels, rings and broadcasts end as without", () => {
  const calls = fc.array(fc.nat(5), { minLength: 1, maxLength: 2 });
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? (all() ? 60 : 10));
  const name = fc.constantFrom(...Object.keys(LINES) as LineName[]);
  const programs = fc.sample(fc.tuple(name, calls, calls), {
    numRuns,
    seed: 3,
  });
  let [compared, fewer] = [0, 0];
  for (const [name, ...agents] of programs) {
    const [plain, whole] = lineEnds(name, agents, { reduce: false });
    if (whole.ok && !whole.complete) continue;
    const [ends, reduced] = lineEnds(name, agents, {});
    assert.equal(ends, plain, `${name} ${agents.join(" | ")}`);
    assert.is(
      reduced.complete,
      whole.complete,
      `${name} ${agents.join(" | ")}`,
    );
    compared++;
    if (reduced.states < whole.states) fewer++;
  }
  assert.ok(compared > numRuns / 3, `${compared} programs`);
  assert.ok(fewer > compared / 2, `${fewer} of ${compared} programs`);
});

/** An element that is read twice: once by each of two seats. */
function readers(count: number): Result {
  const push = (memory: SharedArrayBuffer) => {
    const all = new Broadcast(memory);
    all.pushInt(7);
    all.close();
  };
  const read = (memory: SharedArrayBuffer) => {
    const seat = new Broadcast(memory).subscribe();
    let sum = 0;
    try {
      for (;;) sum += seat.popInt();
    } catch {
      return sum; // it is closed
    }
  };
  const memory = () => {
    const memory = new SharedArrayBuffer(4096);
    Broadcast.init(memory, 0, { capacity: 2, subscribers: count });
    return memory;
  };
  const agents = [push, ...Array(count).fill(read)];
  return race.agents({ memory }, ...agents, { time: 60_000 }) as Result;
}

test("a broadcast to a reader has few states, to two it has an end", () => {
  const one = readers(1);
  assert.ok(one.complete);
  assert.ok(one.states < 1000, `${one.states} states`);
  if (!all()) return;
  const two = readers(2);
  assert.ok(two.complete, two.summary);
  assert.ok(two.states < 400_000, `${two.states} states`);
});

test("two senders and a receiver of a channel have an end", () => {
  if (!all()) return;
  const memory = () => {
    const memory = new SharedArrayBuffer(65_536);
    Channel.init<number>(memory, 0, { capacity: 2 });
    return memory;
  };
  const send = (memory: SharedArrayBuffer) => {
    new Channel<number>(memory).send(1);
  };
  const receive = (memory: SharedArrayBuffer) =>
    new Channel<number>(memory).receive();
  const o = { time: 60_000 };
  const result = race.agents({ memory }, send, send, receive, o) as Result;
  assert.ok(result.complete, result.summary);
  assert.ok(result.states < 250_000, `${result.states} states`);
});

/** What a reader does that saw one element, and pops when there may be two. */
const peeks = (memory: SharedArrayBuffer) => {
  const seat = new Broadcast(memory).subscribe();
  const first = seat.tryPopInt() ?? 0;
  const second = seat.tryPopInt() ?? 0;
  Atomics.store(new Int32Array(memory, FAR), 1, 10 * first + second);
};

test("a seat that keeps more than it says is noticed", () => {
  const states = (options: Options): number => {
    const memory = () => lineMemory("broadcast");
    const push = (memory: SharedArrayBuffer) => {
      const all = new Broadcast(memory);
      all.tryPushInt(1);
      all.tryPushInt(2);
    };
    const o = { time: 60_000, ...options };
    const result = race.agents({ memory }, push, peeks, o) as Result;
    assert.ok(result.complete, result.summary);
    return result.states;
  };
  const fewer = states({});
  const prototype = SeatCore.prototype as unknown as { explored(): unknown[] };
  const { explored } = prototype;
  prototype.explored = () => [];
  try {
    // The search began again, and left nothing out.
    assert.ok(states({}) > fewer);
  } finally {
    prototype.explored = explored;
  }
});

test("a channel that counts its ends has as few states as another", () => {
  const states = (tracked: number): number => {
    const config = { codec: codec.i32, capacity: 2, tracked };
    const memory = () => {
      const memory = new SharedArrayBuffer(FAR + Latch.byteLength());
      Channel.init(memory, 0, config);
      Latch.init(memory, FAR, 1);
      return memory;
    };
    const send = (memory: SharedArrayBuffer) => {
      const channel = new Channel(memory, 0, config);
      if (tracked > 0) channel.sender();
      new Latch(memory, FAR).countDown();
      channel.send(1);
      if (tracked > 0) channel.leaveSender();
      else channel.close();
    };
    const receive = (memory: SharedArrayBuffer) => {
      new Latch(memory, FAR).wait();
      const channel = new Channel(memory, 0, config);
      let sum = 0;
      try {
        for (;;) sum += channel.receive();
      } catch {
        return sum; // it is closed
      }
    };
    const o = { time: 60_000 };
    const result = race.agents({ memory }, send, receive, o) as Result;
    assert.ok(result.complete, result.summary);
    assert.equal(result.bounds ?? [], []);
    return result.states;
  };
  const few = states(0);
  assert.ok(few < 4000, `${few} states`);
  const counted = states(2);
  assert.ok(counted < 2 * few, `${counted} states of ${few}`);
});

test("who receives what another one takes is found to hang", () => {
  const memory = () => lineMemory("i32");
  const send = (memory: SharedArrayBuffer) => {
    new Channel(memory, 0, { codec: codec.i32 }).send(1);
  };
  const receive = (memory: SharedArrayBuffer) => {
    const channel = new Channel(memory, 0, { codec: codec.i32 });
    if (channel.size > 0) channel.receive(); // another one may be faster
  };
  assert.throws(
    () => race.agents({ memory }, send, receive, receive, { time: 60_000 }),
    (error: unknown) =>
      error instanceof RaceError && error.result.failure?.kind === "deadlock",
  );
});

test("a user's class over a channel or a broadcast may keep something", () => {
  class Own extends Broadcast {
    #busy = 0;
    override pushInt(value: number): void {
      this.#busy += this.subscribers;
      super.pushInt(value + this.#busy);
    }
  }
  const states = (reduce: boolean) => {
    const push = (memory: SharedArrayBuffer) => {
      const all = new Own(memory);
      all.pushInt(1);
      all.pushInt(2);
    };
    const sit = (memory: SharedArrayBuffer) => {
      new Own(memory).subscribe();
    };
    const memory = () => lineMemory("broadcast");
    const o: Options = { reduce: reduce ? "remembered" : false };
    const result = race.agents({ memory }, push, sit, o) as Result;
    assert.ok(result.complete);
    return result.states;
  };
  assert.is(states(true), states(false));
});

/**
 * The fields of views of queues that change, and the operations that use them:
 * those of the table write them before they read them, or do not use them.
 */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  "mpmc/core.ts": ["#reserved", "#peeked", "#claimed"],
  "lock_free/core.ts": ["#reserved", "#peeked", "#ticket"],
  "queue.ts": ["#spunAt", "#initialDelay", "#spare"],
  "queue_core.ts": [],
};

/** What uses such a field, but for what writes it first. */
const USES: Readonly<Record<string, readonly string[]>> = {
  "#reserved": ["reserve", "commit"],
  "#peeked": ["peek", "consume"],
  "#claimed": ["tryPushMany", "tryPopMany"], // behind `#claimPush`, `#claimPop`
  "#ticket": ["tryPushMany", "tryPushInt"], // behind `#claim`
  "#spunAt": ["#delayAt"], // only where it spins
  "#initialDelay": ["#delayAt"],
  "#spare": ["#take"], // an array to fill, for operations that return one
};

test("views of queues keep nothing that operations of the table see", () => {
  for (const [file, expected] of Object.entries(CHANGES)) {
    const url = new URL(`../../primitives/_queue/${file}`, import.meta.url);
    const source = fs.readFileSync(url, "utf8");
    const fields = [
      ...source.matchAll(/^ {2,4}(#\w+)(?:: [^=(\n]*| = [^(\n]*);$/gm),
    ].map(([, name]) => name!);
    assert.equal(fields, expected, file);
    for (const field of fields) {
      const users = new Set<string>();
      for (
        const { index } of source.matchAll(new RegExp(`this.${field}`, "g"))
      ) {
        const rest = source.slice(index);
        if (/^this\.#(claimed|ticket) = /.test(rest)) continue;
        const heads = source.slice(0, index).matchAll(
          /^ {2,4}(?:override )?(?!if|for|while)(#?\w+)\(.*\{$/gm,
        );
        users.add([...heads].at(-1)![1]!);
      }
      assert.equal([...users], USES[field], `${file} ${field}`);
    }
  }
});

/** Classes that say what they keep, and fields that change and need not be. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  "_queue/record/claim.ts RecordClaim": [],
  "_queue/record/core.ts RecordCore": [],
  "_queue/record/ends.ts RecordEnds": [],
  "record_ring.ts RecordRing": ["#reads"], // an agent has set it itself
  "_queue/channel/core.ts ChannelCore": [],
  "_queue/channel/bytes.ts ChannelBytes": [],
  "channel.ts Channel": [],
  "_queue/channel/ends.ts Ends": [],
  "_memory/tracked.ts Rows": [],
  "_memory/tracked.ts Tracked": [],
  "_queue/broadcast_core.ts BroadcastCore": [],
  "_queue/broadcast_core.ts SeatCore": [],
  "broadcast.ts Broadcast": [],
  "broadcast.ts Subscription": ["#spare"], // an array to fill
};

test("views say all fields that change", () => {
  for (const [place, rest] of Object.entries(TOLD)) {
    const [file, name] = place.split(" ");
    const url = new URL(`../../primitives/${file}`, import.meta.url);
    const source = fs.readFileSync(url, "utf8");
    const [, after] = source.split(new RegExp(`^export class ${name}\\b`, "m"));
    const body = after!.split("\n}\n")[0]!;
    const fields = [
      ...body.matchAll(/^ {2}(#\w+)(?:\??: [^(\n]*| = [^(\n]*);$/gm),
    ].map(([, field]) => field!);
    const told = /\bexplored\(\): unknown\[\] \{\n([^}]*)\}/.exec(body)?.[1];
    for (const field of fields) {
      const is = rest.includes(field) || told?.includes(`this.${field}`);
      assert.ok(is, `${place} ${field}`);
    }
  }
});
