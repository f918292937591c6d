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
class Port {
  other: Port | null = null;
  readonly #host: Host;
  readonly #clone: (value: Any) => Any;
  readonly #listeners = new Set<Any>();
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

  postMessage(value: Any): void {
    const { other } = this;
    if (this.#closed || other === null) return;
    const data = this.#clone(value);
    this.#host.post(() => other.#receive(data));
  }

  #receive(data: Any): void {
    if (this.#closed) return;
    if (!this.#started) {
      this.#waiting.push(data);
      return;
    }
    const event = { type: "message", data, target: this, ports: [] };
    if (typeof this.#onmessage === "function") {
      this.#onmessage.call(this, event);
    }
    for (const listener of [...this.#listeners]) {
      if (typeof listener === "function") listener.call(this, event);
      else listener.handleEvent(event);
    }
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const data of waiting) this.#host.post(() => this.#receive(data));
  }

  close(): void {
    this.#closed = true;
  }

  addEventListener(type: string, listener: Any): void {
    if (type === "message" && listener) this.#listeners.add(listener);
  }

  removeEventListener(type: string, listener: Any): void {
    if (type === "message") this.#listeners.delete(listener);
  }

  on(type: string, listener: Any): this {
    const heard = ({ data }: Any) => listener(data);
    if (type === "message") this.#listeners.add(heard);
    this.start();
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
