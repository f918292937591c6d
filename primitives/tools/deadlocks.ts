/**
 * Tells who waits for whom, across agents of JavaScript and C.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { classOf } from "./_facts.ts";
import type {
  AGENT_ROW,
  AGENT_TABLE,
  CALL_RING,
  RW_LOCK,
} from "../_memory/layout.ts";
import { awaited } from "../_wait/line.ts";
import { homeOf } from "../_memory/memory.ts";
import { namedViews, type View, type Views } from "./_parts.ts";
import {
  allocate,
  assertConfig,
  bufferOf,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  wordsAt,
} from "../_memory/region.ts";
import { refer } from "../_wait/times.ts";
import { ROW } from "../_memory/tracked.ts";
import { looking } from "../_wait/waiter.ts";
import { agentId } from "../agent.ts";
import { inspect } from "./inspect.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "../_memory/region.ts";
export type { View, Views } from "./_parts.ts";

const AGENTS: typeof AGENT_TABLE.agents = 1;
const FIRST_ROW: typeof AGENT_TABLE.rows = 32;
const ROW_WORDS: typeof AGENT_ROW.words = 32;
const AGENT: typeof AGENT_ROW.agent = 0;
const SEQUENCE: typeof AGENT_ROW.sequence = 1;
const ON: typeof AGENT_ROW.on = 2;
const AWAITS: typeof AGENT_ROW.awaits = 3;
const NAME_BYTES: typeof AGENT_ROW.bytes = 11;
const NAME: typeof AGENT_ROW.name = 12;
const TRACKED: typeof RW_LOCK.tracked = 4;
const SLOTS: typeof CALL_RING.length = 96;

/** "WTAB" */
const MAGIC = 0x5754_4142;
const MAX_AGENTS = 255;
const MAX_ID = 0x0fff_ffff;
/** The bytes of a name. */
const MAX_NAME = 80;
/** The words that an agent can note which it awaits. */
const MOST_AWAITS = 8;
/** Where the rows of a lock begin that tracks its readers. */
const READERS = 40;
/** The pause, in ms, between two notes of what an agent awaits. */
const NOTES = 100;
/** How often an agent reads, in its row. */
const READS_MASK = 0x3ff; // READER_BITS.READING
/** In the state of a call: what serves it. */
const SERVING = 0x3000_0000, PHASE_MASK = 0x7000_0000;
/** The most deadlocks that are told at a time. */
const MOST = 16;

/** The configuration of a table. */
export interface AgentTableConfig {
  /** How many agents can have a name, 1 to 255; 16 unless given. */
  readonly agents?: number | undefined;
}

/** An agent with a name. */
export interface NamedAgent {
  /** Its id, as `agentId` tells it. */
  readonly id: number;
  /** The name that it gave itself. */
  readonly name: string;
}

/**
 * A table in which agents note their names, and the words on which they sleep,
 * so that {@linkcode deadlocks} can tell who waits for whom. It must lie in the
 * same memory as the primitives: make it a part of their `layout`.
 *
 * An agent notes on what it blocks directly before it sleeps, and ten times a
 * second what it awaits, once it has called `join`. An agent that does not wait
 * pays nothing.
 *
 * Two names:
 *
 * ```ts
 * import { layout, Mutex } from "@weft/sync";
 * import { AgentTable, deadlocks } from "@weft/sync/deadlocks";
 *
 * const shared = layout({ lock: Mutex, agents: [AgentTable, { agents: 4 }] });
 * const { lock, agents } = shared.create();
 * agents.join("main"); // and each worker joins by a name of its own
 * using _lock = lock.lock();
 * if (deadlocks(agents, { lock }).length > 0) throw new Error("not yet");
 * ```
 *
 * Invariant: only the agent that the first word of a row names changes what is
 * in the row.
 * Freed when: every agent that joined has left, or ended, every operation has
 * returned, and none will begin. An agent that joined writes to its row
 * whenever it sleeps.
 * Progress: all operations are wait-free but `join`, which is lock-free. An
 * agent that was terminated keeps its row until `abandon`, and so it does the
 * row that it was about to clear.
 * C twin: `weft_agent_table`, in programs that define WEFT_NAMED_AGENTS.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic   0x57544142
 * word 1   agents  How many rows there are, 1 to 255.
 * word 32  Rows of 32 words. A row has the id of its agent, or 0, or, while it
 *          is cleared, the id of the agent that clears it, times -1; a number
 *          that changes with each sleep; the word on which the agent blocks, or
 *          0; eight words that it awaits, or 0; the bytes of its name; and its
 *          name in UTF-8. Words are counted from the row.
 * ```
 */
