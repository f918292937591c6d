// What does it cost to write an object and to read it again, in one thread? The
// shapes of objects lie in a table, as in a channel. Peers: msgpackr, which
// keeps them, too; JSON as UTF-8; `structuredClone`. And what does it cost to
// look at two parts of it by a view?
import { ShapeTable, type ValueView } from "../mod.ts";
import { values } from "../primitives/_value/codec.ts";
import { Views } from "../primitives/_value/view/codec.ts";
import { contest, ratio, type Row, timed } from "./contest.ts";
import { nameOf, peer } from "./peers.ts";

const SMALL = {
  id: 12345,
  name: "somebody of some name",
  tags: ["one", "two", "three"],
  at: 1234567.5,
};

/** Objects in objects, short arrays, texts and numbers, under 40 names. */
const LARGE = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => [
    `field${i}`,
    [{ a: i, b: `text${i}` }, `some letters ${i}`, i * 1.5, [i, i + 1, i + 2]][
      i % 4
    ],
  ]),
);

interface Msgpackr {
  readonly Packr: new (config: { structures: unknown[] }) => {
    pack(value: unknown): Uint8Array;
    unpack(bytes: Uint8Array): unknown;
  };
}

/** Each value with the most of the peers' time that it may take. */
const VALUES: [
  what: string,
  value: unknown,
  every: number,
  ofMsgpackr: number,
  ofClone: number,
][] = [
  ["a small object", SMALL, 10, 0.5, 0.3],
  ["an object of 40 names", LARGE, 100, 0.8, 0.6],
];

/** Of a loop's rounds, `once` is called in one of `every`. */
function repeated<Name extends string>(
  name: Name,
  every: number,
  once: () => unknown,
) {
  const contestant = timed(name, (n) => {
    for (let i = 0; i < n; i += every) once();
  });
  const turn = async () => ({ ns: (await contestant.turn()).ns! * every });
  return { ...contestant, turn };
}

/** Two parts of the large object, by a view and by building all of it. */
async function views(): Promise<Row> {
  const table = ShapeTable.create();
  const sender = values.over(table);
  const memory = new Uint8Array(new SharedArrayBuffer(8192));
  let length = 0;
  for (let i = 0; i < 3; i++) { // so that the names are in the table
    length = sender.encodeAt(LARGE, memory, 64, 8000);
  }
  const twoOf = (view: ValueView<typeof LARGE>) => [
    view.get("field10")!.read(),
    view.get("field30")!.read(),
  ];
  const [looking, building] = [
    new Views(twoOf, [], table),
    values.over(table),
  ];
  const results = await contest([
    repeated("view", 100, () => looking.decodeAt(memory, 64, length)),
    repeated("whole", 100, () => {
      const { field10, field30 } = building
        .decodeAt(memory, 64, length) as typeof LARGE;
      return [field10, field30];
    }),
  ]);
  return {
    name: "viewCodec, two of 40 names: time / the whole object",
    ...ratio(results, "view", "whole"),
    target: { most: 0.5 },
  };
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const url = peer("msgpackr");
  const msgpackr: Msgpackr | undefined = url && await import(url.href);
  const rows: Row[] = [];
  for (const [what, value, every, ofMsgpackr, ofClone] of VALUES) {
    const table = ShapeTable.create();
    const [sender, receiver] = [values.over(table), values.over(table)];
    const memory = new Uint8Array(new SharedArrayBuffer(8192));
    const apart = new Uint8Array(8192);
    const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
    const packr = msgpackr && new msgpackr.Packr({ structures: [] });
    const results = await contest([
      repeated("value", every, () => {
        const length = sender.encodeAt(value, memory, 64, 8000);
        return receiver.decodeAt(memory, 64, length);
      }),
      repeated("JSON", every, () => {
        const text = JSON.stringify(value);
        const { written } = encoder.encodeInto(text, apart);
        return JSON.parse(decoder.decode(apart.subarray(0, written)));
      }),
      repeated("structuredClone", every, () => structuredClone(value)),
      ...packr === undefined ? [] : [
        repeated("msgpackr", every, () => packr.unpack(packr.pack(value))),
      ],
    ]);
    const name = `valueCodec, ${what}, write and read: time /`;
    if (packr !== undefined) {
      rows.push({
        name: `${name} ${nameOf("msgpackr")}`,
        ...ratio(results, "value", "msgpackr"),
        target: { most: ofMsgpackr },
      });
    }
    rows.push({
      name: `${name} structuredClone`,
      ...ratio(results, "value", "structuredClone"),
      target: { most: ofClone },
    }, {
      name: `${name} JSON as UTF-8`,
      ...ratio(results, "value", "JSON"),
    });
  }
  rows.push(await views());
  return rows;
}
