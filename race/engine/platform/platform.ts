/**
 * What code under test uses of the platform besides `Atomics`, views and
 * timers. Some features are simulated; all others are refused by name.
 *
 * @module
 */
import { clone, pack } from "./copies.ts";
import { addListener, removeListener } from "./events.ts";
import { isShared, U8 } from "./native.ts";
import { channelFor, Port } from "./ports.ts";
import { getHost, type Host, unwrap } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A property that is replaced while an exploration runs. */
export interface Patch {
  readonly on: Any;
  readonly key: string;
  readonly value: Any;
}

/** The patches; each asks `running` for the host. */
export function patches(
  running: () => Host | null,
  clock: () => number | undefined,
): Patch[] {
  return [
    ...texts(running),
    ...chance(),
    ...events(running),
    ...clocks(clock),
    ...copies(running),
    ...mail(running),
    ...refusals(running),
  ].filter(({ on, key }) => on !== undefined && on !== null && key in on);
}

const globals = globalThis as Any;

const builtin = (name: string): Any =>
  globals.process?.getBuiltinModule?.(`node:${name}`) ?? {};

/**
 * Lets modules that import functions of Node by their names have those that are
 * in place now. Only Node can do that.
 */
export const renewImports: () => void =
  globals.Deno === undefined && globals.Bun === undefined
    ? builtin("module").syncBuiltinESMExports ?? (() => {})
    : () => {};

// ---- data that is copied ----------------------------------------------------

const realClone = globals.structuredClone;

function texts(running: () => Host | null): Patch[] {
  const { encodeInto } = TextEncoder.prototype;
  const { decode } = TextDecoder.prototype;
  return [
    {
      on: TextEncoder.prototype,
      key: "encodeInto",
      value(this: Any, source: string, into: Any) {
        if (running() === null || unwrap(into) === into) {
          return encodeInto.call(this, source, into);
        }
        const own = new U8(into.length);
        const done = encodeInto.call(this, source, own);
        for (let i = 0; i < done.written; i++) into[i] = own[i];
        return done;
      },
    },
    {
      on: TextDecoder.prototype,
      key: "decode",
      value(this: Any, input: Any, options: Any) {
        if (running() === null) {
          return decode.call(this, unwrap(input), options);
        }
        const shared = isShared(input)
          ? new globals.Uint8Array(input)
          : isShared(input?.buffer)
          ? new globals.Uint8Array(
            input.buffer,
            input.byteOffset,
            input.byteLength,
          )
          : undefined;
        const own = shared === undefined ? input : U8.from([...shared]);
        return decode.call(this, own, options);
      },
    },
    {
      on: globals,
      key: "structuredClone",
      value: (value: Any, options: Any) =>
        running() === null ? realClone(value, options) : clone(value, options),
    },
  ];
}

/** What reads or views shared memory in a way that cannot be seen. */
function copies(running: () => Host | null): Patch[] {
  const Buffer = globals.process?.getBuiltinModule?.("node:buffer")?.Buffer;
  const { slice } = SharedArrayBuffer.prototype;
  return [
    {
      on: SharedArrayBuffer.prototype,
      key: "slice",
      value(this: Any, ...range: Any[]) {
        running()?.refuse(
          "Cannot explore SharedArrayBuffer.prototype.slice(): its plain " +
            "reads cannot be seen. Copy the elements of a view instead",
        );
        return slice.apply(this, range as [number]);
      },
    },
    ...Buffer === undefined ? [] : [{
      on: Buffer,
      key: "from",
      value: new Proxy(Buffer.from, {
        apply(real, self, args) {
          if (isShared(args[0])) {
            running()?.refuse(
              "Cannot explore a Buffer over shared memory: its plain " +
                "accesses cannot be seen. Use a Uint8Array instead",
            );
          }
          return Reflect.apply(real, self, args);
        },
      }),
    }],
  ];
}

// ---- chance -----------------------------------------------------------------

/** The host whose numbers count: of an agent, or while memory is made. */
export function drawing(): Host | null {
  const host = getHost();
  return host !== null && (host.running || host.setting) ? host : null;
}

