// What orders two accesses: a search and samples must say the same.
import * as assert from "uvu/assert";
import { race, type RaceError } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race data races", 60_000);

// deno-lint-ignore no-explicit-any
type Any = any;
type Memory = SharedArrayBuffer;
type Agent = (memory: Memory) => unknown;

const words = (memory: Memory) => new Int32Array(memory);

/** What a search, and samples, say of agents: a kind of failure, or "". */
async function verdicts(...agents: Agent[]): Promise<string[]> {
  const kinds = [];
  for (const options of [{}, { sample: "random", runs: 200 }]) {
    try {
      const memory = () => new SharedArrayBuffer(16);
      await (race.agents as Any)({ memory }, ...agents, options);
      kinds.push("");
    } catch (error) {
      kinds.push((error as RaceError).kind);
    }
  }
  return kinds;
}

/** Notifies until it has woken somebody, and then reads what that wrote. */
const finds: Agent = (memory) => {
  while (Atomics.notify(words(memory), 0) === 0);
  return words(memory)[1];
};

test("who finds a sleeper knows what it did before it slept", async () => {
  const sleeps: Agent = (memory) => {
    words(memory)[1] = 5;
    Atomics.wait(words(memory), 0, 0);
  };
  assert.equal(await verdicts(sleeps, finds), ["", ""]);
  const writes = (early: boolean): Agent => async (memory) => {
    if (early) words(memory)[1] = 5;
    const { value } = Atomics.waitAsync(words(memory), 0, 0);
    if (!early) words(memory)[1] = 5;
    await value;
  };
  const findsLater: Agent = async (memory) => await finds(memory);
  assert.equal(await verdicts(writes(true), findsLater), ["", ""]);
  const both = ["data-race", "data-race"];
  assert.equal(await verdicts(writes(false), findsLater), both);
});

test("who finds a sleeper knows what it read as it went to sleep", async () => {
  const stores: Agent = (memory) => {
    words(memory)[1] = 5;
    Atomics.store(words(memory), 0, 1);
  };
  const sleeps: Agent = (memory) => {
    while (Atomics.wait(words(memory), 0, 1) === "not-equal");
  };
  assert.equal(await verdicts(stores, sleeps, finds), ["", ""]);
});

test("what a sleeper does after its wake is unordered with its waker", async () => {
  const writes: Agent = (memory) => {
    Atomics.wait(words(memory), 0, 0);
    words(memory)[1] = 5;
  };
  assert.equal(await verdicts(writes, finds), ["data-race", "data-race"]);
});

test("an exchange that finds another value only reads", async () => {
  const once = (last: number): Agent => (memory) => {
    const w = words(memory);
    if (Atomics.compareExchange(w, 0, 0, 1) === 0) Atomics.store(w, 0, last);
    else while (Atomics.load(w, 0) !== last);
    return w[0];
  };
  assert.equal(await verdicts(once(2), once(2)), ["", ""]);
  const again: Agent = (memory) => {
    while (Atomics.compareExchange(words(memory), 0, 2, 3) !== 2);
  };
  const both = ["data-race", "data-race"];
  assert.equal(await verdicts(once(2), again), both);
});

test("atomic accesses race if they share some of their bytes", async () => {
  const half = (index: number): Agent => (memory) => {
    Atomics.store(new Int16Array(memory), index, 1);
  };
  const word: Agent = (memory) => Atomics.store(words(memory), 0, 1);
  const both = ["data-race", "data-race"];
  assert.equal(await verdicts(word, half(0)), both);
  assert.equal(await verdicts(word, half(1)), both);
  assert.equal(await verdicts(word, half(2)), ["", ""]);
  assert.equal(await verdicts(word, word), ["", ""]);
  const loads: Agent = (memory) => Atomics.load(words(memory), 0);
  const loadsHalf: Agent = (memory) => Atomics.load(new Int16Array(memory), 0);
  assert.equal(await verdicts(loads, loadsHalf), ["", ""]);
  assert.equal(await verdicts(word, loadsHalf), both);
});

test("a plain access races with one that comes later", async () => {
  const first: Agent = (memory) => {
    words(memory)[1] = 5;
  };
  const second = (writes: boolean, word: number): Agent => (memory) => {
    const w = words(memory);
    Atomics.store(w, 2, 1); // knows of nothing
    Atomics.load(w, 3);
    return writes ? w[word] = 6 : w[word];
  };
  const both = ["data-race", "data-race"];
  assert.equal(await verdicts(first, second(true, 1)), both);
  assert.equal(await verdicts(first, second(false, 1)), both);
  assert.equal(await verdicts(second(false, 1), first), both);
  assert.equal(await verdicts(first, second(true, 0)), ["", ""]);
});
