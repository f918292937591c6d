/**
 * Makes one C header of `weft.h` and the files that it includes.
 *
 * @module
 */

const INCLUDE = /^#include "(.+)"\n/gm;

/** The includes of a header, with the comments around them. */
const INCLUDES =
  /(^.*\n\/\* clang-format off \*\/\n)?(^#include ".+"\n)+(^\/\* clang-format on.*\n)?\n/m;

/**
 * The files that `text`, the header `name`, includes, by names like its own.
 */
export function includesOf(name: string, text: string): string[] {
  const folder = name.slice(0, name.lastIndexOf("/") + 1);
  return [...text.matchAll(INCLUDE)].map(([, file]) => folder + file);
}

/**
 * The single file. `files` holds every header by its name, such as `weft.h` and
 * `weft/mutex.h`. Each header comes once, before the first that needs it.
 */
export function amalgamation(files: Readonly<Record<string, string>>): string {
  const done = new Set<string>();
  const inlined = (name: string): string => {
    if (done.has(name)) return "";
    done.add(name);
    const text = files[name]!;
    const needed = includesOf(name, text).map(inlined).join("");
    return `${needed}${text.replace(INCLUDES, "")}\n`;
  };
  const { "weft.h": outer = "" } = files;
  const parts = includesOf("weft.h", outer).map(inlined).join("");
  return outer.replace(INCLUDES, () => parts);
}
