/**
 * Stand-ins for `MessageChannel` and `MessagePort`. A port is only a number:
 * what an agent does with it lies in the run of that agent, so that a replay
 * begins anew, and several agents can be given the same port.
 *
 * @module
 */
import type { PortState } from "./office.ts";
import { getHost, type Host } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const RealChannel = globalThis.MessageChannel;

/** The host, if a simulated agent is on the stack. */
function host(what: string): Host {
  const now = getHost();
  if (now?.running) return now;
  throw new TypeError(`Cannot ${what} a simulated port outside of an agent`);
}

/** Data that can be posted, the text that stands for it, and its ports. */
export interface Packed {
  readonly data: Any;
  readonly key: string;
  readonly ports: Port[];
}

/** Copies data to be posted; set by the module that copies data. */
export type Pack = (value: Any, transfer: Any[]) => Packed;

/** Throws what the platform throws for these arguments of `postMessage`. */
function misuse(...args: Any[]): void {
  const { port1, port2 } = new RealChannel();
  try {
    (port1.postMessage as Any)(...args);
  } finally {
    port1.close();
    port2.close();
  }
}

/** Throws what the platform throws if a port is posted to its other end. */
function refuseSelf(): void {
  const { port1, port2 } = new RealChannel();
  try {
    port1.postMessage(0, [port1]);
  } finally {
    port1.close();
    port2.close();
  }
}

/** Throws what the platform throws for a port that is not transferred. */
export function refusePort(clone: (value: Any, options?: Any) => Any): void {
  const { port1, port2 } = new RealChannel();
  try {
    clone({ port1 });
  } finally {
    port1.close();
    port2.close();
  }
}

/** The list of what is transferred, as `postMessage` converts its options. */
function transferOf(options: Any): Any[] {
  if (options === undefined || options === null) return [];
  if (typeof options !== "object") misuse(0, options);
  const list = Symbol.iterator in options ? options : options.transfer;
  return list === undefined || list === null ? [] : [...list];
}

/** One end of a channel. */
export class Port {
  /** Makes the end with this number; `pack` copies what is posted. */
  constructor(readonly number: number, readonly pack: Pack) {
    Object.defineProperty(this, "number", { enumerable: false });
    Object.defineProperty(this, "pack", { enumerable: false });
  }

  get #state(): PortState {
    return host("use").portState(this.number);
  }

  get onmessage(): Any {
    return this.#state.onmessage;
  }

  set onmessage(listener: Any) {
    this.#state.onmessage = typeof listener === "function" ? listener : null;
    this.start();
  }

  postMessage(value: Any, options?: Any): void {
    const now = host("post to");
    if (arguments.length === 0) misuse();
    const transfer = transferOf(options);
    if (transfer.includes(this)) refuseSelf();
    const { data, key, ports } = this.pack(value, transfer);
    const { gone } = now.portState(this.number);
    for (const { number } of ports) now.portState(number).gone = true;
    const other = this.number ^ 1;
    const numbers = ports.map(({ number }) => number);
    // A message that carries the port it is for gets lost.
    if (gone || numbers.includes(other)) return;
    now.send(other, key, data, numbers);
  }

  /** What `receiveMessageOnPort` answers for it. */
  take(): Any {
    const now = host("receive from");
    return now.portState(this.number).gone ? undefined : now.take(this.number);
  }

  start(): void {
    const state = this.#state;
    if (state.open || state.gone) return;
    state.open = true;
    host("open").openPort(this.number);
  }

  close(): void {
    const state = this.#state;
    if (state.gone) return;
    state.gone = true;
    if (state.open) host("close").closePort(this.number);
    state.open = false;
  }

  addEventListener(type: string, listener: Any, options?: Any): void {
    const { listeners } = this.#state;
    if (type !== "message" || !listener || listeners.has(listener)) return;
    const once = options?.once === true;
    listeners.set(listener, { call: listener, once });
  }

  removeEventListener(type: string, listener: Any): void {
    if (type === "message") this.#state.listeners.delete(listener);
  }

  on(type: string, listener: Any, once = false): this {
    if (type !== "message") return this;
    const call = ({ data }: Any) => listener(data);
    this.#state.listeners.set(listener, { call, once });
    this.start();
    return this;
  }

  once(type: string, listener: Any): this {
    return this.on(type, listener, true);
  }

  off(type: string, listener: Any): this {
    this.removeEventListener(type, listener);
    return this;
  }

  addListener(type: string, listener: Any): this {
    return this.on(type, listener);
  }

  removeListener(type: string, listener: Any): this {
    return this.off(type, listener);
  }

  ref(): void {}
  unref(): void {}

  /** A message has arrived at the agent on the stack. */
  deliver(data: Any, ports: Port[]): void {
    const state = this.#state;
    const { onmessage, listeners } = state;
    const event = { type: "message", target: this, data, ports };
    if (onmessage !== null) onmessage.call(this, event);
    for (const [listener, { call, once }] of [...listeners]) {
      if (once) listeners.delete(listener);
      if (typeof call === "function") call.call(this, event);
      else call.handleEvent(event);
    }
  }
}

const ports = new Map<number, Port>();

/** The port with this number. */
export function portOf(number: number, pack: Pack): Port {
  let port = ports.get(number);
  if (port === undefined) ports.set(number, port = new Port(number, pack));
  return port;
}

/** Stands in for `MessageChannel`. */
export function channelFor(pack: Pack): Any {
  return new Proxy(RealChannel, {
    construct(real) {
      const now = getHost();
      if (now === null || !(now.running || now.setting)) return new real();
      const first = 2 * now.newChannel();
      return { port1: portOf(first, pack), port2: portOf(first + 1, pack) };
    },
  });
}
