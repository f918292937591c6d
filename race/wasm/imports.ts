/**
 * What modules import besides memory.
 *
 * @module
 */
import { Unsupported } from "../engine/kinds.ts";
import { RACE } from "./rewrite.ts";
import { getHost } from "../engine/platform/views.ts";
import type { Rewritten } from "./rewrite.ts";

/**
 * Imports that the tester provides: the simulated clock in milliseconds, random
 * numbers, and the functions by which Emscripten's pthreads call their
 * JavaScript.
 */
export const KNOWN: Readonly<Record<string, () => number | void>> = {
  weft_now: () => performance.now(),
  weft_date: () => Date.now(),
  emscripten_get_now: () => performance.now(),
  emscripten_date_now: () => Date.now(),
  emscripten_random: () => Math.random(),
  emscripten_check_blocking_allowed: () => {},
  _emscripten_init_main_thread_js: () => {},
  _emscripten_thread_mailbox_await: () => {},
};

/** The imports of a module that stand for no access. */
export function imported(
  { module, accesses }: Rewritten & { readonly module: WebAssembly.Module },
): WebAssembly.ModuleImportDescriptor[] {
  return WebAssembly.Module.imports(module)
    .filter(({ module, name }) => module !== RACE || !accesses.has(name));
}

/** A function that throws when called: modules import more than they call. */
export function missing(module: string, name: string): () => never {
  return () => {
    const message = `Cannot explore: the module calls "${name}" of ` +
      `"${module}"; give it in the options' imports`;
    const host = getHost();
    if (host?.running) host.refuse(message);
    throw new Unsupported(message);
  };
}
