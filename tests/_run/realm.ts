/**
 * Modules that can be instantiated again and again. The race tester runs all
 * agents in one realm, and runs an agent's code again whenever the agent goes
 * on. So the state that a module keeps for its realm (queues of pending waits,
 * timers) must be made anew each time, in `agent()`. A module is evaluated when
 * one of its exports is first used, because an agent uses few of them.
 * {@linkcode Sources.renewed} runs only statements that make what is kept.
 *
 * @module
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Kept, Stillness } from "./still.ts";

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
  freeze: (values: readonly unknown[]) => void,
) => (() => void) | void;

/** An instance of a module; it has its exports once it is evaluated. */
interface Instance {
  readonly $use: Use;
  $getters: Getters | undefined;
  /** Whether it is evaluated once; else anew whenever it is renewed. */
  readonly $once: boolean;
  /** Makes anew what it keeps, if it is evaluated once and keeps something. */
  $renew: (() => void) | void;
  /** Whether that is to be done even if no export of it is read. */
  $taken: boolean;
  /** What reads its exports, once it was evaluated. */
  $known: Getters | undefined;
  $evaluate(): Getters;
}

/** Makes an instance of a module, which is evaluated when it is used. */
type Instances = new (use: Use) => Instance;

/** Modules of one agent, of which some keep something. */
interface Renewable<T> {
  readonly modules: T;
  /** Those whose state is made anew when they are used. */
  readonly used: readonly Instance[];
  /** Those whose state is made anew at once, behind those they import. */
  readonly taken: readonly Instance[];
}

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const CACHE = path.join(PROJECT, ".weft", "realm");
const FORMAT = { format: "cjs", target: "esnext" } as const;

/** Modules, compiled once for all their instances. */
export class Sources<T> {
  readonly #entries: readonly (readonly [name: string, file: string])[];
  readonly #texts: Map<string, string>;
  readonly #modules = new Map<string, Instances>();
  /** Those that are evaluated once, as they are for {@linkcode renewed}. */
  readonly #once = new Map<string, Instances>();
  readonly #stillness: Stillness;
  readonly #before:
    | { readonly sources: Sources<T>; readonly file: string }
    | undefined;
  readonly #renewable: Renewable<T>[] = [];

