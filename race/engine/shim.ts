/**
 * Stand-ins for globals: `Atomics`, typed arrays, clocks, timers. They are in
 * place only while an exploration runs. If no simulated agent is on the stack,
 * they do the same as the real ones.
 *
 * @module
 */
import * as k from "./kinds.ts";
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
import { type Patch, patches } from "./platform.ts";
import {
  constructorFor,
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
  if (target === undefined && isShared(view.buffer)) host.refuse(PREMADE);
  return target;
}

const sleepWords = new WeakMap<object, Target>();

/**
 * The view, if it was made before the exploration. Such a view may only be
 * slept on: many modules have a word of their own for this.
 */
function asleepOn(host: Host, view: Any): Target | undefined {
  if (typeof view !== "object" || view === null) return undefined;
  if (targetOf(view) !== undefined || !isShared(view.buffer)) return undefined;
  let target = sleepWords.get(view);
  if (target?.host !== host) {
    target = new Target(host, view, host.region(view.buffer));
    sleepWords.set(view, target);
  }
  return target;
}

/** Whether `index` is an element of the view; if not, Atomics throws. */
function inside(host: Host, target: Target, index: Any, what: string): boolean {
  const at = Math.trunc(Number(index)) || 0;
  if (at >= 0 && at < target.view.length) return true;
  host.outside(target, index, what);
  return false;
}

function atomic(name: keyof typeof native, kind: number): Any {
  const real = native[name] as Any;
  return (view: Any, index: Any, a: Any, b: Any) => {
    const host = running();
    if (host === null) return real(unwrap(view), index, a, b);
    const target = viewed(host, view);
    // A misuse must throw the same error as the real function.
    if (target === undefined || target.wrap === null) {
      return real(unwrap(view), index, a, b);
    }
    if (!inside(host, target, index, `Atomics.${name}`)) {
      return real(target.view, index, a, b);
    }
    const big = target.name.startsWith("Big");
    if (kind === k.LOAD) a = 0;
    else if (big || typeof a === "bigint" || typeof a === "symbol") {
      if (!big || typeof a !== "bigint") return real(target.view, index, a, b);
    } else a = Number(a); // `a` may be an object that computes its value
    if (kind === k.CAS) {
      if (big || typeof b === "bigint" || typeof b === "symbol") {
        if (!big || typeof b !== "bigint") {
          return real(target.view, index, a, b);
        }
      } else b = Number(b);
      a = target.wrap(a);
      b = target.wrap(b);
    } else b = 0;
    return host.operate(kind, target, index | 0, a, b, Infinity);
  };
}

function timeoutOf(timeout: Any): number {
  const ms = timeout === undefined ? Infinity : Number(timeout);
  return Number.isNaN(ms) ? Infinity : Math.max(0, ms);
}

function waiting(name: "wait" | "waitAsync"): Any {
  return (view: Any, index: Any, value: Any, timeout: Any) => {
    const host = running();
    const target = host && (asleepOn(host, view) ?? viewed(host, view));
    const waitable = target?.name === "Int32Array" ||
      target?.name === "BigInt64Array";
    if (!host || !target || !waitable) {
      return native[name](unwrap(view), index, value, timeout);
    }
    if (!inside(host, target, index, `Atomics.${name}`)) {
      return native[name](target.view, index, value, 0);
    }
    const expected = target.wrap!(value);
    const ms = timeoutOf(timeout);
    return name === "wait"
      ? host.operate(k.WAIT, target, index | 0, expected, 0, ms)
      : host.waitAsync(target, index | 0, expected, ms);
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
    if (!host || !target) return native.notify(unwrap(view), index, count);
    if (!inside(host, target, index, "Atomics.notify")) {
      return native.notify(target.view, index, count);
    }
    const limit = count === undefined
      ? Infinity
      : Math.max(0, Math.trunc(Number(count)) || 0);
    return host.operate(k.NOTIFY, target, index | 0, limit, 0, 0);
  },
  pause: (): void => {},
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

const timer =
  (name: "setTimeout" | "setInterval") =>
  (fn: Any, delay: Any, ...args: Any[]): Any => {
    const host = running();
    if (host === null) return real[name].call(globalThis, fn, delay, ...args);
    const ms = Math.max(1, Number(delay) || 0);
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
    if (running() !== null) return host!.allocate(Number(args[0]));
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
    value: () => running()?.random() ?? real.random(),
  },
  {
    on: ArrayBuffer,
    key: "isView",
    value: (value: Any) => real.isView(unwrap(value)),
  },
  { on: AbortSignal, key: "timeout", value: abortAfter },
  ...patches(running, clock),
];
const before = patched.map(({ on, key }) =>
  Object.getOwnPropertyDescriptor(on, key)
);

/** Puts the stand-ins in place. They report every access to `host`. */
export function install(host: Host): void {
  setHost(host);
  for (const { on, key, value } of patched) {
    Object.defineProperty(on, key, {
      value,
      configurable: true,
      writable: true,
      enumerable: false,
    });
  }
}

/** Puts the real globals back. */
export function uninstall(): void {
  setHost(null);
  patched.forEach(({ on, key }, i) => {
    const old = before[i];
    if (old === undefined) delete (on as Any)[key];
    else Object.defineProperty(on, key, old);
  });
}

/** Whether the stand-ins are in place. */
export function isInstalled(): boolean {
  return getHost() !== null && RealAtomics.load !== native.load;
}
