/**
 * What several tests of a `HashMap` use.
 *
 * @module
 */
import { codec, type HashMap, struct } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { planFor } from "../../primitives/_map/plan.ts";

export const ints = { key: codec.i32, value: codec.i32 };
export const Point = struct({ id: "u8", x: "f64" });
/** The id of an agent that is dead. */
export const DEAD = 77;

/** Words of the parts of a map of numbers. */
export function parts(
  { capacity, buffer, byteOffset }: HashMap<number, number>,
) {
  const plan = planFor(LAYOUT.hash_map.length, capacity, 1, 1);
  const words = new Int32Array(buffer, byteOffset, plan.length);
  return { ...plan, words };
}
