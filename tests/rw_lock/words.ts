/**
 * The words of a lock, and operations under one, for the race scenarios.
 *
 * @module
 */
import type { RwLock } from "../../mod.ts";
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";

export const { state, gate, writer, writer_starving, turns } = LAYOUT.rw_lock;
/**
 * Words that are read plainly before an exchange, or for the reader's own bits.
 */
export const HINTS = [state, writer, writer_starving]
  .map((i) => [i * 4, i * 4 + 4] as const);
export const TOTAL = LAYOUT.rw_lock.length * 4;

/** The model: the value, how often it was read. */
export interface Model {
  readonly value: number;
  readonly reads: number;
}

export const WRITING = 1 << 26, WANTED = 1 << 27, ABANDONED = 1 << 29;
/** In the word `writer`. */
export const HANDOFF = 1 << 29, CONTENDED = 1 << 30;

/** Where the rows of a tracked lock begin, and words of a row. */
export const ROWS = 40, ROW = 32, READS = 1;

/** What an agent has: a lock, and a plain word under it. */
export interface Handle {
  readonly lock: RwLock;
  readonly total: Int32Array;
}

// A call that changed nothing would be free to sleep until a timeout.
const got = ({ value, reads }: Model): [Model, unknown] => [
  { value, reads: reads + 1 },
  value,
];
const added = ({ value, reads }: Model): [Model, unknown] => [
  { value: value + 1, reads },
  value + 1,
];
const late = (s: Model) => race.timedOut<Model>([s, undefined]);
const met = (s: Model) => race.contended<Model>([s, undefined]);

/** Operations on the word; the model is its value. */
export const SECTIONS = {
  get: {
    run: ({ lock, total }: Handle) => {
      using _guard = lock.read();
      return total[0];
    },
    model: got,
  },
  getFor: {
    run: ({ lock, total }: Handle) => {
      using guard = lock.tryRead(5);
      return guard && total[0];
    },
    model: (s: Model) => race.either(got(s), late(s)),
  },
  tryGet: {
    run: ({ lock, total }: Handle) => {
      using guard = lock.tryRead();
      return guard && total[0];
    },
    model: (s: Model) => race.either(got(s), met(s)),
  },
  add: {
    run: ({ lock, total }: Handle) => {
      using _guard = lock.write();
      return ++total[0]!;
    },
    model: added,
  },
  addFor: {
    run: ({ lock, total }: Handle) => {
      using guard = lock.tryWrite(5);
      return guard && ++total[0]!;
    },
    model: (s: Model) => race.either(added(s), late(s)),
  },
  tryAdd: {
    run: ({ lock, total }: Handle) => {
      using guard = lock.tryWrite();
      return guard && ++total[0]!;
    },
    model: (s: Model) => race.either(added(s), met(s)),
  },
  addAndGet: {
    run: ({ lock, total }: Handle) => {
      const guard = lock.write();
      total[0]!++;
      using _reading = guard.downgrade();
      return total[0];
    },
    model: added,
  },
};
