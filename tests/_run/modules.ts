/**
 * What a module of TypeScript declares, imports and extends, by its syntax.
 *
 * @module
 */
import * as acorn from "acorn";
import type { Kept } from "./still.ts";

export type Node = acorn.AnyNode;

/** A module, parsed. */
export interface Module {
  readonly file: string;
  readonly text: string;
  /** What it declares and does, but for imports and exports. */
  readonly statements: readonly Node[];
  /** The modules that its variables stand for. */
  readonly imports: ReadonlyMap<string, string>;
  /** What reads each of its exports. */
  readonly exports: ReadonlyMap<string, Node>;
  /** The modules whose exports are also its own. */
  readonly others: readonly string[];
  /** What it declares, by the names. */
  readonly declared: ReadonlyMap<string, Node>;
  /** The names that some code assigns to, in any scope. */
  readonly assigned: ReadonlySet<string>;
}

/**
 * How a statement of a module is run again. `undefined` if it cannot be: it
 * does more than to declare, or its name is assigned to.
 */
export function renewal(
  node: Node,
  { text, assigned }: Module,
): Kept | undefined {
  const { start, end } = node;
  const names = declaredBy(node);
  const isFixed = node.type !== "VariableDeclaration" || node.kind === "const";
  // As a variable, its name could be assigned to without an error.
  if (isFixed && names.some((name) => assigned.has(name))) return undefined;
  if (node.type === "ClassDeclaration" || node.type === "FunctionDeclaration") {
    const again = `${names} = ${text.slice(start, end)};`;
    return { start, end, names, again };
  }
  if (node.type !== "VariableDeclaration") return undefined;
  const { declarations } = node;
  if (declarations.some(({ id }) => id.type !== "Identifier")) return undefined;
  const again = declarations.map(({ id, init }) => {
    const value = init ? text.slice(init.start, init.end) : "undefined";
    return `${nameOf(id)} = ${value};`;
  });
  return { start, end, names, again: again.join("\n") };
}

export const nameOf = (node: Node): string =>
  node.type === "Identifier" ? node.name : "";

/** `a.b`, as a text; "" for others. */
export function pathOf(node: Node): string {
  if (node.type !== "MemberExpression" || node.computed) return nameOf(node);
  return `${nameOf(node.object)}.${nameOf(node.property)}`;
}

/** The names that a statement declares. */
export function declaredBy(node: Node): string[] {
  switch (node.type) {
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return namesOf(node.id);
    case "VariableDeclaration":
      return node.declarations.flatMap(({ id }) => namesOf(id));
    default:
      return [];
  }
}

/** The names of functions that a declaration gives members. */
export function extendedBy(node: Node): string[] {
  if (node.type !== "VariableDeclaration") return [];
  return node.declarations.flatMap(({ init }) => {
    if (init?.type !== "CallExpression") return [];
    const [first] = init.arguments;
    return first && pathOf(init.callee) === "Object.assign"
      ? namesOf(first)
      : [];
  });
}

/** The names in a pattern. */
function namesOf(node: Node | null): string[] {
  switch (node?.type) {
    case "Identifier":
      return [node.name];
    case "ArrayPattern":
      return node.elements.flatMap(namesOf);
    case "ObjectPattern":
      return node.properties.flatMap((one) =>
        namesOf(one.type === "Property" ? one.value : one)
      );
    case "AssignmentPattern":
      return namesOf(node.left);
    case "RestElement":
      return namesOf(node.argument);
    default:
      return [];
  }
}

/** What a call of `name` is given first, if the statement is such a call. */
function givenTo(name: string, node: Node | null | undefined): Node | null {
  const call = node?.type === "ExpressionStatement" ? node.expression : node;
  if (call?.type !== "CallExpression") return null;
  return nameOf(call.callee) === name ? call.arguments[0] ?? null : null;
}

/** The file in `require(file)`. */
function required(node: Node | null | undefined): string | undefined {
  const file = givenTo("require", node);
  return file?.type === "Literal" ? `${file.value}` : undefined;
}

export function parsed(file: string, text: string): Module {
  const { body } = acorn.parse(text, {
    ecmaVersion: "latest",
    sourceType: "script",
  });
  const statements: Node[] = [];
  const imports = new Map<string, string>();
  const exports = new Map<string, Node>();
  const others: string[] = [];
  for (const [i, node] of body.entries()) {
    const [one, ...more] = node.type === "VariableDeclaration"
      ? node.declarations
      : [];
    const from = more.length === 0 ? required(one?.init) : undefined;
    const listed = givenTo("exports", node);
    const other = required(givenTo("also", node));
    if (from !== undefined) imports.set(nameOf(one!.id), from);
    else if (other !== undefined) others.push(other);
    else if (listed?.type === "ObjectExpression") {
      for (const property of listed.properties) {
        if (property.type !== "Property") continue;
        const { key, value } = property;
        if (value.type !== "ArrowFunctionExpression") continue;
        exports.set(nameOf(key), value.body);
      }
    } else if (i > 0 || !/^var \w+_exports = \{\};/.test(text)) {
      statements.push(node); // the first one is esbuild's, and is not used
    }
  }
  const declared = new Map(
    statements.flatMap((node) =>
      declaredBy(node).map((name): [string, Node] => [name, node])
    ),
  );
  const assigned = new Set<string>();
  collect(body, assigned);
  return {
    ...{ file, text, statements, imports, exports, others, declared, assigned },
  };
}

/** Adds the names that some code of `node` assigns to. */
function collect(node: unknown, names: Set<string>): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const one of node) collect(one, names);
    return;
  }
  const one = node as Node;
  switch (one.type) {
    case "AssignmentExpression":
    case "ForInStatement":
    case "ForOfStatement":
      for (const name of namesOf(one.left)) names.add(name);
      break;
    case "UpdateExpression":
      for (const name of namesOf(one.argument)) names.add(name);
      break;
    case "CallExpression": // what is evaluated could assign to anything
      if (nameOf(one.callee) === "eval") names.add("eval");
      break;
  }
  for (const value of Object.values(one)) collect(value, names);
}
