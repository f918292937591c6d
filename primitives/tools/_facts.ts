/**
 * What is shown of a primitive in a line, such as
 * `Mutex { owner 7, waiters 2 }`.
 *
 * @module
 */

import type { View } from "./_parts.ts";
import type { InspectedWords } from "../_memory/region.ts";

/** What the getters of a class may tell, beside owner and waiters. */
const GETTERS = [
  "size",
  "capacity",
  "available",
  "count",
  "isSet",
  "arrived",
  "parties",
  "completed",
  "remaining",
  "pending",
  "slots",
  "subscribers",
  "version",
  "closed",
  "cancelled",
] as const;

/** Facts by name. */
export type Facts = Readonly<Record<string, number | boolean>>;

/** The name of a class: `"rw_lock"` is that of `RwLock`. */
export const classOf = (kind: string): string =>
  kind.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The facts that are known about a primitive, such as its owner. */
export function factsOf(
  view: View,
  { owner, waiters }: Pick<InspectedWords, "owner" | "waiters">,
): Facts {
  const facts: Record<string, number | boolean> = {};
  if (owner !== undefined) facts.owner = owner;
  for (const name of GETTERS) {
    const value = valueOf(view, name);
    if (typeof value === "number") facts[name] = value;
    // A flag is told once it is set.
    else if (value === true) facts[name] = true;
  }
  if (waiters !== undefined) facts.waiters = waiters;
  return facts;
}

/** A getter may throw: the words are damaged. */
function valueOf(view: View, name: string): unknown {
  try {
    return (view as unknown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** A fact, such as `owner 7`; a flag is its name alone. */
export const factText = (name: string, value: number | boolean): string =>
  value === true ? name : `${name} ${value}`;

/** The line: `parts` are the facts as text. */
export function lineOf(kind: string, parts: readonly string[]): string {
  const name = classOf(kind);
  return parts.length === 0 ? name : `${name} { ${parts.join(", ")} }`;
}
