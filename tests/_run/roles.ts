import { race } from "../../race/mod.ts";
import { enter, named, type Scenario, type Weft } from "./scenario.ts";

/** Why C has more states: its functions ask for a role each time. */
export const ASKS: string =
  "a view in TypeScript remembers that it has a role, which C loads";

/** What a view has whose roles one agent has at a time. */
interface Roles {
  abandon(id: number): unknown;
}

/** A primitive with roles of one agent, and what agents do in them. */
export interface InRoles<View> {
  readonly memory: () => SharedArrayBuffer;
  readonly view: (memory: SharedArrayBuffer) => View;
  /** Its row of `LAYOUT`. */
  readonly row: Readonly<Record<string, number>>;
  readonly hints: readonly (readonly [from: number, to: number])[];
  /** What an agent does in each role; it returns something but undefined. */
  readonly acts: Readonly<Record<string, (view: View) => unknown>>;
  /** What is wrong after each role acted that number of times, or nothing. */
  readonly wrong: (
    memory: SharedArrayBuffer,
    count: (role: string) => number,
  ) => string | undefined;
}

/** A view, and the id of its agent. */
interface Acting<View> {
  readonly it: View;
  readonly id: number;
}

const REFUSED = "refused";

/**
 * Two agents in each role: one of them has it. If it gives the role up, the
 * other one may act after it, and nothing is lost.
 */
export function roleScenarios<View extends Roles>(
  weft: Weft,
  { memory, view, row, hints, acts, wrong }: InRoles<View>,
): Scenario[] {
  const ops = Object.entries(acts).map(([role, act]) => {
    const run = (acting: unknown) => {
      const { it } = acting as Acting<View>;
      try {
        return [role, act(it)];
      } catch (error) {
        if (error instanceof TypeError) return [REFUSED];
        throw error;
      }
    };
    return [role, { run }] as const;
  });
  const spec = race.spec({
    memory,
    agent: (memory, id) => {
      enter(weft, id);
      return { it: view(memory), id: id + 1 };
    },
    words: named(row),
    hints,
    stateless: false,
    ops: {
      ...Object.fromEntries(ops),
      leave: {
        run: (acting: unknown) => {
          const { it, id } = acting as Acting<View>;
          it.abandon(id);
        },
      },
    },
    final: (memory, results) => {
      const did = (role: string) => (of: readonly unknown[]) =>
        of.filter((it) => Array.isArray(it) && it[0] === role && it[1] != null)
          .length;
      const left = results.flat().includes(undefined);
      for (const role of Object.keys(acts)) {
        const agents = results.filter((of) => did(role)(of) > 0).length;
        if (agents > 1 && !left) return `two agents ${role}`;
      }
      if (!results.flat().some((it) => Array.isArray(it) && it[1] != null)) {
        return "nobody has the role";
      }
      return wrong(memory, (role) => did(role)(results.flat()));
    },
  });
  return Object.keys(acts).flatMap((role) =>
    [{
      name: `two agents ${role}, of which one may`,
      differs: ASKS,
      spec,
      agents: [[[role]], [[role]]],
    }, {
      name: `two agents ${role}, one after the other`,
      differs: ASKS,
      spec,
      agents: [[[role], ["leave"]], [[role]]],
    }] as Scenario[]
  );
}
