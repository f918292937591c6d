/**
 * Objects that stand for others in another agent.
 *
 * @module
 */

import { brief } from "../_memory/describe.ts";
import { DISPOSE } from "../_memory/dispose.ts";

/** What is done with the arguments of one call of the function `called`. */
export type Invoke = (args: unknown[], called?: unknown) => unknown;

/** How what stands for an object reaches it. A path has a dot between names. */
export interface Ends {
  /** Prepares the calls of the method at `path`. */
  call(path: string): Invoke;
  /** Prepares instances of the class at `path`. */
  make(path: string): Invoke;
  /** Reads the property at `path`; undefined if this agent blocks. */
  readonly get: ((path: string) => Promise<unknown>) | undefined;
}

/** These are the functions' own, also where a method has such a name. */
const OF_FUNCTIONS = ["apply", "bind", "call"];

function refuse(path: string): never {
  throw new TypeError(
    `Cannot assign to ${
      brief(path)
    }: it is another agent's; serve a method that ` +
      "assigns",
  );
}

/** By this name, `console` and `util.inspect` find a text of an object. */
const INSPECT = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom");

/** Of this many properties of an object, each is made once. */
const MOST_KEPT = 1000;

/**
 * Puts the properties of an object behind `target`: each is made once, and then
 * kept in front of them. There is no end to names that are keys of data, so
 * only the first ones are kept.
 */
function before(ends: Ends, prefix: string, target: object): void {
  // What stands for what is served has no names of functions of its own.
  const isFunction = prefix !== "";
  let kept = 0;
  // Texts of it, as in a log, are made without a call.
  const text = () => textOf(prefix);
  const texts = { [Symbol.toPrimitive]: text, [INSPECT]: text };
  const properties = new Proxy(texts, {
    get(_, name, receiver) {
      if (typeof name !== "string") {
        const of = isFunction && !Object.hasOwn(texts, name)
          ? Function.prototype
          : texts;
        return Reflect.get(of, name);
      }
      if (isFunction && OF_FUNCTIONS.includes(name)) {
        return Reflect.get(Function.prototype, name);
      }
      // `await` asks for "then", and a Remote itself is not a promise.
      const path = prefix + name;
      const value = name !== "then"
        ? named(
          path,
          nodeOf(ends, path, name === "toJSON" ? prefix : undefined),
        )
        : isFunction && ends.get !== undefined
        ? thenOf(ends.get, prefix.slice(0, -1))
        : undefined;
      if (++kept > MOST_KEPT) return value;
      // If `receiver` is frozen, it is made each time.
      Reflect.defineProperty(receiver, name, {
        get: () => value,
        set: () => refuse(path),
        enumerable: true,
      });
      return value;
    },
    set: (_, name) => refuse(prefix + String(name)),
  });
  Object.setPrototypeOf(target, properties);
}

type Then = PromiseLike<unknown>["then"];

const thenOf = (get: NonNullable<Ends["get"]>, path: string): Then => //
(resolve, reject) => get(path).then(resolve, reject);

const textOf = (prefix: string): string =>
  `[remote ${prefix.slice(0, -1) || "object"}]`;

/**
 * Node 24 looks for the name of a function until it finds a string, and looks
 * through a Proxy. So what stands behind three names is a Proxy of a function
 * with a name.
 */
function named(path: string, node: object): object {
  if (!`.${path}`.endsWith(".name.name.name")) return node;
  const target = function () {};
  Object.defineProperty(target, "name", { value: textOf(`${path}.`) });
  return new Proxy(target, {
    get: (_, name) => Reflect.get(node, name),
    set: (_, name, value) => Reflect.set(node, name, value),
    apply: (_, self, args) => Reflect.apply(node as () => void, self, args),
    construct: (_, args) => Reflect.construct(node as () => void, args),
  });
}

/**
 * A method, a class, a property or an object of methods: nobody knows yet. It
 * is the `toJSON` of what is at `jsonOf`, if that is given.
 */
function nodeOf(ends: Ends, path: string, jsonOf?: string): object {
  const called = ends.call(path);
  // JSON.stringify gives it a key, and cannot await.
  const call: Invoke = jsonOf === undefined
    ? called
    : (args, node) =>
      typeof args[0] === "string" ? textOf(jsonOf) : called(args, node);
  let make: Invoke | undefined;
  const node = function (...args: unknown[]): unknown {
    if (new.target === undefined) return call(args, node);
    make ??= ends.make(path);
    return make(args, node);
  };
  Reflect.deleteProperty(node, "name");
  Reflect.deleteProperty(node, "length");
  before(ends, path && `${path}.`, node);
  return node;
}

/**
 * An object that has whatever property it is asked for, and can be called, and
 * made instances of, itself.
 */
export const remoteBy = (ends: Ends): object => nodeOf(ends, "");

/** An object that has whatever property it is asked for; `dispose` ends it. */
export function disposableBy(ends: Ends, dispose: () => void): object {
  const remote = {};
  before(ends, "", remote);
  Object.defineProperty(remote, DISPOSE, { value: dispose });
  return remote;
}