export class AgentTable extends Region<"agent_table"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** How many agents can have a name. */
  readonly capacity: number;

  /**
   * Attaches to the table at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no table is there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const buffer = bufferOf(memory);
    const head = wordsAt("agent_table", buffer, byteOffset, FIRST_ROW * 4);
    const agents = head[AGENTS]!;
    if (
      Atomics.load(head, 0) !== MAGIC || agents < 1 || agents > MAX_AGENTS
    ) {
      throw new TypeError(
        `Cannot attach an agent_table at ${byteOffset}: no table was made here`,
      );
    }
    const bytes = bytesFor(agents);
    const words = wordsAt("agent_table", buffer, byteOffset, bytes);
    super("agent_table", words);
    this.#words = words;
    this.capacity = agents;
  }

  /**
   * The bytes a table occupies.
   *
   * @throws {RangeError} If `agents` is out of range.
   */
  static byteLength(config?: AgentTableConfig): number {
    return bytesFor(agentsOf(config));
  }

  /**
   * Allocates a table. Primitives in other memory cannot be told by it, so
   * `layout` or `init` is what programs need.
   *
   * @throws {RangeError} If `agents` is out of range.
   */
  static create(config?: AgentTableConfig): AgentTable {
    return AgentTable.init(allocate(bytesFor(agentsOf(config))), 0, config);
  }

  /**
   * Initializes unused memory as a table without names.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `agents` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config?: AgentTableConfig,
  ): AgentTable {
    const agents = agentsOf(config);
    const buffer = bufferOf(memory);
    const bytes = bytesFor(agents);
    const words = wordsAt("agent_table", buffer, byteOffset, bytes).fill(0);
    words[AGENTS] = agents;
    Atomics.store(words, 0, MAGIC);
    return new AgentTable(memory, byteOffset);
  }

  /**
   * Attaches to the table that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no table is
   * there.
   */
  static from(handle: Handle<"agent_table">): AgentTable {
    return new AgentTable(...fromHandle("agent_table", handle));
  }

  /** The agents that have a name. */
  get agents(): NamedAgent[] {
    return rowsOf(this.#words).map(({ id, name }) => ({ id, name }));
  }

  /**
   * Gives this agent a name, of up to 80 bytes, or another one. From now on it
   * notes here on what it sleeps, and no longer in another table.
   *
   * @throws {TypeError} If `name` is not a string.
   * @throws {RangeError} If the name is too long, or all rows are taken.
   */
  join(name: string): void {
    if (typeof name !== "string") {
      throw new TypeError(
        `A name must be a string: received ${describe(name)}`,
      );
    }
    const bytes = new TextEncoder().encode(name);
    if (bytes.length > MAX_NAME) {
      throw new RangeError(
        `A name has at most ${MAX_NAME} bytes: received ${bytes.length}`,
      );
    }
    const words = this.#words;
    const id = agentId();
    const row = rowFor(words, id);
    if (row < 0) {
      throw new RangeError(
        `Cannot give agent ${id} a name: ${this.capacity} agents have one`,
      );
    }
    Atomics.store(words, row + NAME_BYTES, 0);
    const { buffer, byteOffset } = words;
    new Uint8Array(buffer, byteOffset + (row + NAME) * 4, MAX_NAME).set(bytes);
    Atomics.store(words, row + NAME_BYTES, bytes.length); // published by this
    noteIn(words, row);
  }

  /** Takes this agent's name away. It notes nothing any more. */
  leave(): void {
    end();
    this.abandon(agentId());
  }

  /**
   * Frees the row of agent `id`, which will never run again. Returns how many
   * rows that were. Any number of agents may call it for one id at once.
   *
   * C twin: `weft_agent_table_abandon`.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not in the range of agent ids.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, MAX_ID);
    const words = this.#words;
    let count = 0;
    for (
      let row = FIRST_ROW;
      id !== 0 && row < words.length;
      row += ROW_WORDS
    ) {
      const owner = Atomics.load(words, row + AGENT);
      if (owner !== id && owner !== -id) continue;
      // The row is this agent's before it is cleared: if two agents cleared it,
      // the slower one would clear the name of the next agent.
      const mine = -agentId();
      const found = Atomics.compareExchange(words, row + AGENT, owner, mine);
      if (found !== owner) continue;
      for (let i = ON; i < NAME; i++) Atomics.store(words, row + i, 0);
      Atomics.store(words, row + AGENT, 0);
      count++;
    }
    return count;
  }

  /** The names, for consoles. */
  protected override inspected(): unknown {
    const { kind, byteOffset, agents } = this;
    return { kind, byteOffset, agents };
  }
}

