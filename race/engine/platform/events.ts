/**
 * Listeners of events that code under test adds.
 *
 * @module
 */
import type { Host } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

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
