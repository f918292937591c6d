import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { ShapeTable } from "../../mod.ts";
import { type Scenario, viewing, type Weft } from "../_run/scenario.ts";

const SLOTS = LAYOUT.shape_table.length;

/** A text of some bytes, which its letter tells from others. */
const textOf = (letter: number, length = 3) =>
  new Uint8Array(length).fill(letter);

/** The slot in which an empty table puts a text. */
const slotOf = (text: Uint8Array) => ShapeTable.create().add(text);

/** Two letters whose texts belong into one slot. */
const [ONE, OTHER] = (() => {
  const first = slotOf(textOf(1));
  for (let letter = 2;; letter++) {
    if (slotOf(textOf(letter)) === first) return [1, letter];
  }
})();

/** That slot. */
const FIRST = slotOf(textOf(ONE));

interface Setting {
  /** The bytes for texts. */
  readonly bytes?: number;
  /** Whether one shape may be in the table twice. */
  readonly twice?: boolean;
}

/** Agents add shapes, and read what they have added. */
function sharing(weft: Weft, { bytes = 16, twice = false }: Setting = {}) {
  const { ShapeTable } = weft.mod;
  const share = (
    table: InstanceType<typeof ShapeTable>,
    letter: number,
    length: number,
    insists: boolean,
  ) => {
    const number = table.add(textOf(letter, length), insists);
    if (number < 0) return number;
    // Whoever knows a number finds its text.
    const text = table.textAt(number);
    return text?.length === length ? number : "no text";
  };
  return race.spec({
    memory: () => ShapeTable.create({ bytes }).buffer,
    ...viewing(weft, ShapeTable, {
      ...LAYOUT.shape_table,
      state: SLOTS + 2 * FIRST,
      place: SLOTS + 2 * FIRST + 1,
    }),
    ops: {
      add: {
        run: (table, letter: number) => share(table, letter, 3, false),
        lockFree: true,
      },
      insist: {
        run: (table, letter: number) => {
          const number = share(table, letter, 3, true);
          return typeof number === "number" && number < 0 ? "refused" : number;
        },
        lockFree: true,
      },
      addLong: {
        run: (table, letter: number) => share(table, letter, 8, false),
      },
      read: {
        run: (table) => {
          const text = table.textAt(FIRST);
          return text === undefined || text.length === 3 ? 0 : "another text";
        },
        lockFree: true,
      },
    },
    final: (memory, results) => {
      const wrong = results.flat().find((result) => typeof result === "string");
      if (wrong !== undefined) return `${wrong}`;
      const table = new ShapeTable(memory);
      const texts = [];
      for (let number = 0; number < 64; number++) {
        const text = table.textAt(number);
        if (text !== undefined) texts.push(`${text}`);
      }
      if (texts.length !== table.size) return "a shape has no text";
      if (!twice && new Set(texts).size < texts.length) return "a shape twice";
    },
  });
}

/** Why C takes fewer steps. */
const COPIES = "textAt in TypeScript copies the text";

/** The race scenarios of `ShapeTable`. */
export function scenarios(weft: Weft): Scenario[] {
  const add = (letter: number) => ["add", letter] as const;
  const addLong = (letter: number) => ["addLong", letter] as const;
  const insist = (letter: number) => ["insist", letter] as const;
  return [
    {
      name: "two agents add one shape",
      differs: COPIES,
      spec: sharing(weft),
      agents: [[add(ONE)], [add(ONE), add(ONE)]],
      options: { progress: "lock-free" },
    },
    {
      name: "two shapes for one slot",
      differs: COPIES,
      spec: sharing(weft),
      agents: [[add(ONE)], [add(OTHER), ["read"]]],
      options: { progress: "lock-free" },
    },
    {
      name: "two shapes, room for one",
      differs: COPIES,
      spec: sharing(weft, { bytes: 12 }),
      agents: [[addLong(ONE)], [addLong(OTHER)]],
    },
    {
      name: "an agent is terminated while it adds",
      spec: sharing(weft, { twice: true }),
      agents: [[add(ONE)], [insist(ONE), insist(ONE)]],
      options: { kill: true },
    },
  ];
}
