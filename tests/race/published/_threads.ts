/**
 * Repeats a finding on threads.
 *
 * @module
 */
import { codeOf } from "./_bundle.ts";
import type { Published, Threads } from "./_kit.ts";

/** Milliseconds after which a round counts as one that does not end. */
const PATIENCE = 2000;

/** Runs rounds until one goes wrong, and says how it ended. */
export async function onThreads(
  of: Published,
  threads: Threads,
): Promise<string> {
  const { roles, rounds, memory, wrong } = threads;
  const text = await codeOf(of, threads.path, threads.opening);
  const url = new URL("./_thread.ts", import.meta.url);
  const workers = roles.map(() => new Worker(url, { type: "module" }));
  const must = threads.must ?? roles.map((_, i) => i);
  /**
   * Sends each worker what `message` makes; true if those that must are done.
   */
  const round = async (
    message: (i: number) => unknown,
    who: readonly number[],
  ) => {
    const done = who.map((i) =>
      new Promise<boolean>((resolve) =>
        workers[i]!.onmessage = () => resolve(true)
      )
    );
    workers.forEach((worker, i) => worker.postMessage(message(i)));
    const late = { id: 0 };
    const patience = new Promise<boolean>((resolve) =>
      late.id = setTimeout(() => resolve(false), PATIENCE) as unknown as number
    );
    const ended = Promise.all(done).then(() => true);
    const all = await Promise.race([ended, patience]);
    clearTimeout(late.id);
    return all;
  };
  try {
    await round((i) => ({ text, role: `${roles[i]}` }), roles.map((_, i) => i));
    for (let n = 1; n <= rounds; n++) {
      const shared = memory();
      if (!await round(() => ({ memory: shared }), must)) {
        return `on threads: round ${n} never ended`;
      }
      const what = wrong?.(shared);
      if (what !== undefined) return `on threads: round ${n}: ${what}`;
    }
    return `on threads: not seen in ${rounds} rounds`;
  } finally {
    for (const worker of workers) worker.terminate();
  }
}
