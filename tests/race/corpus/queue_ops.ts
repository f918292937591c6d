/**
 * The queue of slots with sequence numbers, and the same without its claim, for
 * stress tests.
 */
import fc from "../../_run/property.ts";
import { race } from "../../../race/mod.ts";
import type { Spec } from "../../../race/mod.ts";
import { Mpmc } from "./mpmc.ts";

const { either, contended } = race;

/** Takes without claiming: two may take the same element. */
class Broken extends Mpmc {
  readonly #words: Int32Array;
  constructor(memory: SharedArrayBuffer) {
    super(memory, 0, 2);
    this.#words = new Int32Array(memory);
  }
  override tryPop(): number | undefined {
    const words = this.#words;
    const head = Atomics.load(words, 1);
    const slot = 2 + 2 * (head & 1);
    if (Atomics.load(words, slot) !== head + 1) return undefined;
    const value = words[slot + 1]!;
    Atomics.store(words, 1, head + 1);
    Atomics.store(words, slot, head + 2);
    return value;
  }
}

function queue(make: (memory: SharedArrayBuffer) => Mpmc): Spec {
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(Mpmc.bytes(2));
      Mpmc.init(memory, 0, 2);
      return memory;
    },
    agent: make,
    init: [] as number[],
    ops: {
      push: {
        arg: fc.nat(9),
        run: (q, value) => q.tryPush(value),
        model: (s, value) =>
          s.length < 2
            ? either<number[]>([[...s, value], true], contended([s, false]))
            : [s, false],
      },
      pop: {
        run: (q) => q.tryPop(),
        model: (s) =>
          s.length > 0
            ? either<number[]>([s.slice(1), s[0]], contended([s, undefined]))
            : [s, undefined],
      },
    },
  });
}

export default queue((memory) => new Mpmc(memory, 0, 2));

/** Elements are taken twice. */
export const broken: Spec = queue((memory) => new Broken(memory));
