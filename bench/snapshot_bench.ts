// Which way is better for one reader: three copies, or two with the sequence?
import { Snapshot } from "../mod.ts";
import { contest, type Contestant, ratio, type Row } from "./contest.ts";

const N = 100_000;

function timed<Name extends string>(
  name: Name,
  size: number,
  single: boolean,
): Contestant & { readonly name: Name } {
  const snapshot = Snapshot.create({ size, singleReader: single });
  const value = new Int32Array(size / 4);
  return {
    name,
    turn() {
      const begin = performance.now();
      for (let i = 0; i < N; i++) {
        value[0] = i;
        snapshot.write(value);
        snapshot.read(value);
      }
      const ns = (performance.now() - begin) * 1e6 / N;
      return Promise.resolve({ ns });
    },
  };
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const size of [16, 64, 256]) {
    const results = await contest([
      timed("three copies", size, true),
      timed("two copies", size, false),
    ]);
    rows.push({
      name: `Snapshot of ${size} bytes, write and read: two copies / three`,
      ...ratio(results, "two copies", "three copies"),
      target: { least: 1 },
    });
  }
  return rows;
}
