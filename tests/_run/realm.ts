/**
 * Modules that can be instantiated again and again. The race tester runs all
 * agents in one realm, and runs an agent's code again whenever the agent goes
 * on. So the state that a module keeps for its realm (queues of pending waits,
 * timers) must be made anew each time, in `agent()`. A module is evaluated when
 * one of its exports is first used, because an agent uses few of them.
 *
 * @module
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Makes a fresh instance of each module, and of all it imports. */
export type Realm<T> = () => T;

/** Reads the exports of a module. */
type Getters = Record<string, () => unknown>;

/** Gives the instance of a module in a realm. */
type Use = (file: string) => object;

/** The code of a module. */
type Body = (
  exports: (getters: Getters) => void,
  also: (other: Record<string, unknown>) => void,
  require: Use,
) => void;

/** An instance of a module; it has its exports once it is evaluated. */
interface Instance {
  readonly $use: Use;
  $getters: Getters | undefined;
  $evaluate(): Getters;
}

/** Makes an instance of a module, which is evaluated when it is used. */
type Instances = new (use: Use) => Instance;

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const CACHE = path.join(PROJECT, ".weft", "realm");
const FORMAT = { format: "cjs", target: "esnext" } as const;

/** Modules, compiled once for all their instances. */
export class Sources<T> {
  readonly #entries: readonly (readonly [name: string, file: string])[];
  readonly #texts: Map<string, string>;
  readonly #modules = new Map<string, Instances>();

  private constructor(
    entries: readonly (readonly [name: string, file: string])[],
    texts: Map<string, string>,
  ) {
    this.#entries = entries;
    this.#texts = texts;
  }

  /** The modules that `entries` name by what they are to be called. */
  static async of<T>(entries: Record<keyof T, URL>): Promise<Sources<T>> {
    const files = Object.entries<URL>(entries)
      .map(([name, url]) => [name, fileURLToPath(url)] as const);
    return new Sources<T>(files, await inScript(files.map(([, file]) => file)));
  }

