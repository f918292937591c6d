/**
 * The worked example of `race_testing.md`: a mutex with a lost wake-up. Run
 * with `deno run -A docs/race_example.ts`, this prints what is found and
 * writes the picture beside it.
 *
 * @module
 */
import { race, RaceError } from "../race/mod.ts";
import type { Spec } from "../race/mod.ts";

/** A mutex as one might write it. */
export class HomeMade {
  readonly #word: Int32Array;

  /** Views the first word of `memory`. */
  constructor(memory: SharedArrayBuffer) {
    this.#word = new Int32Array(memory, 0, 1);
  }

  /** Takes the lock, sleeping while another agent has it. */
  lock(): void {
    while (Atomics.compareExchange(this.#word, 0, 0, 1) !== 0) {
      Atomics.wait(this.#word, 0, 1);
    }
  }

  /** Gives it back and wakes a sleeper: in the wrong order. */
  unlock(): void {
    Atomics.notify(this.#word, 0, 1);
    Atomics.store(this.#word, 0, 0);
  }
}

/** What it is to be: the model's state is the owner, or -1. */
export const mutex: Spec<false> = race.spec({
  memory: () => new SharedArrayBuffer(4),
  agent: (memory) => new HomeMade(memory),
  words: { state: 0 },
  init: -1,
  ops: {
    lock: {
      run: (mutex) => mutex.lock(),
      model: (owner: number, _, id) => owner < 0 ? [id, undefined] : null,
    },
    unlock: {
      run: (mutex) => mutex.unlock(),
      model: () => [-1, undefined],
    },
  },
});

/** What the race tester says of it. */
export function find(): RaceError {
  const section = [["lock"], ["unlock"]] as const;
  const result = race.check(mutex, section, section);
  if (result.ok) throw new Error("nothing was found");
  return new RaceError(result, "0: lock(); unlock() | 1: lock(); unlock()");
}

if (import.meta.main) {
  const { message, failure } = find();
  console.log(message);
  const { writeFile } = await import("node:fs/promises");
  await writeFile(
    new URL("race_example.svg", import.meta.url),
    failure.svg(),
  );
}
