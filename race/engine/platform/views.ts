/**
 * Typed arrays over shared memory whose plain accesses can be seen. While code
 * under test runs, a Proxy stands for each array. Every access to an element is
 * an operation, so a method accesses its elements one by one.
 *
 * Without the Proxy, a replay would repeat a plain write and so overwrite
 * another agent's newer value.
 *
 * @module
 */
import { READ, WRITE } from "../kinds.ts";
import type { PostOffice } from "./office.ts";
import type { Region } from "../region.ts";
import { isShared, RealViews } from "./native.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The constructor of a view, and its arguments. */
export type Args = readonly [real: Any, buffer: Any, offset: Any, length: Any];

/** What does the operations of code under test. */
export interface Performer {
  /** Does an operation of the agent on the stack. */
  operate(
    kind: number,
    target: Target | null,
    index: number,
    a: Any,
    b: Any,
    timeout: number,
  ): Any;
}

/** The engine, as the stand-ins see it. */
export interface Host extends PostOffice, Performer {
  /** Whether memory and handles are being made for the first time. */
  readonly setting: boolean;
  /** Whether code of a simulated agent is on the stack. */
  readonly running: boolean;
  /** The simulated memory that `buffer` stands for. */
  region(buffer: SharedArrayBuffer): Region;
  /** Reports an access outside a view. */
  outside(target: Target, index: unknown, what: string): void;
  /** Ends the exploration, because the code cannot be simulated. */
  refuse(message: string): never;
  /** The same of an access, unless the agent on the stack is only tried out. */
  refuseAccess(message: string): void;
  /** Has agents leave the stack whenever they are suspended. */
  leaveStacks(): void;
  /** Allocates shared memory for the agent on the stack. */
  allocate(byteLength: Any, options: Any): SharedArrayBuffer;
  // For asynchronous code:
  waitAsync(target: Target, index: number, value: Any, timeout: number): Any;
  setTimer(fn: () => void, delay: number, repeat: boolean): Any;
  clearTimer(timer: Any): void;
  /** Notes that the agent on the stack needs an event loop. */
  needAsync(): void;
  /** Posts `fn` to the agent's event loop; returns a number for `unpost`. */
  post(fn: () => void): number;
  /** Removes a posted function. */
  unpost(id: number): void;
  /** Calls a function of the agent that the platform would call. */
  guard(fn: () => unknown): void;
  /** The worker that an address stands for, if there is one. */
  hire(url: string): Any;
  /** A random number that is the same in each replay. */
  random(): number;
  /** The same for `Math.random`. */
  chance(): number;
  /**
   * The stand-in for a view that was constructed from `args`, if any; it is
   * kept if it is part of a handle.
   */
  keep(view: Any, make: (view: Any) => Any, args: Args | null): Any;
  /** The stand-in that was kept for the same `args`, if it comes next. */
  kept(...args: Args): Any;
}

const WRAPS: Record<string, (value: Any) => Any> = {
  Int8Array: (v) => v << 24 >> 24,
  Uint8Array: (v) => v & 0xff,
  Int16Array: (v) => v << 16 >> 16,
  Uint16Array: (v) => v & 0xffff,
  Int32Array: (v) => v | 0,
  Uint32Array: (v) => v >>> 0,
  BigInt64Array: (v) => BigInt.asIntN(64, v),
  BigUint64Array: (v) => BigInt.asUintN(64, v),
};

/** A view of shared memory, with its address and the traps of its stand-in. */
export class Target implements ProxyHandler<Any> {
  /** The address of element 0. */
  readonly base: number;
  /** Bytes an element. */
  readonly size: number;
  /**
   * Converts a value to what an element holds; `null` if Atomics lacks the
   * type.
   */
  readonly wrap: ((value: Any) => Any) | null;
  /** The type's name, and whether its elements are bigints. */
  readonly name: string;
  readonly big: boolean;

  /** Wraps the real `view` of memory that `host` simulates. */
  constructor(
    readonly host: Host,
    readonly view: Any,
    readonly region: Region,
  ) {
    this.name = view[Symbol.toStringTag];
    this.big = this.name.startsWith("Big");
    this.base = region.base + view.byteOffset;
    this.size = view.BYTES_PER_ELEMENT;
    this.wrap = WRAPS[this.name] ?? null;
  }

  /** The element's present value. */
  peek(index: number): Any {
    return this.view[index];
  }