  /** The same modules, but `file` has another text. */
  async with(file: string, text: string): Promise<Sources<T>> {
    const { transform } = await import("esbuild");
    const { code } = await transform(text, { ...FORMAT, loader: "ts" });
    const changed = new Sources<T>(
      this.#entries,
      new Map(this.#texts).set(file, code),
    );
    for (const [other, module] of this.#modules) {
      if (other !== file) changed.#modules.set(other, module);
    }
    return changed;
  }

  /** Makes instances of them. */
  readonly realm: Realm<T> = () => this.#make(new Map());

  /**
   * Makes instances that are evaluated now: they are shared by all calls of
   * `agent()`, each of which must find the same.
   */
  evaluated(): T {
    const known = new Map<string, Instance>();
    const made = this.#make(known);
    // A module that is evaluated may be the first to use another.
    for (const instance of known.values()) {
      if (instance.$getters === undefined) instance.$evaluate();
    }
    return made;
  }

  #make(known: Map<string, Instance>): T {
    const use = (file: string): Instance => {
      let module = known.get(file);
      if (module === undefined) {
        known.set(file, module = new (this.#module(file))(use));
      }
      return module;
    };
    const made = this.#entries.map(([name, file]) => [name, use(file)]);
    return Object.fromEntries(made) as T;
  }

  #module(file: string): Instances {
    let module = this.#modules.get(file);
    if (module === undefined) {
      const text = this.#texts.get(file)!;
      const names = [...this.#namesIn(file)];
      this.#modules.set(file, module = instancesOf(file, text, names));
    }
    return module;
  }

  #namesIn(file: string): Set<string> {
    const text = this.#texts.get(file)!;
    const [, list = ""] = /^__export\(\w+, \{$(.*?)^\}\);$/ms.exec(text) ?? [];
    const own = [...list.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name!);
    const others = [...text.matchAll(/^__reExport\(\w+, require\("(.+?)"\)/gm)]
      .flatMap((
        [, reference],
      ) => [...this.#namesIn(resolved(file, reference!))]);
    return new Set([...own, ...others]);
  }
}

const resolved = (file: string, reference: string): string =>
  path.resolve(path.dirname(file), reference);

/** Compiles a module that esbuild wrote as a script. */
function instancesOf(
  file: string,
  text: string,
  names: readonly string[],
): Instances {
  // What comes before are esbuild's helpers.
  const body = text.slice(Math.max(text.search(/^var \w+_exports = /m), 0))
    .replace(/^__export\(\w+, /m, "exports(")
    .replace(/^module\.exports = .*$/m, "")
    .replace(/^__reExport\(\w+, (require\(.+?\)).*$/gm, "also($1);")
    .replace(/\b__toESM\((require\(.+?\))\)/g, "$1")
    .replace(
      /\brequire\("(\..+?)"\)/g,
      (_, reference) => `require(${JSON.stringify(resolved(file, reference))})`,
    );
  if (/\b(?:module\.exports|__(?:export|reExport|toESM)\()/.test(body)) {
    throw new Error(`esbuild writes modules in a new way: ${file}`);
  }
  const members = names.map((name) =>
    `get ${name}() { return (this.$getters ?? this.$evaluate()).${name}(); }`
  );
  const make = new Function(
    "evaluate",
    `return class {
      constructor(use) {
        this.$use = use;
        this.$getters = undefined;
      }
      $evaluate() {
        evaluate(this);
        return this.$getters;
      }
      ${members.join("\n")}
    };`,
  );
  const run = new Function(
    "exports",
    "also",
    "require",
    `"use strict";\n${body}\n//# sourceURL=${path.basename(file)}`,
  ) as Body;
  return make((instance: Instance) => {
    const exports = (own: Getters) => void (instance.$getters = own);
    const also = (other: Record<string, unknown>) => {
      const getters = instance.$getters!;
      const proto = Object.getPrototypeOf(other);
      for (const name of Object.getOwnPropertyNames(proto)) {
        if (/^\$|^constructor$/.test(name)) continue;
        getters[name] ??= () => other[name];
      }
    };
    instance.$getters = {};
    run(exports, also, instance.$use);
  }) as Instances;
}

/** The last compilation: its end stops the compiler, also for any other. */
let compiling: Promise<unknown> = Promise.resolve();

/** `files`, and all they import, as scripts by their paths. */
function inScript(files: readonly string[]): Promise<Map<string, string>> {
  const texts = compiling.then(() => compiled(files));
  compiling = texts.catch(() => {});
  return texts;
}

async function compiled(
  files: readonly string[],
): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  const read = (file: string) => {
    if (sources.has(file)) return;
    const text = fs.readFileSync(file, "utf8");
    sources.set(file, text);
    const references = text.matchAll(/^(?:im|ex|\}).*?\bfrom "(\..+)";$/gm);
    for (const [, reference] of references) read(resolved(file, reference!));
  };
  files.forEach(read);
  const hash = createHash("sha256").update(fs.readFileSync(
    path.join(PROJECT, ".ci", "deno.lock"), // which names esbuild's version
  ));
  for (const [file, text] of sources) hash.update(`${file}\0${text}\0`);
  const kept = path.join(CACHE, `${hash.digest("hex")}.json`);
  if (fs.existsSync(kept)) {
    return new Map(JSON.parse(fs.readFileSync(kept, "utf8")));
  }
  const { build, stop } = await import("esbuild");
  const { outputFiles } = await build({
    ...FORMAT,
    entryPoints: [...sources.keys()],
    outdir: PROJECT,
    outbase: PROJECT,
    bundle: false,
    write: false,
  });
  await stop();
  const texts = outputFiles.map(({ path, text }): [string, string] => [
    path.replace(/\.js$/, ".ts"),
    text,
  ]);
  fs.mkdirSync(CACHE, { recursive: true });
  fs.writeFileSync(`${kept}.${process.pid}`, JSON.stringify(texts));
  fs.renameSync(`${kept}.${process.pid}`, kept);
  return new Map(texts);
}

/** `mod` with other values under some names; none of it is evaluated yet. */
export function withOthers<T extends object>(
  mod: T,
  other: (name: string) => unknown,
): T {
  return new Proxy({} as T, {
    get: (_, name) => other(String(name)) ?? mod[name as keyof T],
  });
}
