/**
 * Race scenarios of a semaphore that tracks what its agents hold.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  type Scenario,
  TRIES_AGAIN,
  viewing,
  type Weft,
} from "../_run/scenario.ts";

const { permits, claimant } = LAYOUT.semaphore;

/** What agents do. */
export const acquire = (n: number) => ["acquire", n] as const;
export const release = (n: number) => ["release", n] as const;
export const attempt = (n: number) => ["tryAcquire", n] as const;

/** Where the rows of a tracked semaphore begin, and what is in them. */
const ROWS = 40, ROW = 32, SEQUENCE = 1, HELD = 2;

/** The words of three rows. */
const ROW_WORDS = Object.fromEntries(
  [0, 1, 2].flatMap((row) =>
    ["agent", "sequence", "even", "odd"]
      .map((name, i) => [`${name} ${row}`, ROWS + ROW * row + i])
  ),
);

/** An agent notes what it will hold plainly; it may die before it holds it. */
const races = (byteOffset: number) =>
  byteOffset / 4 < ROWS || (byteOffset / 4 - ROWS) % ROW < HELD;

/** What the rows are at the start. */
interface Start {
  readonly permits: number;
  /** What the agents of the rows hold; agents 1 and 2 unless given. */
  readonly held?: readonly number[];
  readonly agents?: readonly number[];
  /** The sequence of the last change of all; row 0 made it. */
  readonly changed?: number;
  readonly sequence?: number;
}

/**
 * A tracked semaphore. An agent may be terminated at any step: then all that it
 * held comes back, and no more.
 */
function tracked(weft: Weft, start: Start) {
  const { Semaphore } = weft.mod;
  const { held = [0, 0], agents = [1, 2] } = start;
  const { changed = 0, sequence = changed } = start;
  return race.spec({
    memory: () => {
      const tracked = agents.length;
      const { buffer } = Semaphore.create(start.permits, { tracked });
      const words = new Int32Array(buffer);
      words[permits]! |= changed;
      words[ROWS + SEQUENCE] = sequence;
      agents.forEach((agent, row) => {
        const at = ROWS + ROW * row;
        words[at] = agent;
        words[at + HELD + (row === 0 ? changed & 1 : 0)] = held[row]!;
      });
      return buffer;
    },
    ...viewing(weft, Semaphore, { ...LAYOUT.semaphore, ...ROW_WORDS }),
    hints: (byteOffset) => {
      const word = byteOffset / 4;
      return word === permits || (word >= ROWS && (word - ROWS) % ROW < HELD);
    },
    stateless: true,
    ops: {
      acquire: { run: (s, n: number) => s.acquire(n) },
      tryAcquire: { run: (s, n: number) => s.tryAcquire(n) },
      drain: { run: (s) => s.drain() },
      acquireFor: { run: (s, n: number) => s.tryAcquire(n, 5) },
      release: { run: (s, n: number) => s.release(n) },
      /** Acquires, if there is a row for this agent. */
      acquireInRow: {
        run: (s, n: number) => {
          try {
            return s.tryAcquire(n);
          } catch (error) {
            if (!(error instanceof RangeError)) throw error;
          }
        },
      },
      rest: { run: () => {} },
      abandon: { run: (s, id: number) => s.abandon(id) },
    },
    recover: (s, dead) => {
      s.abandon(dead + 1);
      if (agents[0] === 9) s.abandon(9);
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      if (words[claimant] !== 0) return `agent ${words[claimant]} has a claim`;
      let sum = words[permits]! >> 20;
      for (const row of agents.keys()) {
        const at = ROWS + ROW * row;
        const holds = words[at + HELD + (words[at + SEQUENCE]! & 1)]!;
        if (words[at] === 0 && holds !== 0) return `nobody holds ${holds}`;
        sum += holds;
      }
      const all = held.reduce((sum, n) => sum + n, start.permits);
      if (sum !== all) return `${sum} permits`;
      // Agents 1 and 2 have not acquired before.
      const taken = results.flat().filter((result) => result === true).length;
      if (results.length > 0 && taken > sum) return `${taken} were taken`;
    },
  });
}

/** The scenarios of a tracked semaphore. */
export function trackedOf(weft: Weft): Scenario[] {
  return [
    {
      name: "tracked: two take one permit, and one is terminated",
      spec: tracked(weft, { permits: 1 }),
      agents: [[attempt(1)], [attempt(1)]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "tracked: one releases, one acquires, one is terminated",
      spec: tracked(weft, { permits: 1, held: [1, 0] }),
      agents: [[release(1)], [attempt(1)]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "tracked: one drains, one acquires, one is terminated",
      spec: tracked(weft, { permits: 2 }),
      agents: [[["drain"]], [attempt(1)]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "tracked: one drains, one releases, one is terminated",
      spec: tracked(weft, { permits: 1, held: [0, 1] }),
      agents: [[["drain"]], [release(1)]],
      options: { kill: true, rescue: true, races },
    },
    {
      // Agents 1 and 3 look for a free row in the same place.
      name: "tracked: two take a row",
      spec: tracked(weft, { permits: 2, agents: [0, 0] }),
      agents: [[attempt(1)], [], [attempt(1)]],
      options: { races },
    },
    {
      name: "tracked: an agent that claims more than there is, and is killed",
      differs: TRIES_AGAIN,
      spec: tracked(weft, { permits: 1 }),
      agents: [[["acquireFor", 2]], [["rest"]]],
      options: { kill: true, rescue: true, timeouts: 1, races },
    },
    {
      name: "tracked: a claim is served, and an agent is terminated",
      spec: tracked(weft, { permits: 0, held: [1, 0] }),
      agents: [[release(1)], [acquire(1)]],
      options: {
        ...{ kill: true, rescue: true, timeouts: 0, races },
        ...{ states: 20_000 },
      },
      sampled: true,
    },
    {
      name: "tracked: two recover an agent, and one is terminated",
      spec: tracked(weft, {
        ...{ permits: 1, agents: [9, 2], held: [1, 0] },
        ...{ changed: 1, sequence: 0 },
      }),
      agents: [[["abandon", 9]], [["abandon", 9]]],
      options: { kill: true, rescue: true, races },
    },
    {
      name: "tracked: one waits for a permit",
      differs: TRIES_AGAIN,
      spec: tracked(weft, { permits: 0, held: [1, 0] }),
      agents: [[release(1)], [acquire(1)]],
      options: { timeouts: 0, races },
    },
    {
      name: "tracked: two wait, and one of them claims",
      spec: tracked(weft, {
        ...{ permits: 0, agents: [1, 2, 3], held: [2, 0, 0] },
      }),
      agents: [[release(1), release(1)], [acquire(1)], [acquire(1)]],
      options: { timeouts: 0, races, states: 20_000 },
      sampled: true,
    },
    {
      // The row that both recover is taken anew by one of them.
      name: "tracked: two recover an agent, and one acquires",
      spec: tracked(weft, { permits: 1, agents: [9, 7], held: [1, 0] }),
      agents: [[["abandon", 9], ["acquireInRow", 1]], [["abandon", 9]]],
      options: { races },
    },
    {
      name: "tracked: one recovers an agent, another acquires",
      spec: tracked(weft, {
        ...{ permits: 1, agents: [9, 2], held: [1, 0] },
        ...{ changed: 1, sequence: 0 },
      }),
      agents: [[["abandon", 9]], [attempt(1)]],
      options: { races },
    },
  ];
}
