import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  giveBack,
  named,
  type Scenario,
  viewing,
  type Weft,
} from "../_run/scenario.ts";

const NOBODY = 0;
/** The model's owner of a mutex that was abandoned. */
const ABANDONED = -1;
const BYTES = LAYOUT.mutex.length * 4;

/**
 * Lock and unlock are operations. The model's state is the owner. Agents look
 * `rounds` times before they sleep.
 */
function locks(
  weft: Weft,
  { starving = 0, owner = NOBODY, rounds = 0 } = {},
) {
  const { Mutex } = weft.mod;
  return race.spec({
    memory: () => {
      const mutex = Mutex.create();
      const words = new Int32Array(mutex.buffer);
      words[LAYOUT.mutex.starving] = starving;
      words[LAYOUT.mutex.state] = owner;
      return mutex.buffer;
    },
    ...viewing(weft, Mutex, LAYOUT.mutex),
    stateless: rounds === 0, // how long to look is learned
    init: owner,
    ops: {
      lock: {
        run: (mutex) => {
          weft.spin.spinning.rounds = rounds;
          return mutex.lock().abandoned;
        },
        model: (owner: number, _, id) =>
          owner <= NOBODY ? [id + 1, owner === ABANDONED] : null,
      },
      lockFor: {
        run: (mutex) => mutex.tryLock(5) !== undefined,
        model: (owner: number, _, id) =>
          owner === NOBODY
            ? race.either([id + 1, true], race.timedOut([owner, false]))
            : race.timedOut([owner, false]),
      },
      tryLock: {
        run: (mutex) => mutex.tryLock()?.abandoned,
        model: (owner: number, _, id) =>
          owner <= NOBODY ? [id + 1, owner === ABANDONED] : [owner, undefined],
        lockFree: true,
      },
      trySection: {
        run: (mutex) => mutex.tryLock()?.unlock(),
        model: (owner: number) => [owner, undefined],
        lockFree: true,
      },
      abandon: {
        run: (mutex, id: number) => mutex.abandon(id),
        model: (owner: number, id: number) =>
          owner === id ? [ABANDONED, 1] : [owner, 0],
        lockFree: true,
      },
      unlock: {
        run: (mutex) => mutex.unlock(),
        model: () => [NOBODY, undefined],
        lockFree: true,
      },
    },
  });
}

/** Sections; a plain word shows whether they exclude each other. */
function sections(weft: Weft, starving = 0) {
  const { Mutex } = weft.mod;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(BYTES + 4);
      new Int32Array(memory)[LAYOUT.mutex.starving] = starving;
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      const total = new Int32Array(memory, BYTES, 1);
      return { mutex: new Mutex(memory), total };
    },
    words: { ...named(LAYOUT.mutex), total: BYTES },
    stateless: true,
    init: 0,
    ops: {
      add: {
        run: ({ mutex, total }) => {
          using _guard = mutex.lock();
          return total[0]!++;
        },
        model: (total: number) => [total + 1, total],
      },
    },
  });
}

/** Agents that are terminated, and a survivor that reports it. */
function abandons(weft: Weft, starving = 0) {
  const { Mutex } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = Mutex.create();
      new Int32Array(buffer)[LAYOUT.mutex.starving] = starving;
      return buffer;
    },
    ...viewing(weft, Mutex, LAYOUT.mutex),
    stateless: true,
    ops: {
      section: {
        run: (mutex) => {
          const guard = mutex.lock();
          guard.unlock();
        },
      },
    },
    recover: (mutex, dead) => void mutex.abandon(dead + 1),
    final: (memory) => {
      const { owner } = new Mutex(memory);
      return owner === NOBODY ? undefined : `agent ${owner} holds the mutex`;
    },
  });
}

/** Agent 1 unlocks; the next owner unlocks, too, and frees the memory. */
function freed(weft: Weft, starving = 0) {
  const { Mutex } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = Mutex.create();
      const words = new Int32Array(buffer);
      words[LAYOUT.mutex.starving] = starving;
      words[LAYOUT.mutex.state] = 1;
      return buffer;
    },
    ...viewing(weft, Mutex, LAYOUT.mutex),
    stateless: true,
    ops: {
      unlock: { run: (mutex) => mutex.unlock() },
      abandon: { run: (mutex) => mutex.abandon(1) },
      lockAndFree: {
        run: (mutex) => {
          mutex.lock().unlock();
          giveBack(mutex, LAYOUT.mutex.length);
        },
      },
      tryAndFree: {
        run: (mutex) => {
          const guard = mutex.tryLock() ?? mutex.lock();
          guard.unlock();
          giveBack(mutex, LAYOUT.mutex.length);
        },
      },
    },
  });
}

