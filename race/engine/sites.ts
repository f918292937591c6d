/**
 * Source positions of the code under test.
 *
 * @module
 */

import { type Position, sourceOf } from "./source_map.ts";
import { show } from "./values.ts";

// A bundle of the format CommonJS has no address.
const HERE = (import.meta.url as string | undefined) ?? "";

/** Whether the tester is part of a bundle, perhaps with the code under test. */
const BUNDLED = !/\/engine\/sites\.[jt]s($|\?)/.test(HERE);

/** The tester's folder as stacks name it: its address; in Bun, its path. */
const OWN = BUNDLED ? "" : folderIn(textOf(new Error()));

/** An error's stack, also if the code under test makes one of its frames. */
function textOf(error: Error): string {
  const stack: unknown = error.stack;
  if (!Array.isArray(stack)) {
    return String(stack ?? `${error.name}: ${error.message}`);
  }
  return `${error.name}: ${error.message}` +
    stack.map((frame) => `\n    at ${frame}`).join("");
}

function folderIn(stack: string): string {
  const { href, pathname } = new URL("..", HERE);
  return stack.includes(href) ? href : decodeURIComponent(pathname);
}

// As TypeScript, or as the JavaScript that a registry makes of it.
const OURS = HERE.endsWith("/engine/sites.js")
  ? /^(\w+\/){0,2}\w+\.js/
  : /^(\w+\/){0,2}\w+\.ts/;

/**
 * A place in a file, as it ends a line of a stack. Folders may have brackets in
 * their names; behind `eval` there is another place.
 */
const PLACE =
  /(?:^|[\s(])((?:file:\/\/|\/|[A-Za-z]:\\)(?:(?!\), )[^?])*):(\d+):(\d+)\)?$/;

/** In a bundle: the folder of the tester's sources, or the bundle itself. */
let own: string | undefined;

/** The files of lines that were looked for, by the lines. */
const paths = new Map<string, string>();

/** The path or the address of the file of a line that `siteOf` has found. */
export const pathOf = (site: string): string | undefined => paths.get(site);

