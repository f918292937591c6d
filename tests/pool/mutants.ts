import { mutants } from "../_run/mutant.ts";

const NO_C = "C looks at all slots each time, and tells of each task";

/** Mutants of what a pool's agents share. */
export const MUTANTS = [
  ...mutants({ source: "_pool_wire", scenarios: ["pool"] }, {
    what: "counts a task before it is posted",
    ts: [
      "Atomics.store(words, at, POSTED | this.#id); // (P)",
      "Atomics.add(this.#posted, 0, 1); " +
      "Atomics.store(words, at, POSTED | this.#id); // (P)\n",
      ["Atomics.add(this.#posted, 0, 1); } /** Wakes", "} /** Wakes"],
    ],
    c: NO_C,
  }, {
    what: "does not count a task",
    ts: ["Atomics.add(this.#posted, 0, 1);", ""],
    c: NO_C,
  }),
  ...mutants({ source: "_pool_worker", scenarios: ["pool"] }, {
    what: "reads the count after it has looked at the slots",
    ts: [
      "this.#seen = at === 0 ? count : undefined;",
      "this.#seen = at === 0 ? this.#rooms.posted : undefined;",
    ],
    c: NO_C,
  }, {
    what: "does not tell before it sleeps",
    by: "two tasks of which the worker tells together",
    ts: [
      "this.#tell(); // before it sleeps at = spin(attempt)",
      "at = spin(attempt)",
    ],
    c: NO_C,
  }, {
    what: "tells before it has answered",
    by: "a task, and its worker",
    ts: [
      "this.#it.slots.reply(at, REPLY_HEAD + length); if (lazy) this.#untold = true; else { this.#untold = false; this.#it.done(); }",
      "if (lazy) this.#untold = true; else { this.#untold = false; this.#it.done(); } " +
      "this.#it.slots.reply(at, REPLY_HEAD + length);",
    ],
    c: "the handler of a call ring cannot tell before it returns",
  }),
];
