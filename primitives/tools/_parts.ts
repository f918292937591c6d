/**
 * Primitives with the names that a program gave them.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";

/** A view of a primitive: anything with a `kind` and a place. */
export interface View {
  /** The name of the primitive, such as `"mutex"`. */
  readonly kind: string;
  /** The memory it lies in. */
  readonly buffer: SharedArrayBuffer;
  /** Where it begins in `buffer`, in bytes. */
  readonly byteOffset: number;
}

/** The primitives of a layout, by name. */
export interface Views {
  /** A primitive, or the memory of all. */
  readonly [name: string]: View | SharedArrayBuffer;
}

/** Whether it is a view of a primitive, or a handle. */
export const isView = (it: unknown): it is View =>
  typeof (it as View | null)?.kind === "string" &&
  (it as View).buffer !== undefined;

/**
 * The views among what was given, each with its name, or with "" if it has
 * none, in their order. An error message says that this cannot be done: `verb`.
 *
 * @throws {TypeError} If there is something else among them.
 */
export function namedViews(
  primitives: View | Iterable<View> | Views,
  verb: string,
): [name: string, view: View][] {
  if (isView(primitives)) return [["", primitives]];
  if (typeof primitives !== "object" || primitives === null) {
    throw new TypeError(
      "Primitives must be a list of views, the parts of a layout, or a view: " +
        `received ${describe(primitives)}`,
    );
  }
  const list: [string, unknown][] = Symbol.iterator in primitives
    ? [...primitives as Iterable<View>].map((view) => ["", view])
    : Object.entries(primitives).filter(([, part]) =>
      !(part instanceof SharedArrayBuffer)
    );
  for (const [, view] of list) {
    if (isView(view)) continue;
    throw new TypeError(
      `Cannot ${verb} ${describe(view)}: it is not a view of a primitive`,
    );
  }
  return list as [string, View][];
}