function chance(): Patch[] {
  const { crypto } = globals;
  if (crypto === undefined) return [];
  const { getRandomValues, randomUUID } = crypto;
  const bytes = (host: Host, into: Uint8Array) => {
    for (let i = 0; i < into.length; i++) into[i] = host.random() * 256;
    return into;
  };
  return [
    {
      on: crypto,
      key: "getRandomValues",
      value(view: Any) {
        const host = drawing();
        if (host === null) return getRandomValues.call(crypto, view);
        if (isShared(view?.buffer)) {
          if (host.setting) return getRandomValues.call(crypto, view);
          return host.refuse(
            "Cannot explore crypto.getRandomValues() on shared memory: fill " +
              "an array of your own and copy it",
          );
        }
        bytes(host, new U8(view.buffer, view.byteOffset, view.byteLength));
        return view;
      },
    },
    {
      on: crypto,
      key: "randomUUID",
      value() {
        const host = drawing();
        if (host === null) return randomUUID.call(crypto);
        const hex = [...bytes(host, new U8(16))]
          .map((byte) => byte.toString(16).padStart(2, "0")).join("");
        return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-` +
          `8${hex.slice(17, 20)}-${hex.slice(20)}`;
      },
    },
  ];
}

// ---- events -----------------------------------------------------------------

/** The number of what is no longer in the event loop. */
const GONE = -1;

function events(running: () => Host | null): Patch[] {
  const { queueMicrotask, setImmediate, clearImmediate, process } = globals;
  const nextTick = process?.nextTick;
  return [
    {
      on: globals,
      key: "queueMicrotask",
      value(fn: Any) {
        const host = running();
        if (host === null) return queueMicrotask(fn);
        host.needAsync();
        queueMicrotask(() => host.guard(fn));
      },
    },
    {
      on: process,
      key: "nextTick",
      value(fn: Any, ...args: Any[]) {
        const host = running();
        if (host === null) return nextTick.call(process, fn, ...args);
        host.needAsync();
        queueMicrotask(() => host.guard(() => fn(...args)));
      },
    },
    {
      on: globals,
      key: "setImmediate",
      value(fn: Any, ...args: Any[]) {
        const host = running();
        if (host === null) return setImmediate(fn, ...args);
        const handle = {
          immediate: host.post(() => {
            handle.immediate = GONE;
            fn(...args);
          }),
        };
        return handle;
      },
    },
    {
      on: globals,
      key: "clearImmediate",
      value(id: Any) {
        const host = running();
        if (host === null) return clearImmediate(id);
        if (id?.immediate >= 0) host.unpost(id.immediate);
        if (typeof id?.immediate === "number") id.immediate = GONE;
      },
    },
    {
      on: globals,
      key: "MessageChannel",
      value: channelFor(pack),
    },
    {
      on: EventTarget.prototype,
      key: "addEventListener",
      value: addListener(running),
    },
    {
      on: EventTarget.prototype,
      key: "removeEventListener",
      value: removeListener(),
    },
  ];
}

/** The functions of Node's module for threads that take ports. */
function mail(running: () => Host | null): Patch[] {
  const on = builtin("worker_threads");
  const key = "receiveMessageOnPort";
  const real = on[key];
  if (typeof real !== "function" || !isReplaceable(on, key)) return [];
  const value = (port: Any) =>
    running() !== null && port instanceof Port ? port.take() : real(port);
  return [{ on, key, value }];
}

// ---- clocks -----------------------------------------------------------------

function clocks(clock: () => number | undefined): Patch[] {
  const real = globals.process?.hrtime;
  if (typeof real !== "function") return [];
  const hrtime = (since?: [number, number]): [number, number] => {
    const now = clock();
    if (now === undefined) return real(since);
    const [s, ns] = since ?? [0, 0];
    const all = now * 1e6 - s * 1e9 - ns;
    return [Math.floor(all / 1e9), Math.round(all % 1e9)];
  };
  hrtime.bigint = () => {
    const now = clock();
    return now === undefined ? real.bigint() : BigInt(Math.round(now * 1e6));
  };
  return [{ on: globals.process, key: "hrtime", value: hrtime }];
}

// ---- what is refused --------------------------------------------------------

function isReplaceable(on: Any, key: string): boolean {
  const { writable } = Object.getOwnPropertyDescriptor(on, key) ?? {};
  return writable === true;
}

const BEYOND = "what it brings comes from outside the simulation";

function refusals(running: () => Host | null): Patch[] {
  const refuse = (on: Any, key: string, name: string): Patch[] => {
    const real = on?.[key];
    if (typeof real !== "function") return [];
    const check = () => running()?.refuse(`Cannot explore ${name}: ${BEYOND}`);
    const hire = (args: Any[]): Any =>
      key === "Worker" ? running()?.hire(String(args[0])) : undefined;
    const value = new Proxy(real, {
      apply: (fn, self, args) => (check(), Reflect.apply(fn, self, args)),
      construct: (fn, args, by) =>
        hire(args) ?? (check(), Reflect.construct(fn, args, by)),
    });
    return [{ on, key, value }];
  };
  const { Deno, crypto, navigator, Temporal } = globals;
  const files = builtin("fs");
  const nodes: [name: string, on: Any, keys: string[]][] = [
    ["fs", files, Object.keys(files).filter((key) => `${key}Sync` in files)],
    ["fs.promises", files.promises, Object.keys(files.promises ?? {})],
    ["worker_threads", builtin("worker_threads"), ["Worker"]],
    ["child_process", builtin("child_process"), [
      "exec",
      "execFile",
      "fork",
      "spawn",
    ]],
  ];
  return [
    ...nodes.flatMap(([name, on, keys]) =>
      keys.filter((key) => isReplaceable(on, key))
        .flatMap((key) => refuse(on, key, `${name}.${key}`))
    ),
    ...["fetch", "Worker", "BroadcastChannel", "WebSocket", "EventSource"]
      .flatMap((key) => refuse(globals, key, key)),
    ...["requestAnimationFrame", "requestIdleCallback"]
      .flatMap((key) => refuse(globals, key, key)),
    ...Object.keys(Deno ?? {}).filter((key) =>
      Object.getOwnPropertyDescriptor(Deno, key)!.value?.constructor?.name ===
        "AsyncFunction"
    ).flatMap((key) => refuse(Deno, key, `Deno.${key}`)),
    ...Object.getOwnPropertyNames(Temporal?.Now ?? {})
      .filter((key) => key !== "timeZoneId")
      .flatMap((key) => refuse(Temporal.Now, key, `Temporal.Now.${key}`)),
    ...["digest", "encrypt", "decrypt", "sign", "verify", "generateKey"]
      .flatMap((key) => refuse(crypto?.subtle, key, `crypto.subtle.${key}`)),
    ...refuse(navigator?.locks, "request", "navigator.locks.request"),
    ...refuse(
      globals.WebAssembly?.Memory.prototype,
      "grow",
      "WebAssembly.Memory.prototype.grow",
    ),
    ...refuse(
      SharedArrayBuffer.prototype,
      "grow",
      "SharedArrayBuffer.prototype.grow",
    ),
  ];
}
