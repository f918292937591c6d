/**
 * Finds what modules keep. A module that keeps nothing is evaluated once, and
 * serves each run of an agent as well as one that is evaluated for it. Such a
 * module declares only what cannot change: functions, classes, constants, and
 * tables of them that are frozen. Whatever is not known to be of that kind is
 * taken for state. Of most modules that keep something, a few statements make
 * all the state: only these run again.
 *
 * @module
 */
import type * as acorn from "acorn";
import {
  declaredBy,
  extendedBy,
  type Module,
  nameOf,
  type Node,
  parsed,
  pathOf,
  renewal,
} from "./modules.ts";

/** Where an expression stands: in a module, or in a function that it calls. */
interface Place {
  readonly module: Module;
  /** What the function declares, and its parameters. */
  readonly names: ReadonlySet<string>;
  /** Whether nothing reaches what is made there, so that it can be frozen. */
  readonly hidden: boolean;
}

/** A statement that makes state: it declares variables, or a class. */
export interface Kept {
  readonly start: number;
  readonly end: number;
  /** What it declares. */
  readonly names: readonly string[];
  /** The same as assignments to these names. */
  readonly again: string;
}

/** What a module keeps. */
interface Judged {
  /** Why it may keep something, if it may. */
  readonly reason: string | undefined;
  /** The statements that make its state; undefined if those are not known. */
  readonly kept: readonly Kept[] | undefined;
  /** The names whose values may have a state. */
  readonly names: ReadonlySet<string>;
}

/** Why a module may keep something. */
class Keeps extends Error {}

/** Global values that have no state, and that the race tester leaves alone. */
const GLOBALS = new Set([
  ...["undefined", "NaN", "Infinity", "Object", "Error", "EvalError"],
  ...["RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError"],
]);

/** Objects of the platform whose members have no state. */
const SPACES = new Set(["Math", "Number", "Symbol"]);

/** Functions of the platform that return what has no state. */
const MAKERS = new Set(["Symbol", "Symbol.for"]);

/** The same, if what they return is frozen. */
const LISTS = new Set(["Object.freeze", "Object.keys"]);

/** Classes of the platform: with a length of 0, instances have no content. */
const EMPTY = new Set(["ArrayBuffer", "Uint8Array", "DataView"]);

/** Expressions that make what can be changed, until it is frozen. */
const MAKE = new Set([
  ...["ArrowFunctionExpression", "FunctionExpression", "ClassExpression"],
  ...["ArrayExpression", "ObjectExpression", "NewExpression"],
]);

/** Tables that modules change; a change of any other throws an error. */
const CHANGED = new Set(["own", "kept", "costs", "time"]);

/** Tells which modules keep nothing. */
export class Stillness {
  readonly #textOf: (file: string) => string;
  readonly #modules = new Map<string, Module>();
  /** Of those that are being judged, what is known so far. */
  readonly #judged = new Map<string, Judged>();
  readonly #judging = new Set<string>();
  readonly #taken = new Set<string>();

  readonly #before:
    | { readonly of: Stillness; readonly file: string }
    | undefined;

  /**
   * `textOf` gives the script that a module is compiled from. With `before`,
   * only the file named there differs from those modules.
   */
  constructor(
    textOf: (file: string) => string,
    before?: { readonly of: Stillness; readonly file: string },
  ) {
    this.#textOf = textOf;
    this.#before = before;
  }

  /** Why a module may keep something; `undefined` if it keeps nothing. */
  reasonOf(file: string): string | undefined {
    return this.#judgedOf(file).reason;
  }

  /**
   * The statements that make all that a module keeps; `undefined` if nothing
   * less than the whole module makes it.
   */
  keptIn(file: string): readonly Kept[] | undefined {
    return this.#judgedOf(file).kept;
  }

  /**
   * Whether a module that was judged has something of this one for all runs: it
   * may then use what this one keeps, and no export of this one is read.
   */
  isTaken(file: string): boolean {
    return this.#taken.has(file);
  }

