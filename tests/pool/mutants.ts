import { mutants, none } from "../_run/mutant.ts";

const NO_C = none("C looks at all slots each time, and tells of each task");

const NO_POOL = none("C has the workers of a pool, and no pool");

/** Mutants of what a pool's agents share. */
export const MUTANTS = [
  ...mutants({ source: "_pool/wire", scenarios: ["pool"] }, {
    what: "counts a task before it is posted",
    by: "a task, and its worker",
    ts: [
      "{+Atomics.add(this.#posted, 0, 1); +}Atomics.store(words, at, POSTED " +
      "| this.#id); // (P){+\n+}",
      "[-Atomics.add(this.#posted, 0, 1); -]} /** Wakes",
    ],
    c: NO_C,
  }, {
    what: "does not count a task",
    by: "a task, and its worker",
    ts: "[-Atomics.add(this.#posted, 0, 1);-]",
    c: NO_C,
  }),
  ...mutants({ source: "_pool/worker/server", scenarios: ["pool"] }, {
    what: "reads the count after it has looked at the slots",
    by: "a task, and its worker",
    ts: "this.#seen = at === 0 ? [-count-]{+this.#rooms.posted+} : undefined;",
    c: NO_C,
  }, {
    what: "takes a task with which it ends",
    by: "two tasks, and the first worker ends after one",
    ts: "[-while (!this.#ends-]{+for (;;+}) { let at = this.#take(); if " +
      "({+this.#ends) break; if (+}at === 0) {",
    c: none("a thread of C does not end after some tasks"),
  }, {
    what: "does not tell before it sleeps",
    by: "two tasks of which the worker tells together",
    ts: "[-this.#tell(); // before it sleeps -]at = spin(attempt)",
    c: NO_C,
  }, {
    what: "tells before it has answered",
    by: "a task, and its worker",
    ts: "[-this.#it.slots.reply(at, REPLY_HEAD + length); -]if (lazy) " +
      "this.#untold = true; else { this.#untold = false; this.#it.done(); " +
      "}{+ this.#it.slots.reply(at, REPLY_HEAD + length);+}",
    c: none("the handler of a call ring cannot tell before it returns"),
  }),
  ...mutants({ source: "_pool/wire", scenarios: ["pool"] }, {
    what: "takes an order back that a worker has taken",
    by: "one of two workers is to end, and one dies",
    ts: "return Atomics.[-compareExchange-]{+exchange+}(this.#words, at, " +
      "[-posted, FREE) === posted-]{+FREE) !== posted + 1+};",
    c: NO_POOL,
  }),
  ...mutants({ source: "_pool/collector", scenarios: ["pool"] }, {
    what: "puts a task in line after a close with force",
    by: "the last worker dies, and the pool was closed with force",
    ts: "const again = job.deaths < MOST_DEATHS[- && !this.#it.isForced()-];",
    c: NO_POOL,
  }),
  ...mutants({ source: "_pool/poster", scenarios: ["pool"] }, {
    what: "keeps the slot of an aborted task that was just answered",
    by: "a task is aborted, and another one waits for its slot",
    ts: "{+if ((Atomics.load(words, at) & PHASE_MASK) <= SERVING) " +
      "+}cancel(words, at);[- // perhaps it was just answered-]",
    c: NO_POOL,
  }, {
    what: "refuses a task that a worker has begun",
    by: "what no worker has begun is refused",
    ts: "[-if (!this.#rooms.withdraw(job.at)) " +
      "return;-]{+cancel(this.#slots.words, job.at);+}",
    c: NO_POOL,
  }),
  ...mutants({ source: "_pool/collector", scenarios: ["pool"] }, {
    what: "waits for the message of a worker that has died",
    by: "a worker dies behind a long result",
    ts: "[-if (job.worker === number) this.#lose(job, dead);-]{+job;+}",
    c: NO_POOL,
  }, {
    what: "forgets a message that comes before the slot was looked at",
    by: "a worker dies behind a long result",
    ts: "[-if (job !== undefined) job.early = message;-]{+job;+}",
    c: NO_POOL,
  }),
];