/**
 * The row of agent `id`, which takes one if it has none; -1 if none is free.
 */
function rowFor(words: Int32Array, id: number): number {
  for (const from of [id, 0]) {
    for (let row = FIRST_ROW; row < words.length; row += ROW_WORDS) {
      if (Atomics.load(words, row + AGENT) !== from) continue;
      if (Atomics.compareExchange(words, row + AGENT, from, id) === from) {
        return row;
      }
    }
  }
  return -1;
}

/** Ends the notes of this agent. */
let end = () => {};

/** From now on this agent notes its sleeps in this row. */
function noteIn(words: Int32Array<SharedArrayBuffer>, row: number): void {
  end();
  const { buffer, byteOffset } = words;
  const home = homeOf(buffer); // it may grow, and then has another buffer
  const distanceTo = (
    on: Int32Array<SharedArrayBuffer>,
    index: number,
  ): number => {
    const word = (on.byteOffset - byteOffset) / 4 + index - row;
    return homeOf(on.buffer) === home && word === (word | 0) ? word : 0;
  };
  looking.note = (on, index) => {
    if (index === undefined) return void Atomics.store(words, row + ON, 0);
    Atomics.add(words, row + SEQUENCE, 1);
    Atomics.store(words, row + ON, distanceTo(on, index));
  };
  const noteAwaits = () => {
    const noted = awaited().map(([on, index]) => distanceTo(on, index))
      .filter((word) => word !== 0);
    for (let i = 0; i < MOST_AWAITS; i++) {
      Atomics.store(words, row + AWAITS + i, noted[i] ?? 0);
    }
  };
  const timer = setInterval(noteAwaits, NOTES);
  refer(timer, false);
  end = () => {
    looking.note = undefined;
    clearInterval(timer);
  };
}

/** An agent's row. */
interface Row extends NamedAgent {
  readonly sequence: number;
  /** The byte offsets of the words on which it blocks, and which it awaits. */
  readonly on: readonly number[];
  readonly awaits: readonly number[];
}

function rowsOf(words: Int32Array<SharedArrayBuffer>): Row[] {
  const rows: Row[] = [];
  const { byteOffset } = words;
  for (let row = FIRST_ROW; row < words.length; row += ROW_WORDS) {
    const id = Atomics.load(words, row + AGENT);
    if (id <= 0) continue; // nobody's, or about to be
    const sequence = Atomics.load(words, row + SEQUENCE);
    const slept = Array.from({ length: 1 + MOST_AWAITS }, (_, i) => {
      const word = Atomics.load(words, row + ON + i);
      return word === 0 ? -1 : byteOffset + (row + word) * 4;
    });
    const [on, ...awaits] = slept;
    rows.push({
      id,
      name: nameIn(words, row),
      sequence,
      on: [on!].filter((at) => at >= 0),
      awaits: awaits.filter((at) => at >= 0),
    });
  }
  return rows;
}

