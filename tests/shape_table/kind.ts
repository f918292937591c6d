import { ShapeTable } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Twin } from "../_run/mixed/twin.ts";

const text = Uint8Array.of(1, 0x41, 97);

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "shape_table",
  ...made(ShapeTable, [{ bytes: 16 }]),
  use: (view) => (view as ShapeTable).add(text),
  used: (view) => (view as ShapeTable).size === 1,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "ShapeTable", most: 3316 };

class ShapeTableInC extends Twin {
  add(text: Uint8Array, insists: boolean): number {
    this.bytesOfScratch.set(text);
    return this.invoke("add", this.scratch.at, text.length, insists ? 1 : 0);
  }

  /** An array of the text's length: its bytes are in the other memory. */
  textAt(number: number): Uint8Array | undefined {
    const { at, words } = this.scratch;
    if (this.invoke("text_at", number, at) === 0) return undefined;
    return new Uint8Array(words[0]!);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { ShapeTable: ShapeTableInC };
