import { race } from "../../race/mod.ts";
import { enter, type Scenario, type Weft } from "../_run/scenario.ts";

const DEAD = 100;
const SURVIVOR = 101;

/** Runs as agent `id`: the one realm of all agents knows the last id only. */
function as<T>({ mod }: Weft, id: number, run: () => T): T {
  mod.setAgentId(id);
  return run();
}

/** Joins, if there is room, without the timer that notes what is awaited. */
function join(
  table: InstanceType<Weft["deadlocks"]["AgentTable"]>,
  name: string,
): boolean {
  const { setInterval } = globalThis;
  globalThis.setInterval = (() => 0) as never;
  try {
    table.join(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false; // all rows are taken
    throw error;
  } finally {
    globalThis.setInterval = setInterval;
  }
}

/** A table of one row, whose agent is dead. */
function table(weft: Weft) {
  const { AgentTable } = weft.deadlocks;
  return race.spec({
    memory: () => {
      const table = AgentTable.create({ agents: 1 });
      as(weft, DEAD, () => join(table, "the dead one"));
      return table.buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new AgentTable(memory);
    },
    stateless: true,
    ops: {
      abandon: {
        run: (table, dead: number, id) =>
          as(weft, id + 1, () => table.abandon(dead)),
      },
      join: {
        run: (table, name: string, id) =>
          as(weft, id + 1, () => join(table, name)),
      },
    },
    recover: (table, dead) =>
      as(weft, SURVIVOR, () => [DEAD, dead + 1].map((id) => table.abandon(id))),
    final: (memory, results) => {
      const table = new AgentTable(memory);
      as(weft, DEAD, () => table.leave()); // this realm notes nothing any more
      const rows = new Int32Array(memory, 128);
      const names = table.agents.map(({ name }) => name);
      const counts = results.flat().filter((result) => result === 1);
      if (counts.length > 1) return "the row was freed twice";
      const joined = results.flat().includes(true);
      if (names.join() !== (joined ? "new" : "")) return `names: ${names}`;
      if (!joined && rows[0] !== 0) return `a row of ${rows[0]} is left`;
    },
  });
}

const notInC = "C notes agents only where WEFT_NAMED_AGENTS is defined";

/** The race scenarios of `AgentTable`. */
export const scenarios = (weft: Weft): Scenario[] => [
  {
    name: "two supervisors abandon one agent, and a newcomer takes its row",
    spec: table(weft),
    agents: [[["abandon", DEAD]], [["abandon", DEAD]], [["join", "new"]]],
    awaits: [0, 1, 2],
    notInC,
  },
  {
    name: "a supervisor terminated while it clears a row",
    spec: table(weft),
    agents: [[["abandon", DEAD]], [["abandon", DEAD]]],
    awaits: [0, 1],
    options: { kill: true },
    notInC,
  },
];
