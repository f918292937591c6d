/**
 * Stand-ins for globals: `Atomics`, typed arrays, clocks, timers. They are in
 * place only while an exploration runs. If no simulated agent is on the stack,
 * they do the same as the real ones.
 *
 * @module
 */
import * as k from "../kinds.ts";
import {
  isShared,
  native,
  RealAtomics,
  RealDate,
  realNow,
  RealPerformance,
  RealShared,
  VIEW_NAMES,
} from "./native.ts";
import { dataViewMethods, watchDataViews } from "./cells.ts";
import { dismiss, type Inn, welcome } from "./guests.ts";
import { drawing, type Patch, patches, renewImports } from "./platform.ts";
import {
  constructorFor,
  converted,
  getHost,
  type Host,
  setHost,
  Target,
  targetOf,
  unwrap,
} from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const PREMADE = "Cannot explore a view of shared memory that was made before " +
  "the exploration, or by a constructor captured before it: its plain " +
  "accesses cannot be seen. Make it in memory(), agent() or an operation";

/** The host, if a simulated agent is on the stack. */
function running(): Host | null {
  const host = getHost();
  return host !== null && host.running ? host : null;
}

/** The view that an agent passes, if it is a view of shared memory. */
function viewed(host: Host, view: Any): Target | undefined {
  if (typeof view !== "object" || view === null) return undefined;
  const target = targetOf(view);
  if (target === undefined && isElements(view) && isShared(view.buffer)) {
    host.refuse(PREMADE);
  }
  return target;
}

/** Whether it is a typed array: no function of Atomics takes a `DataView`. */
const isElements = (view: object): boolean => "BYTES_PER_ELEMENT" in view;

const sleepWords = new WeakMap<object, Target>();

/**
 * The view, if it was made before the exploration. Such a view may only be
 * slept on: many modules have a word of their own for this.
 */
function asleepOn(host: Host, view: Any): Target | undefined {
  if (typeof view !== "object" || view === null) return undefined;
  if (targetOf(view) !== undefined || !isElements(view)) return undefined;
  if (!isShared(view.buffer)) return undefined;
  let target = sleepWords.get(view);
  if (target?.host !== host) {
    target = new Target(host, view, host.region(view.buffer));
    sleepWords.set(view, target);
  }
  return target;
}

/**
 * The element that `index` names, as Atomics converts it; undefined if the view
 * has none.
 */
function elementOf(
  host: Host,
  target: Target,
  index: Any,
  what: string,
): number | undefined {
  const at = typeof index === "number" && (index | 0) === index
    ? index | 0
    : Math.trunc(+index) || 0;
  if (at >= 0 && at < target.view.length) return at;
  host.outside(target, at, what);
  return undefined;
}

function atomic(name: keyof typeof native, kind: number): Any {
  const real = native[name] as Any;
  const what = `Atomics.${name}`;
  return (view: Any, index: Any, a: Any, b: Any) => {
    const host = running();
    if (host === null) return real(unwrap(view), index, a, b);
    const target = viewed(host, view);
    // A misuse must throw the same error as the real function.
    if (target === undefined || target.wrap === null) {
      return real(unwrap(view), index, a, b);
    }
    const at = elementOf(host, target, index, what);
    if (at === undefined) return real(target.view, index, a, b);
    if (kind === k.LOAD) a = 0;
    else a = converted(target, a);
    if (kind === k.CAS) {
      b = converted(target, b);
      a = target.wrap(a);
      b = target.wrap(b);
    } else b = 0;
    return host.operate(kind, target, at, a, b, Infinity);
  };
}

function timeoutOf(timeout: Any): number {
  const ms = timeout === undefined ? Infinity : +timeout;
  return Number.isNaN(ms) ? Infinity : Math.max(0, ms);
}

/** Whether agents can wait on elements of the view. */
const isWaitable = ({ name }: Target): boolean =>
  name === "Int32Array" || name === "BigInt64Array";

