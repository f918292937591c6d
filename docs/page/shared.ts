/**
 * What lies in the memory that the page, its workers and its threads of C
 * share.
 *
 * @module
 */
import { layout, type Memory, MpmcQueue, Mutex } from "@weft/sync";

/** How many agents there may be at once, those that just died among them. */
export const AGENTS = 16;

/** The queue and the lock. */
export const PARTS = layout({
  jobs: [MpmcQueue, { capacity: 64 }],
  lock: Mutex,
});

/** Where things lie in the memory, in bytes. C's data would lie before. */
export const AT = { parts: 65536, state: 131072, rows: 132096, own: 262144 };

/** The bytes of a thread of C: what it knows, and its stack. */
export const OWN = 16384;

/** How many pages of 64 KiB the memory has. */
export const PAGES = 8;

/** Words that all agents share, as `page_state` in agent.c. */
export const STATE = {
  /** Rounds of a loop that an agent spends in the lock. */
  pace: 0,
  /** Whether the next owner of the lock stays in it, to be terminated. */
  hold: 1,
  /** The id of the agent that stays. */
  held: 2,
  /** How often agents had the lock: written under the lock, with `copy`. */
  total: 3,
  /** The same number: an agent that dies between the two leaves it behind. */
  copy: 4,
  /** How often an agent repaired `copy`. */
  repairs: 5,
  /** For how many ms an agent stays where it is, in slow motion. */
  slow: 6,
} as const;

/** Words of one agent, as `page_row` in agent.c. */
export const ROW = {
  /** How often it had the lock. */
  count: 0,
  /** Whether it pops numbers; otherwise it pushes them. */
  pops: 1,
  /** Whether it should end. */
  stop: 2,
} as const;

/** What a worker gets to become an agent. */
export interface Start {
  readonly memory: WebAssembly.Memory;
  /** Which row is its own. */
  readonly row: number;
  /** The compiled agent.c, for a thread of C. */
  readonly module: WebAssembly.Module | undefined;
}

/** The words that all agents share. */
export const stateIn = (memory: WebAssembly.Memory): Int32Array =>
  new Int32Array(memory.buffer, AT.state, 32);

/** The words of agent `row`. */
export const rowIn = (memory: WebAssembly.Memory, row: number): Int32Array =>
  new Int32Array(memory.buffer, AT.rows + 128 * row, 32);

/** The queue and the lock in `memory`. */
export const partsIn = (memory: Memory) => PARTS.attach(memory, AT.parts);
