// What does it cost to read a record by its struct? Floor: a DataView, used by
// hand. No peer shares its layout with C.
import { struct } from "../mod.ts";
import { contest, ratio, type Row, timed } from "./contest.ts";

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const Point = struct({ id: "u32", x: "f64", y: "f64" });
  const bytes = new Uint8Array(new SharedArrayBuffer(64 * Point.size));
  const view = new DataView(bytes.buffer);
  const place = Point.view(bytes, 0);
  const record = { id: 1, x: 2, y: 3 };
  let sum = 0;
  const results = await contest([
    timed("struct", (n) => {
      for (let i = 0; i < n; i++) {
        const at = (i & 63) * Point.size;
        record.id = i;
        Point.write(bytes, record, at);
        const { id, x, y } = Point.read(bytes, at);
        sum += id + x + y;
      }
    }),
    timed("view", (n) => {
      for (let i = 0; i < n; i++) {
        place.$at = (i & 63) * Point.size;
        place.id = i;
        place.x = 2;
        place.y = 3;
        sum += place.id + place.x + place.y;
      }
    }),
    timed("DataView", (n) => {
      for (let i = 0; i < n; i++) {
        const at = (i & 63) * 24;
        view.setUint32(at, i, true);
        view.setFloat64(at + 8, 2, true);
        view.setFloat64(at + 16, 3, true);
        sum += view.getUint32(at, true) + view.getFloat64(at + 8, true) +
          view.getFloat64(at + 16, true);
      }
    }),
  ]);
  if (Number.isNaN(sum)) throw new Error("a field was lost");
  return [{
    name: "view of a struct of 3 fields: time / a DataView by hand",
    ...ratio(results, "view", "DataView"),
    target: { most: 1.6 },
  }, {
    name: "struct of 3 fields, write and read: time / a DataView by hand",
    ...ratio(results, "struct", "DataView"),
  }];
}