function nameIn(words: Int32Array<SharedArrayBuffer>, row: number): string {
  const length = Atomics.load(words, row + NAME_BYTES);
  const from = words.byteOffset + (row + NAME) * 4;
  if (length >>> 0 > MAX_NAME) return ""; // damaged
  // Browsers decode no shared memory.
  return new TextDecoder().decode(
    new Uint8Array(words.buffer, from, length).slice(),
  );
}

/** An agent that waits for another one. */
export interface Wait {
  /** The agent that waits. */
  readonly agent: NamedAgent;
  /** The primitive for which it waits. */
  readonly primitive: View;
  /** The name of that primitive in the layout, or "". */
  readonly name: string;
  /** Whether it awaits, so that other code of that agent may still run. */
  readonly awaits: boolean;
  /** The agent that has what it waits for. */
  readonly owner: NamedAgent;
}

/** Agents that wait for each other. */
export interface Deadlock {
  /** Each waits for the next one, and the last one for the first. */
  readonly waits: readonly Wait[];
  /**
   * Whether all of them block, so that none of them can go on before its
   * timeout. An agent that awaits may still give the others what they wait for.
   */
  readonly certain: boolean;
  /** A sentence that says it. */
  readonly text: string;
}

/**
 * The agents that wait for each other in a circle, such as
 * `"ui" waits for Mutex "a" held by "worker 2", which waits for …`.
 * `primitives` is what a `layout` gave, or a list of views, in the memory of
 * the table. Call it now and then in an agent that does not wait, such as a
 * supervisor, or when a program hangs.
 *
 * Only agents that joined the table are told to wait. These words say who has
 * what others wait for: the owner of a `Mutex`, the writer of an `RwLock`, its
 * readers if they are tracked, the agent that runs a `Once`, and the server of
 * a call. No word says who has the permits of a `Semaphore`, or will push to a
 * queue.
 *
 * A circle of agents that block is told only if it stood still during two
 * looks: it is one. It is missed for the microsecond in which one of them looks
 * at its word, once a second: call it again.
 *
 * @example A supervisor looks every second
 * ```ts
 * import { layout, Mutex } from "@weft/sync";
 * import { AgentTable, deadlocks } from "@weft/sync/deadlocks";
 *
 * const shared = layout({ a: Mutex, b: Mutex, agents: AgentTable }).create();
 * const timer = setInterval(() => {
 *   for (const { text } of deadlocks(shared.agents, shared)) console.log(text);
 * }, 1000);
 * clearInterval(timer);
 * ```
 *
 * @throws {TypeError} If `table` is not a table, or one of `primitives` is not
 * a view.
 */
export function deadlocks(
  table: AgentTable,
  primitives: View | Iterable<View> | Views,
): Deadlock[] {
  if (!(table instanceof AgentTable)) {
    throw new TypeError(
      `deadlocks() needs an AgentTable: received ${describe(table)}`,
    );
  }
  const { buffer, byteOffset, byteLength } = table;
  const words = new Int32Array(buffer, byteOffset, byteLength / 4);
  const views = namedViews(primitives, "look at").filter(([, view]) =>
    homeOf(view.buffer) === homeOf(buffer) && view.kind !== "agent_table"
  );
  const before = new Set(waitsIn(words, views).map(({ key }) => key));
  const waits = waitsIn(words, views).filter(({ key }) => before.has(key));
  return circlesIn(waits);
}

/** A wait, and what is the same while it lasts. */
interface KeyedWait extends Wait {
  readonly key: string;
}

function waitsIn(
  words: Int32Array<SharedArrayBuffer>,
  views: readonly (readonly [string, View])[],
): KeyedWait[] {
  const rows = rowsOf(words);
  const waits: KeyedWait[] = [];
  const add = (row: Row, at: number, awaits: boolean) => {
    const found = views.find(([, view]) => isWithin(view, at));
    if (found === undefined) return;
    const [name, primitive] = found;
    for (const id of ownersOf(primitive, at, row.id)) {
      // One part of an agent may await what another part of it will give.
      if (awaits && id === row.id) continue;
      const owner = rows.find((other) => other.id === id) ??
        { id, name: `agent ${id}` };
      const sequence = awaits ? 0 : row.sequence;
      const key = [row.id, sequence, at, awaits, id].join();
      waits.push({ agent: row, primitive, name, awaits, owner, key });
    }
  };
  for (const row of rows) {
    for (const at of row.on) add(row, at, false);
    for (const at of row.awaits) add(row, at, true);
  }
  return waits;
}

