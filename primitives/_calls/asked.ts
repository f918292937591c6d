/**
 * What a request of typed calls asks for, and how the object that is served
 * does it.
 *
 * @module
 */

import { brief, describe } from "../_memory/describe.ts";
import type { Codec } from "../_message/message.ts";
import { readUtf8 } from "../_message/utf8.ts";
import { type End, nameAt, NAMED_BYTES, needsPort } from "./beside.ts";
import { type AnyIterator, type Hosts, stepOf } from "./hosts.ts";
import { find, namesOf, objectsIn } from "./members.ts";
import {
  agentOf,
  CALL,
  CHECK,
  checkOf,
  FUNCTION_BYTES,
  FUNCTIONS_HEAD,
  GET,
  HEAD,
  MAKE,
  NAME_LENGTH,
  NEXT,
  OF_OBJECT,
  PORT_HEAD,
  RELEASE,
  RETURN,
  WHAT,
  WITH_FUNCTIONS,
  WITH_PORT,
  wordAt,
} from "./wire.ts";

/** What a request asks for. */
export interface Asked {
  /** What it is: CALL, GET, MAKE or a step of an iterator. */
  readonly what: number;
  /** The object that has it, or the iterator. */
  readonly of: object;
  /** The method, the class, or the property's value. */
  readonly value: unknown;
  readonly args: unknown[];
  /** By which what goes beside the result reaches the caller. */
  end?: End;
}

/** What is served. */
interface ServedObject {
  readonly api: object;
  /** What it has, by name. */
  readonly members: ReadonlyMap<string, unknown>;
  readonly codec: Codec<unknown>;
  /** The other objects that were kept here for callers. */
  readonly hosts: Hosts;
}

/** Reads the requests for the members of one object. */
export class Reader {
  readonly #api: object;
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #codec: Codec<unknown>;
  readonly #check: number;
  readonly #hosts: Hosts;
  readonly #id: number;

  /** `id` is the agent that serves the object. */
  constructor({ api, members, codec, hosts }: ServedObject, id: number) {
    this.#api = api;
    this.#members = members;
    this.#codec = codec;
    this.#check = checkOf(codec);
    this.#hosts = hosts;
    this.#id = id;
  }