  /** The names of all that a module declares and that cannot change. */
  stillIn(file: string): string[] {
    const { names } = this.#judgedOf(file);
    return [...this.#module(file).declared.keys()]
      .filter((name) => !names.has(name));
  }

  /** Each of the modules behind those that it imports. */
  inOrder(files: readonly string[], order = new Set<string>()): Set<string> {
    const begun = new Set<string>();
    const add = (file: string) => {
      if (begun.has(file)) return;
      begun.add(file);
      const { imports, others } = this.#module(file);
      [...imports.values(), ...others].forEach(add);
      order.add(file);
    };
    files.forEach(add);
    return order;
  }

  #judgedOf(file: string): Judged {
    let judged = this.#judged.get(file);
    if (judged === undefined) {
      this.#judging.add(file);
      judged = this.#judge(this.#module(file));
      this.#judging.delete(file);
      this.#judged.set(file, judged);
    }
    return judged;
  }

  #module(file: string): Module {
    const before = this.#before;
    if (before !== undefined && before.file !== file) {
      return before.of.#module(file);
    }
    let module = this.#modules.get(file);
    if (module === undefined) {
      module = parsed(file, this.#textOf(file));
      this.#modules.set(file, module);
    }
    return module;
  }

  #judge(module: Module): Judged {
    const { file, statements, declared, assigned } = module;
    if (assigned.has("eval")) {
      const names = new Set(declared.keys());
      return { reason: "it calls eval", kept: undefined, names };
    }
    const kept = new Map<Node, string>();
    const names = new Set<string>();
    this.#judged.set(file, { reason: undefined, kept: undefined, names });
    // What is made of what another statement makes may have a state, too.
    for (let before = -1; kept.size > before;) {
      before = kept.size;
      for (const node of statements) {
        const reason = kept.has(node) ? undefined : this.#why(node, module);
        if (reason === undefined) continue;
        kept.set(node, reason);
        for (const name of declaredBy(node)) names.add(name);
      }
      for (const name of [...kept.keys()].flatMap(extendedBy)) {
        const node = declared.get(name);
        if (node === undefined || kept.has(node)) continue;
        kept.set(node, `${name} is given members`);
        for (const one of declaredBy(node)) names.add(one);
      }
    }
    const isLate = ({ type }: Node) => type !== "FunctionDeclaration";
    const all = statements.filter((node) => kept.has(node))
      .toSorted((a, b) => Number(isLate(a)) - Number(isLate(b)))
      .map((node) => renewal(node, module));
    const reason: string | undefined = [...kept.values()][0];
    if (all.every((one) => one !== undefined)) {
      return { reason, kept: all, names };
    }
    return { reason, kept: undefined, names: new Set(declared.keys()) };
  }

  /** Why a statement may make a state; `undefined` if it makes none. */
  #why(node: Node, module: Module): string | undefined {
    try {
      this.#declaration(node, { module, names: new Set(), hidden: false });
    } catch (error) {
      if (error instanceof Keeps) return error.message;
      throw error;
    }
    // The names of functions and classes can be assigned to.
    const name = declaredBy(node).find((name) => module.assigned.has(name));
    return name === undefined ? undefined : `${node.type} ${name}`;
  }

  /** A statement that must declare what has no state. */
  #declaration(node: Node, place: Place): void {
    switch (node.type) {
      case "FunctionDeclaration":
        return;
      case "ClassDeclaration":
        return this.#class(node, place);
      case "VariableDeclaration":
        if (node.kind !== "const") break;
        for (const { id, init } of node.declarations) {
          if (id.type !== "Identifier" || CHANGED.has(id.name)) {
            throw keeps(id, place);
          }
          this.#value(init!, place);
        }
        return;
    }
    throw keeps(node, place);
  }

  /** A class whose constructor and prototype only have methods. */
  #class({ superClass, body }: acorn.Class, place: Place): void {
    if (superClass) this.#value(superClass, place);
    for (const member of body.body) {
      switch (member.type) {
        case "MethodDefinition":
        case "PropertyDefinition":
          if (member.computed) this.#value(member.key, place);
          if (!member.static) break;
          if (member.type === "MethodDefinition") {
            if (member.kind !== "method") throw keeps(member, place);
            break;
          }
          // Nothing can freeze a private one.
          if (member.key.type === "PrivateIdentifier") {
            throw keeps(member, place);
          }
          if (member.value) this.#value(member.value, place);
          break;
        default:
          throw keeps(member, place);
      }
    }
  }

  /** An expression whose value has no state, or none once it is frozen. */
  #value(node: Node, place: Place): void {
    const each = (...nodes: readonly (Node | null | undefined)[]) => {
      for (const one of nodes) if (one) this.#value(one, place);
    };
    if (place.hidden && MAKE.has(node.type)) throw keeps(node, place);
    switch (node.type) {
      case "ArrowFunctionExpression":
      case "FunctionExpression":
        return;
      case "ClassExpression":
        return this.#class(node, place);
      case "Literal":
        // Only these change while they are used.
        if (/[gy]/.test(node.regex?.flags ?? "")) break;
        return;
      case "TemplateLiteral":
        return each(...node.expressions);
      case "ArrayExpression":
        return each(...node.elements);
      case "ObjectExpression":
        for (const property of node.properties) {
          if (property.type === "SpreadElement") each(property.argument);
          else if (property.kind !== "init") throw keeps(property, place);
          else each(property.computed ? property.key : null, property.value);
        }
        return;
      case "SpreadElement":
        return each(node.argument);
      case "UnaryExpression":
        if (node.operator === "delete") break;
        return each(node.argument);
      case "BinaryExpression":
      case "LogicalExpression":
        return each(node.left, node.right);
      case "ConditionalExpression":
        return each(node.test, node.consequent, node.alternate);
      case "Identifier":
        return this.#name(node, place);
      case "MemberExpression":
        return this.#member(node, place);
      case "CallExpression":
        return this.#call(node, place);
      case "NewExpression": {
        const [length, ...more] = node.arguments;
        if (!EMPTY.has(nameOf(node.callee)) || more.length > 0) break;
        if (length === undefined) return;
        if (length.type === "NewExpression") return each(length);
        if (length.type !== "Literal" || length.value !== 0) break;
        return;
      }
    }
    throw keeps(node, place);
  }

  #name(node: acorn.Identifier, place: Place): void {
    const { name } = node;
    const { module, names } = place;
    if (names.has(name)) return;
    if (module.declared.has(name)) {
      if (!this.#judgedOf(module.file).names.has(name)) return;
    } else if (GLOBALS.has(name) && !module.imports.has(name)) return;
    throw keeps(node, place);
  }

  #member(node: acorn.MemberExpression, place: Place): void {
    const { object, property, computed } = node;
    if (computed) this.#value(property, place);
    const name = nameOf(object);
    const { imports, declared } = place.module;
    const imported = imports.get(name);
    if (imported !== undefined && !place.names.has(name)) {
      if (computed) throw keeps(node, place);
      this.#still(...this.#found(imported, nameOf(property)));
    } else if (
      computed || !SPACES.has(name) || place.names.has(name) ||
      declared.has(name)
    ) {
      this.#value(object, place);
    }
  }

  /** Where something is declared that a module exports. */
  #found(file: string, name: string): [module: Module, name: string] {
    const module = this.#module(file);
    const read = module.exports.get(name);
    if (read?.type === "Identifier") return [module, read.name];
    if (read?.type === "MemberExpression") {
      const from = module.imports.get(nameOf(read.object));
      if (from !== undefined) return this.#found(from, nameOf(read.property));
    }
    for (const other of module.others) {
      try {
        return this.#found(other, name);
      } catch (error) {
        if (!(error instanceof Keeps)) throw error;
      }
    }
    throw new Keeps(`${name} of ${file}`);
  }

  /** Fails unless another module declares a name for what has no state. */
  #still(module: Module, name: string): void {
    const { declared, file } = module;
    let reason: string | undefined;
    if (!declared.has(name)) reason = "it is not declared there";
    else if (this.#judging.has(file)) reason = "it needs itself";
    else {
      const judged = this.#judgedOf(file);
      if (judged.names.has(name)) reason = judged.reason;
    }
    if (reason !== undefined) {
      throw new Keeps(`${name} of ${file}: ${reason}`);
    }
    this.#taken.add(file);
  }

  /** A call of what makes something that has no state. */
  #call(node: acorn.CallExpression, place: Place): void {
    const hidden = { ...place, hidden: true };
    for (const one of node.arguments) this.#value(one, hidden);
    const callee = node.callee.type === "SequenceExpression"
      ? node.callee.expressions[1]!
      : node.callee;
    const name = pathOf(callee);
    if (!this.#hides(name, place)) {
      if (MAKERS.has(name) || (LISTS.has(name) && !place.hidden)) return;
    }
    if (callee.type === "ArrowFunctionExpression") {
      return this.#made(callee, node.arguments, place);
    }
    const [module, own] = this.#called(callee, place);
    const made = module.declared.get(own);
    if (made?.type !== "FunctionDeclaration") throw keeps(node, place);
    if (module !== place.module) this.#still(module, own);
    const inner = { ...hidden, module, names: new Set<string>() };
    this.#made(made as acorn.FunctionDeclaration, node.arguments, inner);
  }

  /** Where the function is declared that is called. */
  #called(callee: Node, place: Place): [module: Module, name: string] {
    const { module, names } = place;
    if (callee.type === "Identifier" && !names.has(callee.name)) {
      return [module, callee.name];
    }
    if (callee.type === "MemberExpression" && !callee.computed) {
      const from = module.imports.get(nameOf(callee.object));
      if (from !== undefined) {
        return this.#found(from, nameOf(callee.property));
      }
    }
    throw keeps(callee, place);
  }

  /** Whether something of the module bears the name of a global value. */
  #hides(path: string, { module, names }: Place): boolean {
    const [first = ""] = path.split(".");
    return names.has(first) || module.declared.has(first) ||
      module.imports.has(first);
  }

  /**
   * A function that returns a class, or what does not change. What else it
   * makes must be the base of that class: it is frozen with it.
   */
  #made(
    made: acorn.FunctionDeclaration | acorn.ArrowFunctionExpression,
    args: readonly Node[],
    place: Place,
  ): void {
    const { params, body, async, generator } = made;
    if (async || generator) throw keeps(made, place);
    const names = new Set(place.names);
    const inner = { ...place, names, hidden: true };
    const fresh = new Set<string>();
    const add = (name: string, value: Node | null | undefined) => {
      names.add(name);
      if (value?.type !== "CallExpression") return;
      if (!MAKERS.has(pathOf(value.callee))) fresh.add(name);
    };
    for (const [i, param] of params.entries()) {
      if (param.type !== "Identifier") throw keeps(param, place);
      add(param.name, args[i]);
    }
    const statements = body.type === "BlockStatement" ? [...body.body] : [];
    const last = statements.pop();
    const result = last?.type === "ReturnStatement" ? last.argument : body;
    if (!result || result.type === "BlockStatement") throw keeps(made, place);
    let base: Node | null | undefined;
    for (const node of statements) {
      if (node.type === "ClassDeclaration" && base === undefined) {
        const name = nameOf(node.id!);
        if (nameOf(result) !== name) throw keeps(node, place);
        names.add(name);
        base = node.superClass ?? null;
        this.#class(node, { ...inner, hidden: false });
      } else if (node.type === "VariableDeclaration") {
        this.#declaration(node, inner);
        for (const { id, init } of node.declarations) add(nameOf(id), init);
      } else throw keeps(node, place);
    }
    this.#value(result, inner);
    if (base) fresh.delete(nameOf(base));
    if (fresh.size > 0) throw keeps(made, place);
    for (const name of names) {
      if (place.module.assigned.has(name)) throw keeps(made, place);
    }
  }
}

const keeps = ({ type, start, end }: Node, { module }: Place): Keeps =>
  new Keeps(`${type} at ${start} to ${end} of ${module.file}`);