function waiting(name: "wait" | "waitAsync"): Any {
  const what = `Atomics.${name}`;
  return (view: Any, index: Any, value: Any, timeout: Any) => {
    const host = running();
    const target = host && (asleepOn(host, view) ?? viewed(host, view));
    if (!host || !target || !isWaitable(target)) {
      return native[name](unwrap(view), index, value, timeout);
    }
    const at = elementOf(host, target, index, what);
    if (at === undefined) return native[name](target.view, index, value, 0);
    const expected = target.wrap!(converted(target, value));
    const ms = timeoutOf(timeout);
    return name === "wait"
      ? host.operate(k.WAIT, target, at, expected, 0, ms)
      : host.waitAsync(target, at, expected, ms);
  };
}

const atomicsShim: Any = {
  load: atomic("load", k.LOAD),
  store: atomic("store", k.STORE),
  add: atomic("add", k.ADD),
  sub: atomic("sub", k.SUB),
  and: atomic("and", k.AND),
  or: atomic("or", k.OR),
  xor: atomic("xor", k.XOR),
  exchange: atomic("exchange", k.EXCHANGE),
  compareExchange: atomic("compareExchange", k.CAS),
  wait: waiting("wait"),
  waitAsync: waiting("waitAsync"),
  notify(view: Any, index: Any, count?: Any): number {
    const host = running();
    const target = host && viewed(host, view);
    if (!host || !target || !isWaitable(target)) {
      return native.notify(unwrap(view), index, count);
    }
    const at = elementOf(host, target, index, "Atomics.notify");
    if (at === undefined) return native.notify(target.view, index, count);
    const limit = count === undefined
      ? Infinity
      : Math.max(0, Math.trunc(+count!) || 0);
    return host.operate(k.NOTIFY, target, at, limit, 0, 0);
  },
};

// ---- time and chance --------------------------------------------------------

const EPOCH = 1_600_000_000_000;

function clock(): number | undefined {
  return running()?.operate(k.CLOCK, null, 0, 0, 0, 0);
}

const performanceShim: Any = new Proxy(RealPerformance, {
  get(real: Any, key) {
    if (key === "now") return () => clock() ?? realNow();
    const value = Reflect.get(real, key, real);
    return typeof value === "function" ? value.bind(real) : value;
  },
});

const dateShim: Any = new Proxy(RealDate, {
  construct(real, args, newTarget) {
    const now = args.length === 0 ? clock() : undefined;
    const given = now === undefined ? args : [EPOCH + now];
    return Reflect.construct(
      real,
      given,
      newTarget === dateShim ? real : newTarget,
    );
  },
  apply(real) {
    const now = clock();
    return now === undefined ? real() : new real(EPOCH + now).toString();
  },
  get(real: Any, key) {
    if (key !== "now") return Reflect.get(real, key, real);
    return () => {
      const now = clock();
      return now === undefined ? real.now() : EPOCH + now;
    };
  },
});

const real: Any = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  random: Math.random,
  isView: ArrayBuffer.isView,
  abortAfter: AbortSignal.timeout,
};

/** The longest delay of a timer; one that is longer is none. */
const LONGEST = 2 ** 31 - 1;

const timer =
  (name: "setTimeout" | "setInterval") =>
  (fn: Any, delay: Any, ...args: Any[]): Any => {
    const host = running();
    if (host === null) return real[name].call(globalThis, fn, delay, ...args);
    const given = Number(delay);
    const ms = given >= 1 && given <= LONGEST ? given : 1;
    return host.setTimer(() => fn(...args), ms, name === "setInterval");
  };

const clear = (name: "clearTimeout" | "clearInterval") => (id: Any): void => {
  const host = running();
  const ours = typeof id === "object" && id !== null && "virtual" in id;
  if (host !== null) host.clearTimer(id);
  else if (!ours) real[name].call(globalThis, id);
};

