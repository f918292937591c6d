/**
 * Microtasks, events, and messages from one port of an agent to another.
 *
 * @module
 */
import type { Host } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const RealChannel = globalThis.MessageChannel;

/** One end of a channel. It delivers in the agent that made the channel. */
export class Port {
  other: Port | null = null;
  readonly #host: Host;
  readonly #clone: (value: Any) => Any;
  /** By listener: what calls it, and whether only once. */
  readonly #listeners = new Map<Any, { call: Any; once: boolean }>();
  #onmessage: Any = null;
  #started = false;
  #closed = false;
  #waiting: Any[] = [];

  constructor(host: Host, clone: (value: Any) => Any) {
    this.#host = host;
    this.#clone = clone;
  }

  get onmessage(): Any {
    return this.#onmessage;
  }

  set onmessage(listener: Any) {
    this.#onmessage = listener;
    this.start();
  }

  postMessage(value: Any, options?: Any): void {
    const { other } = this;
    if (this.#closed || other === null) return;
    const transfer: Any[] = options?.transfer ?? options ?? [];
    const message = {
      data: this.#clone(value),
      ports: [...transfer].filter((item) => item instanceof Port),
    };
    this.#host.post(() => other.#receive(message));
  }

  #receive(message: { data: Any; ports: Any[] }): void {
    if (this.#closed) return;
    if (!this.#started) {
      this.#waiting.push(message);
      return;
    }
    const event = { type: "message", target: this, ...message };
    if (typeof this.#onmessage === "function") {
      this.#onmessage.call(this, event);
    }
    for (const [listener, { call, once }] of [...this.#listeners]) {
      if (once) this.#listeners.delete(listener);
      if (typeof call === "function") call.call(this, event);
      else call.handleEvent(event);
    }
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) {
      this.#host.post(() => this.#receive(message));
    }
  }

  close(): void {
    this.#closed = true;
  }

  addEventListener(type: string, listener: Any, options?: Any): void {
    if (type !== "message" || !listener || this.#listeners.has(listener)) {
      return;
    }
    const once = options?.once === true;
    this.#listeners.set(listener, { call: listener, once });
  }

  removeEventListener(type: string, listener: Any): void {
    if (type === "message") this.#listeners.delete(listener);
  }

  on(type: string, listener: Any, once = false): this {
    const call = ({ data }: Any) => listener(data);
    if (type === "message") this.#listeners.set(listener, { call, once });
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

  ref(): void {}
  unref(): void {}
}

/** Stands in for `MessageChannel`. */
export function channelFor(
  running: () => Host | null,
  clone: (value: Any) => Any,
): Any {
  return new Proxy(RealChannel, {
    construct(real) {
      const host = running();
      if (host === null) return new real();
      const port1 = new Port(host, clone);
      const port2 = new Port(host, clone);
      port1.other = port2;
      port2.other = port1;
      return { port1, port2 };
    },
  });
}

const listeners = new WeakMap<object, Any>();
const realAdd = EventTarget.prototype.addEventListener;
const realRemove = EventTarget.prototype.removeEventListener;

/**
 * Stands in for `addEventListener`. A listener can then be suspended as other
 * code is; the platform would take the token that suspends it for an error.
 */
export function addListener(running: () => Host | null): Any {
  return function (this: Any, type: string, listener: Any, options: Any) {
    const host = running();
    if (host === null || listener === null || listener === undefined) {
      return realAdd.call(this, type, listener, options);
    }
    let guarded = listeners.get(listener);
    if (guarded === undefined) {
      guarded = function (this: Any, event: Event) {
        const now = running();
        const call = () =>
          typeof listener === "function"
            ? listener.call(this, event)
            : listener.handleEvent(event);
        return now === null ? call() : now.guard(call);
      };
      listeners.set(listener, guarded);
    }
    realAdd.call(this, type, guarded, options);
  };
}

/** Stands in for `removeEventListener`. */
export function removeListener(): Any {
  return function (this: Any, type: string, listener: Any, options: Any) {
    const guarded = listener ? listeners.get(listener) : undefined;
    if (guarded !== undefined) realRemove.call(this, type, guarded, options);
    realRemove.call(this, type, listener, options);
  };
}