/** The source line of the code under test that is on the stack. */
export function siteOf(): string {
  for (const line of textOf(new Error()).split("\n").slice(1)) {
    if (ownLine(line)) continue;
    const match = /([^/\\(\s]+?)(?:\?[^:]*)?:(\d+):\d+\)?$/.exec(line.trim());
    if (match !== null) {
      const site = sourceAt(line) ?? `${match[1]}:${match[2]}`;
      if (!paths.has(site)) paths.set(site, sourceFile(line));
      return site;
    }
    // A wasm module has no lines, but its functions have names. The functions
    // that were added for plain accesses have none.
    const [, name] = /^at (\S+) \(wasm:/.exec(line.trim()) ?? [];
    if (name !== undefined && name !== "<anonymous>") return name;
  }
  return "";
}

/** The line that a line of a stack names: in a bundle, that of the source. */
function sourceAt(text: string): string | undefined {
  const place = PLACE.exec(text.trim());
  if (place === null) return undefined;
  const { file, line } = positionAt(text) ??
    { file: place[1]!, line: place[2]! };
  return `${file.replace(/.*[/\\]/, "")}:${line}`;
}

function positionAt(text: string): Position | undefined {
  const place = PLACE.exec(text.trim());
  if (place === null) return undefined;
  return sourceOf(place[1]!, Number(place[2]), Number(place[3]));
}

function fileOf(text = ""): string | undefined {
  return PLACE.exec(text.trim())?.[1];
}

/** The file that a line of a stack is about; a source, if there is a map. */
const sourceFile = (line: string): string =>
  positionAt(line)?.file ?? fileOf(line) ?? "";

/** Whether a line of a bundle is the tester's own; without a map, all are. */
function ownInBundle(line: string): boolean {
  own ??= sourceFile(textOf(new Error()).split("\n")[1] ?? "")
    .replace(/engine[/\\]sites\.[jt]s$/, "");
  return own !== "" && sourceFile(line).startsWith(own);
}

/** What the real functions of `Atomics` say of what is no view. */
const NOT_A_VIEW =
  /(integer (shared )?|int32 or BigInt64 |needs to be a )typed array/;

/**
 * The real function of `Atomics` that the code under test called instead of the
 * stand-in. It fails, because it was given a stand-in's view.
 */
function capturedBy(error: unknown): string | undefined {
  if (!(error instanceof TypeError)) return undefined;
  if (!NOT_A_VIEW.test(error.message)) return undefined;
  const lines = textOf(error).split("\n")
    .filter((line) => /^\s*at /.test(line));
  const [, name] = /at (?:Atomics\.)?(\w+) \((?:<anonymous>|unknown)\)/
    .exec(lines[0] ?? "") ?? [];
  return name === undefined || ownLine(lines[1] ?? "") ? undefined : name;
}

/**
 * The method of a typed array that was called by its name in a prototype, as by
 * `fill.call(view)`. It fails, because it was given a stand-in.
 */
function borrowedBy(error: unknown): string | undefined {
  if (!(error instanceof TypeError)) return undefined;
  if (!/not a typed array/.test(error.message)) return undefined;
  return /^\s*at Proxy\.(\w+) \(<anonymous>\)/m.exec(textOf(error))?.[1];
}

/**
 * Whether the agent called the platform's `receiveMessageOnPort`. It fails,
 * because it was given a stand-in.
 */
function receivedBy(error: unknown): boolean {
  return error instanceof TypeError &&
    /^\s*at receiveMessageOnPort /m.test(textOf(error)) &&
    /MessagePort instance/.test(error.message);
}

/** An error's text, without the tester's own lines. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return typeof error === "object" ? show(error) : String(error);
  }
  const lines = textOf(error).split("\n");
  const bottom = lines.findIndex((line) =>
    line.includes(`.${BOTTOM} (`) && ownLine(line)
  );
  if (bottom >= 0) lines.length = bottom;
  return lines.filter((line) => !/^\s*at /.test(line) || !ownLine(line))
    .join("\n");
}

/** The tester's function that runs an agent's calls, below the agent. */
const BOTTOM = "runCalls";

/** The frames on top of the agent's that are surely the tester's own. */
const OWN_FRAMES = 4;

/** The position of the agent on the stack, as a key that is quick to make. */
export function placeOf(): string {
  const holder = Error as unknown as {
    prepareStackTrace?: unknown;
    stackTraceLimit?: number;
  };
  const { prepareStackTrace, stackTraceLimit } = holder;
  holder.prepareStackTrace = placeIn;
  holder.stackTraceLimit = 14;
  try {
    return String(new Error().stack);
  } finally {
    holder.prepareStackTrace = prepareStackTrace;
    holder.stackTraceLimit = stackTraceLimit!;
  }
}

/** The part of one of V8's stack frames that is needed. */
interface Site {
  getScriptNameOrSourceURL?(): string | null;
  getFunctionName?(): string | null;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
  /**
   * The offset in its script, which V8 has at once. Deno does not pass it on.
   */
  getPosition?(): number;
}

/** The positions of the frames that are not the tester's own. */
function placeIn(_: unknown, sites: readonly Site[]): string {
  let place = "";
  for (let i = OWN_FRAMES; i < sites.length; i++) {
    const site = sites[i]!;
    // The name is there at once. To find a line, Deno looks for a source map.
    const own = !BUNDLED && site.getScriptNameOrSourceURL?.()?.startsWith(OWN);
    // Below it, there may be other agents.
    if ((own || BUNDLED) && site.getFunctionName?.() === BOTTOM) break;
    if (own) continue;
    place += `${
      site.getPosition?.() ??
        `${site.getLineNumber()}:${site.getColumnNumber()}`
    },`;
  }
  return place;
}

function ownLine(line: string): boolean {
  if (BUNDLED) return ownInBundle(line);
  const at = line.indexOf(OWN);
  return at >= 0 && OURS.test(line.slice(at + OWN.length));
}

/** Why the code that threw `error` cannot be explored, if that is known. */
export function unfit(error: unknown): string | undefined {
  const captured = capturedBy(error);
  if (captured !== undefined) {
    return `Cannot explore a function of Atomics that was kept in a variable ` +
      `before the exploration, as by "const { ${captured} } = Atomics" ` +
      `in a module: call Atomics.${captured}() instead`;
  }
  const borrowed = borrowedBy(error);
  if (borrowed !== undefined) {
    return `Cannot explore ${borrowed}() of a typed array's prototype, as by ` +
      `"${borrowed}.call(view)": call it as view.${borrowed}() instead`;
  }
  if (!receivedBy(error)) return undefined;
  return "Cannot explore receiveMessageOnPort(): a module that imports it by " +
    "its name has the platform's own here, which knows no simulated " +
    'port. Import all of "node:worker_threads", and call it as a ' +
    "property";
}