/** Whether the word at `at` belongs to a primitive. */
function isWithin(view: View, at: number): boolean {
  const { byteLength = 4 } = view as { readonly byteLength?: number };
  return at >= view.byteOffset && at < view.byteOffset + byteLength;
}

/** The agents that have what agent `id` waits for, which sleeps at `at`. */
function ownersOf(view: View, at: number, id: number): number[] {
  const { kind, buffer, byteOffset } = view;
  if (kind === "call_ring") {
    const state = Atomics.load(new Int32Array(buffer, at, 1), 0);
    const isSlot = at >= byteOffset + SLOTS * 4;
    return isSlot && (state & PHASE_MASK) === SERVING ? [state & MAX_ID] : [];
  }
  const { owner } = inspect(view);
  // A writer owns the lock while it waits until nobody reads.
  const isWriter = kind === "rw_lock" && owner === id;
  if (owner !== undefined && owner !== 0 && !isWriter) return [owner];
  return kind === "rw_lock" ? readersOf(view) : [];
}

/** The agents that read a lock with `tracked`. */
function readersOf({ buffer, byteOffset }: View): number[] {
  const bytes = buffer.byteLength - byteOffset;
  const words = new Int32Array(buffer, byteOffset, Math.floor(bytes / 4));
  const agents = words[TRACKED]! & 0xff;
  const readers: number[] = [];
  for (let i = 0; i < agents; i++) {
    const row = READERS + i * ROW;
    if (row + 1 >= words.length) break; // damaged
    const id = Atomics.load(words, row);
    const reads = Atomics.load(words, row + 1) & READS_MASK;
    if (id > 0 && reads > 0) readers.push(id);
  }
  return readers;
}

/** The circles of waits, each once. */
function circlesIn(waits: readonly Wait[]): Deadlock[] {
  const found: Deadlock[] = [];
  const follow = (path: readonly Wait[], first: number) => {
    const { id } = path.at(-1)!.owner;
    if (id === first) return void found.push(deadlockOf(path));
    // A circle begins with its smallest id, so that it is told once.
    if (id < first || path.some(({ agent }) => agent.id === id)) return;
    for (const wait of waits) {
      if (found.length >= MOST) return;
      if (wait.agent.id === id) follow([...path, wait], first);
    }
  };
  for (const wait of waits) {
    if (found.length >= MOST) break;
    follow([wait], wait.agent.id);
  }
  return found;
}

function deadlockOf(path: readonly Wait[]): Deadlock {
  const steps = path.map(({ primitive, name, awaits, owner }) => {
    const { kind, byteOffset } = primitive;
    const which = name === "" ? `at byte ${byteOffset}` : JSON.stringify(name);
    const how = kind === "call_ring" ? "served by" : "held by";
    return `${awaits ? "awaits" : "waits for"} ${classOf(kind)} ${which} ` +
      `${how} ${JSON.stringify(owner.name)}`;
  });
  return {
    waits: path.map(({ agent, primitive, name, awaits, owner }) => ({
      agent: { id: agent.id, name: agent.name },
      primitive,
      name,
      awaits,
      owner: { id: owner.id, name: owner.name },
    })),
    certain: path.every(({ awaits }) => !awaits),
    text: `${JSON.stringify(path[0]!.agent.name)} ${steps.join(", which ")}`,
  };
}

function agentsOf(config: AgentTableConfig = {}): number {
  assertConfig("agent_table", config, ["agents"]);
  const { agents = 16 } = config;
  return agents;
}

function bytesFor(agents: number): number {
  inRange("The number of agents", agents, 1, MAX_AGENTS);
  return (FIRST_ROW + agents * ROW_WORDS) * 4;
}
