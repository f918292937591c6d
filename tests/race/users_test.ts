// it explores
// Programs as a new user writes them, right and subtly wrong, and their
// verdicts: over the primitives of this library, and over bare atomics.
import * as assert from "uvu/assert";
import {
  Broadcast,
  Channel,
  codec,
  Condition,
  Event,
  HashMap,
  MpmcQueue,
  Mutex,
  RwLock,
  select,
  WaitGroup,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import { race, RaceError } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race users' programs", 60_000);

type Memory = SharedArrayBuffer;

/** Where the programs' own words are. */
const OWN = 61440;
const own = (memory: Memory) => new Int32Array(memory, OWN);

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

interface Program {
  init?(memory: Memory): void;
  readonly agents: readonly ((memory: Memory) => unknown)[];
  after?(memory: Memory, results: unknown[]): void;
}

/** The kind of failure, or "" where all is explored and right. */
function verdict({ init, agents, after = () => {} }: Program): string {
  const memory = () => {
    const memory = new SharedArrayBuffer(65536);
    init?.(memory);
    return memory;
  };
  try {
    const found = race.agents({ memory }, ...agents, { after, runs: 0 });
    assert.ok(found.complete, found.summary);
    return "";
  } catch (error) {
    if (!(error instanceof RaceError)) throw error;
    return error.result.failure!.kind;
  }
}

/** The same agent twice. */
const two = (agent: (memory: Memory) => unknown) => [agent, agent];

/** Each program, and its verdict. */
const PROGRAMS: Record<string, [kind: string, Program]> = {};

const selects = (times: number): Program => ({
  init(memory) {
    Channel.init(memory, 0, { capacity: 2 });
    Channel.init(memory, 8192, { capacity: 2 });
  },
  agents: [
    (memory) => new Channel<number>(memory).send(1),
    (memory) => new Channel<number>(memory, 8192).send(2),
    (memory) => {
      const channels = [
        new Channel<number>(memory),
        new Channel<number>(memory, 8192),
      ];
      let sum = 0;
      for (let i = 0; i < times; i++) {
        sum += select.blocking(channels)!.value as number;
      }
      return sum;
    },
  ],
  after: (_, results) => must(results[2] === 3, `the sum is ${results[2]}`),
});
PROGRAMS["select from two channels"] = ["", selects(2)];
PROGRAMS["select once too often"] = ["deadlock", selects(3)];

const CODECS = { key: codec.i32, value: codec.i32 };
const mapOf = (memory: Memory) => new HashMap(memory, 0, CODECS);
const initMap = (memory: Memory) => {
  HashMap.init(memory, 0, { capacity: 8, ...CODECS });
};

const counts = (count: (map: HashMap<number, number>) => void): Program => ({
  init: initMap,
  agents: two((memory) => count(mapOf(memory))),
  after: (memory) => must(mapOf(memory).get(1) === 2, "an update is lost"),
});
PROGRAMS["a map's update"] = [
  "",
  counts((map) => map.update(1, (old) => (old ?? 0) + 1)),
];
PROGRAMS["a map's get and set"] = [
  "invariant",
  counts((map) => map.set(1, (map.get(1) ?? 0) + 1)),
];

const claims = (
  claim: (map: HashMap<number, number>, id: number) => unknown,
): Program => ({
  init: initMap,
  agents: [1, 2].map((id) => (memory) => claim(mapOf(memory), id)),
  after: (_, [one, other]) => must(one === other, "two owners"),
});
PROGRAMS["a claim in a map"] = [
  "",
  claims((map, id) => map.getOrInsert(5, () => id)),
];
PROGRAMS["a claim by two operations"] = [
  "invariant",
  claims((map, id) => {
    if (!map.has(5)) map.set(5, id);
    return map.get(5);
  }),
];

const group = (inside: boolean): Program => {
  const works = (memory: Memory) => {
    const all = new WaitGroup(memory);
    if (inside) all.add();
    Atomics.add(own(memory), 0, 1);
    all.done();
  };
  return {
    init(memory) {
      WaitGroup.init(memory, 0);
      if (!inside) new WaitGroup(memory).add(2);
    },
    agents: [
      (memory) => {
        new WaitGroup(memory).wait();
        must(Atomics.load(own(memory), 0) === 2, "it did not wait");
      },
      ...two(works),
    ],
  };
};
PROGRAMS["added to a group before"] = ["", group(false)];
PROGRAMS["added to a group by the workers"] = ["exception", group(true)];

PROGRAMS["two upgrade while they read"] = ["deadlock", {
  agents: two((memory) => {
    const lock = new RwLock(memory);
    lock.read();
    lock.write();
    own(memory)[0]!++;
    lock.unlockWrite();
    lock.unlockRead();
  }),
}];

const rereads = (downgrades: boolean): Program => ({
  agents: [1, 2].map((id) => (memory) => {
    const lock = new RwLock(memory);
    lock.write();
    own(memory)[0] = id;
    if (downgrades) lock.downgrade();
    else {
      lock.unlockWrite();
      lock.read();
    }
    must(own(memory)[0] === id, "somebody wrote meanwhile");
    lock.unlockRead();
  }),
});
PROGRAMS["a downgrade"] = ["", rereads(true)];
PROGRAMS["unlocks, and reads again"] = ["exception", rereads(false)];

const lazy = (flag: (words: Int32Array, set: boolean) => number): Program => ({
  agents: two((memory) => {
    const words = own(memory);
    if (flag(words, false) === 0) {
      new Mutex(memory).run(() => {
        if (words[0] !== 0) return;
        words[1] = 42;
        flag(words, true);
      });
    }
    must(words[1] === 42, "it is not made");
  }),
});
PROGRAMS["made once, behind an atomic flag"] = [
  "",
  lazy((words, set) =>
    set ? Atomics.store(words, 0, 1) : Atomics.load(words, 0)
  ),
];
PROGRAMS["made once, behind a plain flag"] = [
  "data-race",
  lazy((words, set) => set ? words[0] = 1 : words[0]!),
];

const buffers = (early: boolean): Program => ({
  init(memory) {
    const pool = MpmcQueue.init(memory, 0, { capacity: 2, elementSize: 4 });
    pool.pushInt(0);
    if (!early) pool.pushInt(1);
  },
  agents: two((memory) => {
    const pool = new MpmcQueue(memory);
    const buffer = pool.popInt();
    if (early) pool.pushInt(buffer);
    own(memory)[buffer] = 1;
    if (!early) pool.pushInt(buffer);
  }),
});
PROGRAMS["buffers in a queue"] = ["", buffers(false)];
PROGRAMS["buffers that are given back early"] = ["data-race", buffers(true)];

const tickets = (n: number, count: number): Program => ({
  agents: Array(n).fill((memory: Memory) => {
    const words = own(memory);
    const ticket = Atomics.add(words, 0, 1);
    for (let served; (served = Atomics.load(words, 1)) !== ticket;) {
      Atomics.wait(words, 1, served);
    }
    words[2]!++;
    Atomics.add(words, 1, 1);
    Atomics.notify(words, 1, count);
  }),
});
PROGRAMS["a ticket lock that tells all"] = ["", tickets(3, Infinity)];
PROGRAMS["a ticket lock that tells one"] = ["deadlock", tickets(3, 1)];

PROGRAMS["indices of a counter of work"] = ["", {
  init: (memory) => void WorkCounter.init(memory, 0, 3),
  agents: two((memory) => {
    const work = new WorkCounter(memory);
    let mine = 0;
    for (let i = work.next(); i >= 0; i = work.next()) {
      mine |= 1 << i;
      work.done();
    }
    return mine;
  }),
  after: (_, [one, other]) =>
    must((one as number) + (other as number) === 7, "not each of them once"),
}];

PROGRAMS["an owner and a thief"] = ["", {
  init: (memory) => void WorkDeque.init(memory, 0, { capacity: 4 }),
  agents: [
    (memory) => {
      const deque = new WorkDeque(memory);
      deque.push(1);
      deque.push(2);
      return (deque.pop() ?? 0) + (deque.pop() ?? 0);
    },
    (memory) => new WorkDeque(memory).steal() ?? 0,
  ],
  after: (_, [one, other]) =>
    must((one as number) + (other as number) === 3, "lost, or had twice"),
}];

const ticks = (waits: boolean): Program => ({
  init(memory) {
    Broadcast.init(memory, 0, { capacity: 2, elementSize: 4, subscribers: 1 });
    WaitGroup.init(memory, 8192).add();
  },
  agents: [
    (memory) => {
      if (waits) new WaitGroup(memory, 8192).wait();
      // Whoever subscribes counts before it is sure to see what is pushed.
      else while (new Broadcast(memory).subscribers === 0);
      const all = new Broadcast(memory);
      all.pushInt(5);
      all.close();
    },
    (memory) => {
      const mine = new Broadcast(memory).subscribe();
      new WaitGroup(memory, 8192).done();
      must(mine.popInt() === 5, "another one"); // fails if it is missed
    },
  ],
});
PROGRAMS["a broadcast after all subscribed"] = ["", ticks(true)];
PROGRAMS["a broadcast after they began to subscribe"] = [
  "exception",
  ticks(false),
];

const gate = (opens: (gate: Condition) => void): Program => {
  const waits = (memory: Memory) => {
    const mutex = new Mutex(memory);
    const gate = new Condition(memory, 512);
    mutex.run(() => {
      while (own(memory)[0] === 0) gate.wait(mutex);
    });
  };
  return {
    agents: [...two(waits), (memory) => {
      new Mutex(memory).run(() => {
        own(memory)[0] = 1;
        opens(new Condition(memory, 512));
      });
    }],
  };
};
PROGRAMS["a gate that tells all"] = ["", gate((gate) => gate.notifyAll())];
PROGRAMS["a gate that tells one"] = ["deadlock", gate((gate) => gate.notify())];

PROGRAMS["an event that is reset at once"] = ["deadlock", {
  init: (memory) => void Event.init(memory, 0),
  agents: [
    (memory) => {
      const event = new Event(memory);
      event.set();
      event.reset();
    },
    (memory) => new Event(memory).wait(),
  ],
}];

for (const [name, [kind, program]] of Object.entries(PROGRAMS)) {
  test(`${name}: ${kind || "right"}`, () => {
    assert.is(verdict(program), kind);
  });
}
