/**
 * The library's classes over functions of C, as far as the race scenarios use
 * them: so that agents that are C can play in the same ones. Each folder has
 * its own: a class in `kind.ts`, a function alone in `in_c.ts`, and in `in_c.c`
 * the C that only they need.
 *
 * @module
 */
import { foldersWith, load } from "../folders.ts";
import type { Agent, Twin } from "./twin.ts";

/** What a folder exports of them. */
interface Exports {
  readonly twins?: Readonly<Record<string, AnyTwin>>;
  readonly functions?: Functions;
  readonly imports?: Readonly<Record<string, (...args: never[]) => unknown>>;
}

/**
 * Functions of `mod.ts` over functions of C: what is called if one of the
 * arguments is a twin, which comes first here.
 */
export type Functions = Readonly<
  Record<string, (twin: Twin, ...args: never[]) => unknown>
>;

/** A class over functions of C, as its own agent makes it. */
export type AnyTwin = new (agent: Agent, ...args: never[]) => object;

const all = await Promise.all(
  ["kind.ts", "in_c.ts"].flatMap((file) =>
    foldersWith(file).map((folder) => load<Exports>(folder, file))
  ),
);

/** The classes, by the names of those that they stand for. */
export const twins: NonNullable<Exports["twins"]> = Object.assign(
  {},
  ...all.map(({ twins }) => twins),
);

/** The functions, by the names of those that they stand for. */
export const functions: Functions = Object.assign(
  {},
  ...all.map(({ functions }) => functions),
);

/** The functions that C imports from `env`. */
export const imports: NonNullable<Exports["imports"]> = Object.assign(
  {},
  ...all.map(({ imports }) => imports),
);
