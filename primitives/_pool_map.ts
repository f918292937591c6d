/**
 * Does something for each of many requests, a limited number at a time.
 *
 * @module
 */

import { describe } from "./_describe.ts";

/** How to go through the requests. */
export interface MapConfig {
  readonly ordered: boolean;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** Throws a TypeError unless `requests` can be iterated. */
export function assertIterable(requests: unknown): void {
  const it = requests as Partial<Iterable<unknown> & AsyncIterable<unknown>>;
  if (
    requests !== undefined && requests !== null &&
    (it[Symbol.iterator] ?? it[Symbol.asyncIterator]) !== undefined
  ) return;
  throw new TypeError(
    `Expected requests to iterate over: received ${describe(requests)}`,
  );
}

/** Yields what `run` resolves with, for each request. */
export async function* mapped<In, Out>(
  requests: Iterable<In> | AsyncIterable<In>,
  run: (request: In, stop: AbortSignal) => Promise<Out>,
  { ordered, limit, signal }: MapConfig,
): AsyncGenerator<Out, void, void> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal!.reason);
  if (signal?.aborted) throw signal.reason;
  signal?.addEventListener("abort", abort);
  /** Results in the order in which they are yielded. */
  const line: Promise<Out>[] = [];
  let underway = 0;
  let ended = false;
  let change = () => {};
  let changed = new Promise<void>((resolve) => change = resolve);
  const tell = () => {
    change();
    changed = new Promise((resolve) => change = resolve);
  };
  const put = (result: Promise<Out>) => {
    line.push(result);
    tell();
  };
  const begin = (result: Promise<Out>) => {
    underway++;
    result.catch(() => {}); // it may never be looked at
    if (ordered) put(result);
    else result.then(() => put(result), () => put(result));
  };
  const pump = async () => {
    try {
      for await (const request of requests) {
        if (stop.signal.aborted) break;
        begin(run(request, stop.signal));
        while (underway >= limit && !stop.signal.aborted) await changed;
        if (stop.signal.aborted) break;
      }
    } catch (error) {
      begin(Promise.reject(error));
    }
    ended = true;
    tell();
  };
  try {
    void pump();
    for (;;) {
      while (line.length === 0) {
        if (ended && underway === 0) return;
        if (stop.signal.aborted) throw stop.signal.reason;
        await changed;
      }
      const value = await line.shift()!;
      underway--;
      tell();
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    stop.abort(
      new DOMException("The loop over the results was left", "AbortError"),
    );
    tell();
  }
}
