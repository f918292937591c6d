/**
 * What the classes of users inherit from bases that users cannot import. Such a
 * base is marked `@ignore`, so that `deno doc` says nothing of it.
 *
 * @module
 */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Definition,
  type Docs,
  type Inherited,
  type Member,
  type Symbol,
  type Type,
  typeOf,
  type TypeParam,
} from "./_declarations.ts";

/** Where the classes are that have such bases. */
const FOLDER = "primitives";

const NOTHING: Inherited = { members: [], wholes: [] };

const joined = (parts: readonly Inherited[]): Inherited => ({
  members: parts.flatMap(({ members }) => members),
  wholes: parts.flatMap(({ wholes }) => wholes),
});

/** `value` with types in the place of the type parameters that they are for. */
function substituted<T>(
  value: T,
  params: readonly TypeParam[] = [],
  args: readonly Type[] = [],
): T {
  if (params.length === 0) return value;
  const types = new Map(
    params.map(({ name, default: preset }, i) => [name, args[i] ?? preset]),
  );
  return JSON.parse(JSON.stringify(value), (_, part) => {
    if (part?.kind !== "typeRef") return part;
    return types.get(part.value.typeName) ?? part;
  });
}

const literalsOf = (type: Type): string[] =>
  type.kind === "union"
    ? (type.value as Type[]).flatMap(literalsOf)
    : [type.value.string];

/** The declarations of {@linkcode FOLDER}, those that are ignored, too. */
function everything(
  project: string,
  documented: (files: readonly string[]) => Docs["nodes"],
): Docs["nodes"] {
  const home = fs.realpathSync(
    fs.mkdtempSync(path.join(tmpdir(), "weft-api-")),
  );
  try {
    const names = fs.readdirSync(path.join(project, FOLDER), {
      recursive: true,
      encoding: "utf8",
    }).filter((name) => name.endsWith(".ts"));
    const files = names.map((name) => path.join(home, name));
    for (const [i, file] of files.entries()) {
      const text = fs.readFileSync(
        path.join(project, FOLDER, names[i]!),
        "utf8",
      );
      fs.mkdirSync(path.dirname(file), { recursive: true });
      // Members are indented: what is ignored there stays so.
      fs.writeFileSync(file, text.replaceAll(/^ \* @ignore$/gm, " *"));
    }
    const from = pathToFileURL(home).href;
    const to = pathToFileURL(path.join(project, FOLDER)).href;
    return Object.fromEntries(
      Object.entries(documented(["--private", ...files]))
        .map(([file, symbols]) => [file.replace(from, to), symbols]),
    );
  } finally {
    fs.rmSync(home, { recursive: true });
  }
}

/**
 * Returns a function that says what the class of a file inherits. Of what the
 * report has, or the platform, it says the name only.
 */
export function inheritance(
  project: string,
  documented: (files: readonly string[]) => Docs["nodes"],
  isReported: (name: string) => boolean,
): (file: string, def: Definition) => Inherited {
  const nodes = everything(project, documented);
  const named = new Map<string, Symbol[]>();
  for (const { symbols } of Object.values(nodes)) {
    for (const symbol of symbols) {
      if (symbol.declarations.some(({ kind }) => kind === "reference")) {
        continue;
      }
      named.set(symbol.name, [...named.get(symbol.name) ?? [], symbol]);
    }
  }

  /** What `name` is in a file, if the project declares it. */
  function declared(name: string, file: string) {
    const all = named.get(name) ?? [];
    const own = all.find(({ declarations: [first] }) =>
      first!.location.filename.endsWith(path.basename(file))
    );
    if (own === undefined && all.length > 1) {
      throw new Error(`${file}: several files declare ${name}`);
    }
    return (own ?? all[0])?.declarations[0];
  }

  /** The members of a type. */
  function ofType(type: Type, file: string): Inherited {
    if (type.kind === "keyword") return NOTHING;
    if (type.kind === "intersection") {
      return joined(type.value.map((part: Type) => ofType(part, file)));
    }
    if (type.kind === "typeLiteral") {
      const { properties = [], methods = [] } = type.value;
      return { members: [...properties, ...methods], wholes: [] };
    }
    if (type.kind === "fnOrConstructor") return ofType(type.value.tsType, file);
    if (type.kind !== "typeRef") throw new Error(`a base of ${type.kind}`);
    const { typeName, typeParams = [] } = type.value;
    if (typeName === "Pick") {
      const names = literalsOf(typeParams[1]);
      const { members } = ofType(typeParams[0], file);
      return {
        members: members.filter(({ name }) => names.includes(name)),
        wholes: [],
      };
    }
    const found = declared(typeName, file);
    const whole = { members: [], wholes: [typeOf(type)] };
    if (found === undefined || isReported(typeName)) return whole;
    const { filename } = found.location;
    const def = substituted(found.def, found.def.typeParams, typeParams);
    // Its members have names that the platform knows.
    if (def.tsType?.kind === "mapped") return whole;
    if (def.tsType) return ofType(def.tsType, filename);
    const members: Member[] = [...def.properties ?? [], ...def.methods ?? []];
    const above = typeof def.extends === "string"
      ? [ofBase(def, filename)]
      : (def.extends ?? []).map((base) => ofType(base, filename));
    return joined([{ members, wholes: [] }, ...above]);
  }

  /** The members of what a class extends. */
  function ofBase(def: Definition, file: string): Inherited {
    const typeName = def.extends as string;
    const value = { typeName, typeParams: def.superTypeParams ?? [] };
    const found = declared(typeName, file);
    if (found?.kind !== "variable") {
      return ofType({ kind: "typeRef", value }, file);
    }
    // A constructor, or an alias of one, may have parameters of its own.
    let type = found.def.tsType!;
    while (type.kind === "typeRef") {
      const alias = declared(type.value.typeName, file)!;
      type = substituted(
        alias.def.tsType!,
        alias.def.typeParams,
        type.value.typeParams,
      );
    }
    const { typeParams } = type.value;
    return ofType(substituted(type, typeParams, value.typeParams), file);
  }

  return (file, def) =>
    typeof def.extends !== "string" || isReported(def.extends) ||
      !declared(def.extends, file)
      ? NOTHING
      : ofBase(def, file);
}