  /** With `before`, only the file named there differs from those sources. */
  private constructor(
    entries: readonly (readonly [name: string, file: string])[],
    texts: Map<string, string>,
    before?: { readonly sources: Sources<T>; readonly file: string },
  ) {
    this.#entries = entries;
    this.#texts = texts;
    this.#before = before;
    this.#stillness = new Stillness(
      (file) => bodyOf(file, texts.get(file)!),
      before && { of: before.sources.#stillness, file: before.file },
    );
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
    const texts = new Map(this.#texts).set(file, code);
    return new Sources<T>(this.#entries, texts, { sources: this, file });
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

  /**
   * The instances of an agent. A call makes anew what modules keep, and takes
   * the instances from whoever had them; all else, which takes far longer, is
   * evaluated once.
   */
  readonly renewed = (agent: number): T => {
    const renewable = this.#renewable[agent] ??= this.#makeRenewable();
    const { modules, used, taken } = renewable;
    for (const instance of used) instance.$getters = undefined;
    for (const instance of taken) instance.$renew!();
    return modules;
  };

  /** Why a module may keep something; `undefined` if it keeps nothing. */
  reasonOf(file: string): string | undefined {
    return this.#stillness.reasonOf(file);
  }

  /** The files of all modules. */
  get files(): string[] {
    return [...this.#texts.keys()];
  }

  #makeRenewable(): Renewable<T> {
    const known = new Map<string, Instance>();
    const files = this.#stillness.inOrder(this.files);
    const modules = this.#make(known, [...files]);
    for (const [file, instance] of known) {
      instance.$taken = this.#stillness.isTaken(file);
    }
    const instances = [...known.values()];
    // Nothing that is kept is made yet, so none of these can have used it.
    for (const instance of instances) {
      const { $once, $getters, $known } = instance;
      if ($once && !($getters ?? $known)) instance.$evaluate();
    }
    const parts = instances.filter(({ $renew }) => $renew !== undefined);
    return {
      modules,
      used: instances.filter(({ $once, $renew, $taken }) =>
        !$once || ($renew !== undefined && !$taken)
      ),
      taken: parts.filter(({ $taken }) => $taken),
    };
  }

  /** Makes instances; of `files`, too, if those are for {@linkcode renewed}. */
  #make(known: Map<string, Instance>, files?: readonly string[]): T {
    const use = (file: string): Instance => {
      let module = known.get(file);
      if (module === undefined) {
        const Module = files === undefined
          ? this.#module(file)
          : this.#moduleOnce(file);
        known.set(file, module = new Module(use));
      }
      return module;
    };
    files?.forEach(use);
    const made = this.#entries.map(([name, file]) => [name, use(file)]);
    return Object.fromEntries(made) as T;
  }

  /** The sources that have the same file, if they are others. */
  #othersWith(file: string): Sources<T> | undefined {
    return this.#before?.file === file ? undefined : this.#before?.sources;
  }

  #module(file: string): Instances {
    const others = this.#othersWith(file);
    if (others !== undefined) return others.#module(file);
    let module = this.#modules.get(file);
    if (module === undefined) {
      const body = bodyOf(file, this.#texts.get(file)!);
      module = instancesOf(file, body, [...this.#namesIn(file)]);
      this.#modules.set(file, module);
    }
    return module;
  }

  #moduleOnce(file: string): Instances {
    const kept = this.#stillness.keptIn(file);
    if (kept === undefined) return this.#module(file);
    const names = namesOf(kept);
    const others = this.#othersWith(file);
    // The mistake in another module may make more a state here.
    const isTheirs = others !== undefined &&
      `${names}` === `${namesOf(others.#stillness.keptIn(file) ?? [])}`;
    if (isTheirs) return others.#moduleOnce(file);
    let module = this.#once.get(file);
    if (module === undefined) {
      const body = bodyOf(file, this.#texts.get(file)!);
      const all = this.#stillness.stillIn(file).join(", ");
      const script = `${partOf(body, kept, `freeze([${all}]);`)}`;
      module = instancesOf(file, script, [...this.#namesIn(file)], names);
      this.#once.set(file, module);
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

/** A module that esbuild wrote as a script, as {@linkcode Body} has it. */
function bodyOf(file: string, text: string): string {
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
  return body;
}

/** The names of what statements declare. */
const namesOf = (kept: readonly Kept[]): string[] =>
  kept.flatMap(({ names }) => names);

/**
 * The body of a module without the statements that make what it keeps, and
 * `then` behind it. It returns what runs these.
 */
function partOf(body: string, kept: readonly Kept[], then: string): string {
  if (kept.length === 0) return `${body}\n${then}`;
  let text = `let ${namesOf(kept).join(", ")};\n`;
  let at = 0;
  for (const { start, end } of kept.toSorted((a, b) => a.start - b.start)) {
    text += body.slice(at, start);
    at = end;
  }
  const again = kept.map(({ again }) => again).join("\n");
  return `${text}${body.slice(at)}\n${then}\nreturn () => {\n${again}\n};`;
}

/** Whether a module that is evaluated once is being evaluated. */
let settling = false;

/**
 * Compiles a module. If it is evaluated once, `kept` are the names of what is
 * made anew.
 */
function instancesOf(
  file: string,
  body: string,
  names: readonly string[],
  kept?: readonly string[],
): Instances {
  const once = kept !== undefined;
  const members = names.map((name) =>
    `get ${name}() { return (this.$getters ?? this.$evaluate()).${name}(); }`
  );
  const make = new Function(
    "evaluate",
    `return class {
      constructor(use) {
        this.$use = use;
        this.$getters = undefined;
        this.$once = ${once};
        this.$renew = undefined;
        this.$taken = false;
        this.$known = undefined;
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
    "freeze",
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
    if (settling && !(once && (instance.$taken || kept.length === 0))) {
      throw new Error(`${file} may keep something`);
    }
    if (instance.$known !== undefined) {
      instance.$getters = instance.$known;
      instance.$renew!();
      return;
    }
    const before = settling;
    settling = once;
    instance.$getters = {};
    try {
      instance.$renew = run(
        ...[exports, also, instance.$use] as const,
        (values) => values.forEach(freeze),
      );
    } finally {
      settling = before;
    }
    if (!once) return;
    if (instance.$renew !== undefined && !instance.$taken) {
      instance.$known = instance.$getters;
      instance.$getters = undefined;
      return;
    }
    // What never changes is read without two calls, but for what is another's.
    for (
      const [name, get] of Object.entries<() => unknown>(instance.$getters)
    ) {
      const [, read] = /^\(\) => (\w+)$/.exec(`${get}`) ?? [];
      if (read === undefined || kept.includes(read)) continue;
      Object.defineProperty(instance, name, { value: get() });
    }
  }) as Instances;
}

/** Freezes a value, and what it consists of: a change of it throws an error. */
function freeze(value: unknown): void {
  if (typeof value === "function") {
    const isNative = /\{\s*\[native code\]\s*\}$/.test(`${value}`);
    if (isNative || Object.isFrozen(value)) return;
    const { prototype } = value;
    Object.freeze(value);
    if (prototype) freezeAll(prototype);
    const base: unknown = Object.getPrototypeOf(value);
    if (typeof base === "function") freeze(base);
    freezeAll(value);
  } else if (typeof value === "object" && value !== null) {
    if (Object.isFrozen(value)) return;
    const kind = Object.prototype.toString.call(value);
    const isEmpty = (ArrayBuffer.isView(value) ||
      value instanceof ArrayBuffer) && value.byteLength === 0;
    if (!isEmpty && !/ (Object|Array|RegExp)\]$/.test(kind)) {
      throw new TypeError(`Cannot freeze ${kind}`);
    }
    freezeAll(value);
  }
}

function freezeAll(value: object): void {
  Object.freeze(value);
  const members = Object.getOwnPropertyDescriptors(value);
  for (const { value, get, set } of Object.values(members)) {
    [value, get, set].forEach(freeze);
  }
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
    logLevel: "error", // a script has no import.meta, and nobody reads it here
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
