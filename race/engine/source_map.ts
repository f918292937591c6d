/**
 * Finds the source line of a line in a bundle, by the bundle's source map.
 *
 * @module
 */

/** What is read of files, where the runtime has a process. */
interface Files {
  readFileSync(path: string | URL, encoding: "utf8"): string;
}

/** The globals of such a runtime. */
interface Globals {
  readonly process: { getBuiltinModule(name: "node:fs"): Files };
}

/** A line of a source. */
export interface Position {
  readonly file: string;
  readonly line: number;
}

/** The beginning of a segment: its column, and where that comes from. */
type Segment = readonly [column: number, source: number, line: number];

interface SourceMap {
  readonly sources: readonly string[];
  readonly lines: readonly (readonly Segment[])[];
}

const known = new Map<string, SourceMap | undefined>();

/**
 * Where a position of the file at `path` comes from; undefined if the file has
 * no source map, or cannot be read here.
 */
export function sourceOf(
  path: string,
  line: number,
  column: number,
): Position | undefined {
  if (!known.has(path)) known.set(path, mapOf(path));
  const map = known.get(path);
  const segment = map?.lines[line - 1]
    ?.findLast(([from]) => from <= column - 1);
  const file = segment && map?.sources[segment[1]];
  return file === undefined ? undefined : { file, line: segment![2] + 1 };
}

// In two parts: in a bundle, the whole would be found here.
const MARK = ["//# source", "MappingURL="].join("");

/**
 * The text of a file by its path or address, if it can be read here. Deno's
 * stacks have addresses in which nothing is escaped.
 */
export function textOf(path: string): string | undefined {
  const [, bare] = /^file:\/\/(.*)/.exec(path) ?? [];
  if (bare === undefined) return read(() => path);
  return read(() => new URL(path)) ?? read(() => bare);
}

function read(place: () => string | URL): string | undefined {
  try {
    const { process } = globalThis as unknown as Globals;
    return process.getBuiltinModule("node:fs").readFileSync(place(), "utf8");
  } catch {
    return undefined;
  }
}

function mapOf(path: string): SourceMap | undefined {
  try {
    const source = textOf(path) ?? "";
    // A regular expression that seeks the last one takes minutes without one.
    const mark = source.lastIndexOf(MARK);
    const [url = ""] = mark < 0
      ? []
      : /^\S*/.exec(source.slice(mark + MARK.length)) ?? [];
    const [, data] = /^data:application\/json[^,]*;base64,(.*)/.exec(url) ?? [];
    const text = data !== undefined
      ? new TextDecoder().decode(
        Uint8Array.from(atob(data), (c) => c.charCodeAt(0)),
      )
      : url === ""
      ? ""
      : textOf(new URL(url, new URL(path, "file:///")).href) ?? "";
    const { sources, mappings } = JSON.parse(text);
    return { sources, lines: decode(mappings) };
  } catch {
    return undefined;
  }
}

const DIGITS =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The segments of each line of a bundle. */
function decode(mappings: string): Segment[][] {
  let source = 0;
  let line = 0;
  return mappings.split(";").map((text) => {
    let column = 0;
    return text.split(",").flatMap((segment) => {
      const [columns = 0, sources, lines = 0] = numbers(segment);
      column += columns;
      if (sources === undefined) return [];
      source += sources;
      line += lines;
      return [[column, source, line] as const];
    });
  });
}

/** The numbers of a segment: six bits a digit, the first one with a sign. */
function numbers(segment: string): number[] {
  const found: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    found.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return found;
}