/** The race scenarios of `Mutex`. */
export function scenarios(weft: Weft): Scenario[] {
  const spec = locks(weft);
  const starved = locks(weft, { starving: 1 });
  const held = locks(weft, { owner: 1 });
  const section = sections(weft);
  const pair = [["lock"], ["unlock"]] as const;
  const timed = [["lockFor"]] as const;
  const add = [["add"]] as const;
  return [
    { name: "lock, lock", spec, agents: [pair, pair] },
    { name: "lock twice each", spec, agents: [[...pair, ...pair], pair] },
    { name: "lock, tryLock", spec, agents: [pair, [["tryLock"]]] },
    {
      name: "two wait for one that holds it",
      spec: held,
      agents: [[["unlock"]], pair, pair],
      options: { states: 20_000 },
      sampled: true,
    },
    {
      name: "the owner is abandoned",
      spec: held,
      agents: [[["abandon", 1], ["abandon", 3]], pair],
    },
    {
      name: "the owner is abandoned, tryLock",
      spec: held,
      agents: [[["abandon", 1]], [["tryLock"]]],
    },
    {
      name: "looks before it sleeps",
      spec: locks(weft, { rounds: 1 }),
      agents: [[...pair, ...pair], pair],
      options: { states: 20_000 },
      sampled: true,
    },
    { name: "a timeout", spec, agents: [pair, timed] },
    {
      name: "timeouts at any time",
      spec,
      agents: [pair, timed],
      options: { timeouts: true },
    },
    {
      name: "spurious wakes",
      spec,
      agents: [pair, pair],
      options: { spurious: true },
    },
    { name: "somebody starves", spec: starved, agents: [pair, pair] },
    {
      name: "somebody starves, tryLock",
      spec: starved,
      agents: [pair, pair, [["tryLock"]]],
    },
    {
      // It takes the lock that is kept for a sleeper, and unlocks it.
      name: "somebody starves, tryLock and unlock",
      spec: locks(weft, { starving: 1, owner: 1 }),
      agents: [[["unlock"]], [["lock"]], [["trySection"]]],
    },
    {
      // It leaves when the lock is offered to it, or kept for it.
      name: "somebody starves, and times out",
      spec: locks(weft, { starving: 1, owner: 1 }),
      agents: [[["unlock"]], timed, [["lock"]]],
      options: { timeouts: 1, states: 50_000 },
      sampled: true,
    },
    {
      name: "somebody starves, an agent is terminated",
      spec: abandons(weft, 1),
      agents: [[["section"]], [["section"]]],
      options: { kill: true, rescue: true },
    },
    ...[0, 1].flatMap((starving): Scenario[] => {
      const spec = freed(weft, starving);
      const somebody = starving === 0 ? "" : "somebody starves, ";
      const last = [["lockAndFree"]] as const;
      return [{
        name: `${somebody}the next owner frees the mutex`,
        spec,
        agents: [[["unlock"]], last],
      }, {
        name: `${somebody}the next owner tries, and frees the mutex`,
        spec,
        agents: [[["unlock"]], [["tryAndFree"]]],
      }, {
        name: `${somebody}the heir of a dead owner frees the mutex`,
        spec,
        agents: [[["abandon"]], last],
      }];
    }),
    { name: "two sections", spec: section, agents: [add, add] },
    {
      name: "two sections each",
      spec: section,
      agents: [[...add, ...add], add],
    },
    {
      name: "three sections",
      spec: section,
      agents: [add, add, add],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      name: "three sections, somebody starves",
      spec: sections(weft, 1),
      agents: [add, add, add],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      name: "an agent is terminated",
      spec: abandons(weft),
      agents: [[["section"]], [["section"]]],
      // Terminated before its notify, an agent costs a sleeper a timeout.
      options: { kill: true, rescue: true },
    },
  ];
}
