import { availableParallelism } from "node:os";

/**
 * Gives Node 20 the `navigator` that Node has since version 21: npm's
 * `multithreading` needs it.
 */
export function ensureNavigator(): void {
  const scope = globalThis as { navigator?: unknown };
  scope.navigator ??= { hardwareConcurrency: availableParallelism() };
}
