/**
 * What an object that is served has: methods, properties, objects and classes.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";

/** Members that another agent cannot reach. */
const HIDDEN = ["constructor", "prototype", "__proto__"];

/** The objects whose members an object has, itself first. */
function* chainOf(object: object): Generator<object> {
  for (
    let from = object;
    // Another realm's Object.prototype has no prototype, either.
    from !== null && (from === object || Object.getPrototypeOf(from) !== null);
    from = Object.getPrototypeOf(from)
  ) {
    // Function.prototype is not a class.
    if (typeof from === "function" && from !== object) {
      if (!Object.hasOwn(from, "prototype")) return;
    }
    yield from;
  }
}

/**
 * The methods and objects that an object has, its class's included, by name.
 * What a getter returns is found when it is asked for. A function is a member
 * of itself, without a name.
 */
export function membersOf(api: object): Map<string, unknown> {
  const isFunction = typeof api === "function";
  if (!isFunction && (typeof api !== "object" || api === null)) {
    throw new TypeError(
      "serve needs an object of functions, or a function: received " +
        describe(api),
    );
  }
  const members = new Map<string, unknown>();
  let count = 0;
  if (isFunction) members.set("", api);
  for (const from of chainOf(api)) {
    for (const name of Object.getOwnPropertyNames(from)) {
      if (HIDDEN.includes(name) || members.has(name)) continue;
      count++;
      const { value } = Object.getOwnPropertyDescriptor(from, name)!;
      if (typeof value === "function") members.set(name, value);
    }
  }
  if (members.has("then")) {
    throw new TypeError(
      'A method cannot be named "then": await would call it',
    );
  }
  if (count > 0) return members;
  throw new TypeError("serve needs an object of functions: it has none");
}

/** The names of what an object has. */
export function namesOf(object: object): string[] {
  const names = [...chainOf(object)].flatMap(Object.getOwnPropertyNames);
  return [...new Set(names)].filter((name) => !HIDDEN.includes(name));
}

/** The names of the objects in an object, which may have methods. */
export const objectsIn = (object: object): string[] =>
  namesOf(object).filter((name) => {
    const from = [...chainOf(object)].find((of) => Object.hasOwn(of, name))!;
    const { value } = Object.getOwnPropertyDescriptor(from, name)!;
    return typeof value === "object" && value !== null;
  });

/**
 * What is at `path`, which has a dot between names, and the object that has it;
 * undefined if nothing is there.
 */
export function find(
  from: object,
  path: string,
): [of: object, value: unknown] | undefined {
  let of: object = from;
  let value: unknown = from;
  for (const name of path.split(".")) {
    const isObject = typeof value === "object" && value !== null ||
      typeof value === "function";
    if (!isObject || !has(value as object, name)) return undefined;
    of = value as object;
    value = Reflect.get(of, name);
  }
  return [of, value];
}

function has(object: object, name: string): boolean {
  if (HIDDEN.includes(name)) return false;
  for (const from of chainOf(object)) {
    if (Object.hasOwn(from, name)) return true;
  }
  return false;
}
