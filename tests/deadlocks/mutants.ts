import { mutants, none } from "../_run/mutant.ts";

const NO_C = none("agents of C play no scenario of the table");

/** Mutants of `AgentTable`. */
export const MUTANTS = mutants({
  source: "tools/deadlocks",
  scenarios: ["deadlocks"],
}, {
  what: "clears a row that may be another agent's by now",
  by: "two supervisors abandon one agent, and a newcomer takes its row",
  ts: [
    "[-const found = Atomics.compareExchange(words, row + AGENT, owner, " +
    "mine); if (found !== owner) continue;-]",
    "{+const found = +}Atomics.[-store-]{+compareExchange+}(words, row + " +
    "AGENT, [-0);-]{+owner, 0); if (found === owner)+} count++;",
  ],
  c: NO_C,
}, {
  what: "takes the row by a store",
  by: "two supervisors abandon one agent, and a newcomer takes its row",
  ts: "const found = {+owner; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "row + AGENT, [-owner, -]mine);",
  c: NO_C,
}, {
  what: "frees the row before it is clear",
  by: "two supervisors abandon one agent, and a newcomer takes its row",
  ts: "{+Atomics.store(words, row + AGENT, 0); +}for (let i = ON; i < NAME; " +
    "i++) Atomics.store(words, row + i, 0);[- Atomics.store(words, row + " +
    "AGENT, 0);-]",
  c: NO_C,
}, {
  what: "leaves a row that a dead agent was clearing",
  by: "a supervisor terminated while it clears a row",
  ts: "if (owner !== id[- && owner !== -id-]) continue;",
  c: NO_C,
});