  /** What a request asks for; undefined if another server has the object. */
  read(request: Uint8Array): Asked | undefined {
    const nameEnd = HEAD + request[NAME_LENGTH]!;
    const listAt = nameEnd + portBytes(request, nameEnd);
    const begin = listAt + functionBytes(request, listAt);
    const what = request[0]! & WHAT;
    if (!isAsked(what) || !(request.length >= begin)) { // NaN, too
      throw new TypeError(
        "The request was not made by connect(), which alone is served here",
      );
    }
    let path = readUtf8(request.subarray(HEAD, nameEnd));
    let of = this.#api;
    if ((request[0]! & OF_OBJECT) !== 0) {
      const dot = path.indexOf(".");
      const key = dot < 0 ? path : path.slice(0, dot);
      path = dot < 0 ? "" : path.slice(dot + 1);
      const object = this.#objectOf(key, what);
      if (object === undefined) return undefined;
      if (what >= NEXT) return this.#step(what, key, object, request, begin);
      of = object;
    }
    // Most calls are of methods of the object itself.
    let value = of === this.#api ? this.#members.get(path) : undefined;
    if (value === undefined) [of, value] = this.#find(of, path, what);
    if (request[CHECK] !== this.#check) {
      throw new TypeError(
        `The caller of ${brief(path)} has another codec: it is served with ` +
          describe(this.#codec.name),
      );
    }
    if (request.length === begin) return { what, of, value, args: [] };
    const args = this.#codec.decode(request.subarray(begin));
    if (Array.isArray(args)) return { what, of, value, args };
    throw new TypeError(
      `The arguments of ${brief(path)} must be an array: the codec decoded ` +
        describe(args),
    );
  }

  /** An object that stayed here; undefined if another agent has it. */
  #objectOf(key: string, what: number): object | undefined {
    const object = this.#hosts.get(key);
    if (object !== undefined || agentOf(key) !== this.#id) return object;
    if (what === RELEASE || what === RETURN) return {};
    throw new TypeError(
      "The object was released, or its server has ended",
    );
  }

  /** The object that has the last member of a path, and that member. */
  #find(of: object, path: string, what: number): [object, unknown] {
    const found = find(of, path);
    if (found !== undefined && (what === GET || found[1] !== undefined)) {
      return found;
    }
    const names = of === this.#api && what !== GET
      ? [...this.#members.keys(), ...objectsIn(of)]
      : namesOf(of);
    const missing = path === ""
      ? "function itself"
      : `${what === GET ? "property" : "method"} ${describe(path)}`;
    throw new TypeError(
      `No ${missing} is served: there are ` +
        (brief(names.filter(Boolean).join(", "), 300) || "none"),
    );
  }

  /** A step of an iterator, or the end of an object. */
  #step(
    what: number,
    key: string,
    of: AnyIterator,
    request: Uint8Array,
    begin: number,
  ): Asked {
    if (what === RELEASE) {
      this.#hosts.release(key);
      return { what, of, value: undefined, args: [] };
    }
    const args = request.length === begin
      ? []
      : this.#codec.decode(request.subarray(begin)) as unknown[];
    return { what, of, value: () => this.#hosts.delete(key), args };
  }
}

/**
 * Takes what came beside a request; undefined if it has not come yet, false
 * if another agent has the port.
 */
export function receive(
  ends: readonly End[],
  request: Uint8Array,
  asked: Asked,
): boolean | undefined {
  const begin = HEAD + request[NAME_LENGTH]!;
  const from = nameAt(request, begin);
  const places = request.subarray(
    begin + PORT_HEAD,
    begin + portBytes(request, begin),
  );
  if (places.length > 0 && ends.length === 0) {
    throw needsPort(`args[${places[0]}]`);
  }
  let end = ends.find((end) => end.leadsTo(from));
  if (end === undefined) {
    for (const end of ends) end.drain();
    end = ends.find((end) => end.leadsTo(from));
  }
  if (end === undefined) {
    if (!ends.every(({ isMet }) => isMet)) return undefined;
    return places.length === 0;
  }
  asked.end = end;
  if (places.length === 0) return true;
  const values = end.take(from, wordAt(request, begin + 8));
  if (values === undefined) return undefined;
  for (const [i, place] of places.entries()) asked.args[place] = values[i];
  return true;
}

/** Whether a request may ask for this. */
const isAsked = (what: number): boolean =>
  what === CALL || what >= GET && what <= RELEASE;

/** Does what was asked for. */
export function resultOf({ what, of, value, args }: Asked): unknown {
  if (what === CALL) {
    if (typeof value === "function") return Reflect.apply(value, of, args);
    if (args.length === 0) return value; // so those read it that block
    throw new TypeError(
      `A property was called with arguments (${args.length}): it is no method`,
    );
  }
  if (what === GET) return value;
  if (what === MAKE) return Reflect.construct(value as new () => object, args);
  if (what === RELEASE) return undefined;
  return stepOf(what, of, args, value as () => void);
}

/** The bytes about a port that begin at a byte of a request. */
export const portBytes = (request: Uint8Array, at: number): number =>
  (request[0]! & WITH_PORT) === 0 ? 0 : PORT_HEAD + request[at + NAMED_BYTES]!;

/** The bytes of the list of functions that begins at a byte of a request. */
const functionBytes = (request: Uint8Array, at: number): number =>
  (request[0]! & WITH_FUNCTIONS) === 0
    ? 0
    : FUNCTIONS_HEAD + FUNCTION_BYTES * request[at + FUNCTIONS_HEAD - 1]!;
