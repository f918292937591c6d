/**
 * Functions that are called when objects are garbage.
 *
 * There is one registry for all of them, and it lives as long as this module.
 * If a registry is collected while objects that it watched are garbage, Node 20
 * and 24 call back no registry of that agent any more.
 *
 * @module
 */

const registry: FinalizationRegistry<() => void> =
  /* @__PURE__ */ new FinalizationRegistry((due) => due());

/**
 * Calls `release` with `what` when an object is garbage. Neither may refer to
 * the object, nor may anything that `release` closes over.
 */
export function onGarbage<T>(
  object: object,
  release: (what: T) => void,
  what: T,
): void {
  registry.register(object, () => release(what), object);
}

/** Calls nothing for `object` any more. */
export function offGarbage(object: object): void {
  registry.unregister(object);
}
