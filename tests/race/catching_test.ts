// it explores
// Agents that catch whatever is thrown and try again also catch the token that
// suspends them. Each is explored all the same.
import * as assert from "uvu/assert";
import { Mutex, Once, Semaphore } from "../../mod.ts";
import { race } from "../../race/mod.ts";
import { all, FIRST_SPINS } from "../_run/depth.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race catching", 60_000);

/** For how many operations a loop is followed. */
const FOLLOWED = all() ? {} : { spins: FIRST_SPINS };

type Memory = SharedArrayBuffer;

/** Where the programs' own words are. */
const OWN = 256;
const own = (memory: Memory) => new Int32Array(memory, OWN);

/** Calls `attempt` until it throws nothing. */
function persist(attempt: () => void): void {
  for (;;) {
    try {
      return attempt();
    } catch {
      // again, whatever it was
    }
  }
}

interface Program {
  init?(memory: Memory): void;
  readonly agent: (memory: Memory) => unknown;
  readonly agents: number;
  /** What its own words hold at the end. */
  readonly words: readonly number[];
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  "a once whose first function fails": {
    init: (memory) => void Once.init(memory, 0),
    agent(memory) {
      const once = new Once(memory);
      const [tries, value] = [own(memory), own(memory).subarray(1)];
      persist(() =>
        once.run(() => {
          if (tries[0]!++ === 0) throw new Error("the first one fails");
          value[0] = 7;
        })
      );
      if (value[0] !== 7) throw new Error("it was not run");
    },
    agents: 2,
    words: [2, 7],
  },
  "a mutex that its owner seems to have already": {
    agent: (memory) =>
      persist(() => new Mutex(memory).run(() => own(memory)[0]!++)),
    agents: 3,
    words: [3, 0],
  },
  "a lock that throws while it is taken": {
    agent: (memory) =>
      persist(() => {
        const words = own(memory);
        if (Atomics.compareExchange(words, 0, 0, 1) !== 0) throw new Error();
        words[1]!++;
        Atomics.store(words, 0, 0);
      }),
    agents: 2,
    words: [0, 2],
  },
  "64 bits": {
    agent: (memory) =>
      persist(() => {
        const [word] = [new BigInt64Array(memory, 128, 1)];
        if (Atomics.exchange(word!, 0, 1n) !== 0n) throw new Error();
        own(memory)[0]!++;
        Atomics.store(word!, 0, 0n);
      }),
    agents: 2,
    words: [2, 0],
  },
};

for (const [name, { init, agent, agents, words }] of Object.entries(PROGRAMS)) {
  test(`${name} is explored to its end`, () => {
    const memory = () => {
      const memory = new SharedArrayBuffer(OWN + 8);
      init?.(memory);
      return memory;
    };
    const after = (memory: Memory) => {
      if (`${own(memory)}` !== `${words}`) return `it is ${own(memory)}`;
    };
    const bodies = Array.from({ length: agents }, () => agent);
    const o = { after, ...FOLLOWED };
    assert.is(race.agents({ memory }, ...bodies, o).complete, true);
  });
}

test("a mistake in such a loop is found", () => {
  const taken = (memory: Memory) =>
    persist(() => {
      const words = own(memory);
      if (Atomics.load(words, 0) !== 0) throw new Error("taken");
      Atomics.store(words, 0, 1);
      words[1]!++;
      Atomics.store(words, 0, 0);
    });
  const memory = () => new SharedArrayBuffer(OWN + 8);
  assert.throws(
    () => race.agents({ memory }, taken, taken, FOLLOWED),
    (error: { kind?: string }) => error.kind === "data-race",
  );
});

test("an agent that awaits, too, and one that sets timers", async () => {
  const memory = () => {
    const memory = new SharedArrayBuffer(OWN + 8);
    Semaphore.init(memory, 0, 1);
    return memory;
  };
  const awaits = async (memory: Memory) => {
    const semaphore = new Semaphore(memory);
    for (;;) {
      try {
        await semaphore.acquireAsync();
        await new Promise((resolve) => setTimeout(resolve, 1));
        break;
      } catch {
        // again
      }
    }
    own(memory)[0]!++;
    semaphore.release();
  };
  const result = await race.agents({ memory }, awaits, awaits, {
    after: (memory) => own(memory)[0] === 2 ? undefined : "one is lost",
  });
  assert.is(result.complete, true);
});