function abortAfter(ms: number): AbortSignal {
  const host = running();
  if (host === null) return real.abortAfter.call(AbortSignal, ms);
  const controller = new AbortController();
  const error = new DOMException("Signal timed out.", "TimeoutError");
  host.setTimer(() => controller.abort(error), Math.max(1, ms), false);
  return controller.signal;
}

// ---- installing -------------------------------------------------------------

const sharedShim: Any = new Proxy(RealShared, {
  construct(_, args, newTarget) {
    const host = getHost();
    if (running() !== null) return host!.allocate(args[0], args[1]);
    const by = newTarget === sharedShim ? RealShared : newTarget;
    return Reflect.construct(RealShared, args, by);
  },
});

const shims: Any = {
  performance: performanceShim,
  Date: dateShim,
  SharedArrayBuffer: sharedShim,
  setTimeout: timer("setTimeout"),
  setInterval: timer("setInterval"),
  clearTimeout: clear("clearTimeout"),
  clearInterval: clear("clearInterval"),
};
for (const name of VIEW_NAMES) shims[name] = constructorFor(name);

watchDataViews(running);

/** All properties that are replaced while an exploration runs. */
const patched: readonly Patch[] = [
  ...Object.keys(shims).map((key) => ({
    on: globalThis,
    key,
    value: shims[key],
  })),
  ...Object.keys(atomicsShim).map((key) => ({
    on: RealAtomics,
    key,
    value: atomicsShim[key],
  })),
  ...Object.keys(dataViewMethods).map((key) => ({
    on: DataView.prototype,
    key,
    value: dataViewMethods[key],
  })),
  {
    on: Math,
    key: "random",
    value: () => drawing()?.chance() ?? real.random(),
  },
  {
    on: ArrayBuffer,
    key: "isView",
    value: (value: Any) => real.isView(unwrap(value)),
  },
  { on: AbortSignal, key: "timeout", value: abortAfter },
  ...patches(running, clock),
];
/** What the properties were before the stand-ins; null without these. */
let before: readonly (PropertyDescriptor | undefined)[] | null = null;

/** Whether a property can only be written, as some are in Bun. */
const isFixed = (old: PropertyDescriptor | undefined): boolean =>
  old?.configurable === false && old.writable === true;

const isFrozen = (on: object, old: PropertyDescriptor | undefined): boolean =>
  old === undefined
    ? !Object.isExtensible(on)
    : !old.configurable && !isFixed(old);

/** Puts the stand-ins in place. They report every access to `host`. */
export function install(host: Host & Inn): void {
  // The user may have replaced some, such as the timers of a test.
  const old = before ??
    patched.map(({ on, key }) => Object.getOwnPropertyDescriptor(on, key));
  const frozen = patched.find(({ on }, i) => isFrozen(on, old[i]));
  if (frozen !== undefined) {
    throw new TypeError(
      `Cannot explore where "${frozen.key}" is frozen, as by lockdown() of ` +
        "SES or Node's --frozen-intrinsics: the tester puts a stand-in in " +
        "its place while it explores",
    );
  }
  setHost(host);
  welcome(host);
  before = old;
  patched.forEach(({ on, key, value }, i) => {
    if (isFixed(old[i])) return void ((on as Any)[key] = value);
    Object.defineProperty(on, key, {
      value,
      configurable: true,
      writable: true,
      enumerable: false,
    });
  });
  renewImports();
}

/** Puts the globals back as they were. */
export function uninstall(): void {
  setHost(null);
  dismiss();
  const all = before ?? [];
  before = null;
  all.forEach((old, i) => {
    const { on, key } = patched[i]!;
    if (old === undefined) delete (on as Any)[key];
    else if (isFixed(old)) (on as Any)[key] = old.value;
    else Object.defineProperty(on, key, old);
  });
  renewImports();
}

/** Whether the stand-ins are in place. */
export function isInstalled(): boolean {
  return before !== null;
}