  #now(proxy: Any): Target {
    return this.host === host ? this : targetOf(proxy) ?? this;
  }

  /** Reads a property: an element, or anything else. */
  get(view: Any, key: string | symbol, proxy: Any): Any {
    if (typeof key === "string") {
      const index = indexOf(key);
      if (index !== undefined) {
        if (host === null || !host.running) return view[index];
        return read(this.#now(proxy), index);
      }
      if (key === "constructor") return (globalThis as Any)[this.name];
    }
    const value = Reflect.get(view, key, view);
    if (typeof value !== "function") return value;
    return methodOf(key, value);
  }

  /** Writes a property. */
  set(view: Any, key: string | symbol, value: Any, proxy: Any): boolean {
    const index = typeof key === "string" ? indexOf(key) : undefined;
    if (index === undefined) return Reflect.set(view, key, value, view);
    if (host === null || !host.running) view[index] = value;
    else write(this.#now(proxy), index, value);
    return true;
  }

  /** Defines a property; that of an element writes its value, if it may be. */
  defineProperty(
    view: Any,
    key: string | symbol,
    property: PropertyDescriptor,
  ): boolean {
    const index = typeof key === "string" ? indexOf(key) : undefined;
    const { configurable, enumerable, writable, get, set } = property;
    if (
      index === undefined || host === null || !host.running ||
      [configurable, enumerable, writable].includes(false) || get || set
    ) return Reflect.defineProperty(view, key, property);
    const target = host === this.host ? this : new Target(
      host,
      this.view,
      host.region(this.view.buffer),
    );
    if ("value" in property) write(target, index, property.value);
    return index >= 0 && index < view.length;
  }
}

const targets = new WeakMap<object, Target>();
let host: Host | null = null;
/** What was looked up last: most code uses one view again and again. */
let lastView: object | null = null;
let lastTarget: Target | null = null;

/** Sends all further accesses to `next`. */
export function setHost(next: Host | null): void {
  host = next;
  lastView = lastTarget = null;
}

/** The host that accesses go to. */
export function getHost(): Host | null {
  return host;
}

/** The target behind a stand-in. */
export function targetOf(value: object): Target | undefined {
  if (value === lastView) return lastTarget!;
  const target = targets.get(value);
  if (target === undefined || host === null) return target;
  if (target.host === host) {
    lastView = value;
    return lastTarget = target;
  }
  // The stand-in was made in an earlier exploration of the same memory.
  const now = new Target(host, target.view, host.region(target.view.buffer));
  targets.set(value, now);
  return now;
}

/** The real view behind a stand-in; any other value is returned as it is. */
export function unwrap(value: Any): Any {
  return typeof value === "object" && value !== null
    ? targets.get(value)?.view ?? value
    : value;
}

/** A stand-in for `view`, if it views shared memory. */
function expose(view: Any, args: Args | null = null): Any {
  if (host === null || !isShared(view.buffer)) return view;
  return host.keep(view, standInOf, args);
}

function standInOf(view: Any): Any {
  const target = new Target(host!, view, host!.region(view.buffer));
  const proxy = new Proxy(view, target);
  targets.set(proxy, target);
  return proxy;
}

/**
 * The number that a property name spells, if it does. Every number names an
 * element.
 */
function indexOf(key: string): number | undefined {
  const c = key.charCodeAt(0);
  const { length } = key;
  if (c >= 48 && c <= 57 && (length === 1 || c > 48 && length < 10)) {
    let index = c - 48;
    let at = 1;
    for (; at < length; at++) {
      const digit = key.charCodeAt(at) - 48;
      if (digit < 0 || digit > 9) break;
      index = index * 10 + digit;
    }
    if (at === length) return index;
  }
  if (c > 57 || c < 45) {
    return key === "NaN" || key === "Infinity" ? -1 : undefined;
  }
  const index = Number(key);
  if (length > 1 && String(index) !== key && key !== "-0") return undefined;
  return Number.isInteger(index) && key !== "-0" ? index : -1;
}

/** A value as the platform converts it; it throws for a wrong type. */
export const converted = (
  { big }: { readonly big: boolean },
  value: Any,
): Any =>
  !big ? +value : typeof value === "bigint" ? value : BigInt.asIntN(64, value);

function read(target: Target, index: number): Any {
  if (index >= 0 && index < target.view.length) {
    return host!.operate(READ, target, index, 0, 0, 0);
  }
  host!.outside(target, index, "plain read");
  return undefined;
}

function write(target: Target, index: number, value: Any): void {
  const element = converted(target, value);
  if (index >= 0 && index < target.view.length) {
    host!.operate(WRITE, target, index, element, 0, 0);
  } else host!.outside(target, index, "plain write");
}

// ---- methods ----------------------------------------------------------------

const generic = new Set([
  "at",
  "copyWithin",
  "entries",
  "every",
  "fill",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
  "forEach",
  "includes",
  "indexOf",
  "join",
  "keys",
  "lastIndexOf",
  "reduce",
  "reduceRight",
  "reverse",
  "some",
  "values",
  "toLocaleString",
]);

type Method = (this: Any, ...args: Any[]) => Any;

/** The elements, read one by one. */
const elements = (proxy: Any): Any[] => Array.prototype.slice.call(proxy);

/** A copy of the elements in the agent's own memory. */
const own = (proxy: Any, from: Iterable<Any>): Any =>
  new RealViews[targets.get(proxy)!.name](from);

/** Methods that cannot be done by the array method of the same name. */
const special: Record<string, Method> = {
  set(source, offset) {
    const first = Math.trunc(+offset) || 0;
    const from = elements(source);
    const { length } = this;
    if (first < 0 || first + from.length > length) {
      host!.outside(targetOf(this)!, first + from.length - 1, "set()");
      throw new RangeError("offset is out of bounds");
    }
    for (let i = 0; i < from.length; i++) this[first + i] = from[i];
  },
  slice(start, end) {
    return own(this, Array.prototype.slice.call(this, start, end));
  },
  map(fn, self) {
    return own(this, Array.prototype.map.call(this, fn, self));
  },
  filter(fn, self) {
    return own(this, Array.prototype.filter.call(this, fn, self));
  },
  sort(order) {
    own(this, elements(this)).sort(order)
      .forEach((value: Any, i: number) => this[i] = value);
    return this;
  },
  toSorted(order) {
    return own(this, elements(this)).sort(order);
  },
  toReversed() {
    return own(this, elements(this).reverse());
  },
  with(index, value) {
    const all = elements(this);
    const at = index < 0 ? all.length + index : index;
    if (!(at in all)) throw new RangeError("Invalid typed array index");
    all[at] = value;
    return own(this, all);
  },
  toString() {
    return elements(this).join();
  },
};

/** The platform's methods; those of classes over views use their elements. */
const builtins = new Set<Any>();
for (
  const prototype of [
    Object.getPrototypeOf(Uint8Array.prototype),
    Uint8Array.prototype,
  ]
) {
  const all = Object.getOwnPropertyDescriptors(prototype);
  for (const key of Reflect.ownKeys(all)) builtins.add(all[key as Any]!.value);
}

const methods = new Map<Any, Method>();

function methodOf(key: string | symbol, real: Any): Method {
  let method = methods.get(real);
  if (method === undefined) {
    method = standIn(key === Symbol.iterator ? "values" : String(key), real);
    methods.set(real, method);
  }
  return method;
}

function standIn(name: string, real: Any): Method {
  if (name === "subarray") {
    return function (...args) {
      return expose(real.apply(unwrap(this), args));
    };
  }
  const modelled = special[name] ??
    (generic.has(name) ? (Array.prototype as Any)[name] as Method : undefined);
  return function (...args) {
    if (host === null || !host.running) {
      return real.apply(unwrap(this), args.map(unwrap));
    }
    if (modelled !== undefined) return modelled.apply(this, args);
    if (name in Object.prototype) return real.apply(unwrap(this), args);
    if (!builtins.has(real)) return real.apply(this, args);
    return host.refuse(
      `Cannot explore ${targets.get(this)!.name}.prototype.${name} on shared ` +
        `memory: access the elements instead`,
    );
  };
}

/**
 * Replaces a constructor of typed arrays. It is a function and no Proxy,
 * because `instanceof` takes ten times longer for a Proxy.
 */
export function constructorFor(name: string): Any {
  const Real = RealViews[name];
  function StandIn(given: Any, offset: Any, length: Any): Any {
    const by = new.target as Any;
    if (by === undefined) return Real(); // which throws
    if (host !== null && by === StandIn && isShared(given)) {
      return host.kept(Real, given, offset, length) ??
        expose(new Real(given, offset, length), [Real, given, offset, length]);
    }
    const copied = typeof given === "object" && given !== null &&
      targets.has(given);
    const source = copied
      ? host?.running ? elements(given) : unwrap(given)
      : given;
    return expose(
      by === StandIn
        ? new Real(source, offset, length)
        : Reflect.construct(Real, [source, offset, length], by),
    );
  }
  Object.setPrototypeOf(StandIn, Object.getPrototypeOf(Real));
  const own = Object.getOwnPropertyDescriptors(Real);
  return Object.defineProperties(StandIn, own);
}
