/**
 * What the tests of a `Pool` make pools with.
 *
 * @module
 */
import { Pool, type PoolOptions } from "../../primitives/pool.ts";
import { start } from "../_run/workers.ts";
import { tasks } from "./tasks.ts";
import type { Orders } from "./worker.ts";

export const WORKER = new URL("./worker.ts", import.meta.url);

export type Some = Partial<PoolOptions<typeof tasks>>;

export const workerOf = (orders: Orders) => () => start(WORKER, orders);

/** A pool of workers with these orders. */
export function poolOf(
  { orders = {}, ...options }: Some & { orders?: Orders } = {},
) {
  const words = new Int32Array(new SharedArrayBuffer(16));
  const make = workerOf({ words, ...orders });
  const pool = new Pool({ tasks, workers: 1, make, ...options });
  return { pool, words };
}

/** Runs `body` with a pool, and closes it. */
export async function withPool(
  options: Some & { orders?: Orders },
  body: (pool: Pool<typeof tasks>, words: Int32Array) => Promise<unknown>,
) {
  const { pool, words } = poolOf(options);
  try {
    await body(pool, words);
  } finally {
    pool.terminate();
  }
}

/** What a promise is rejected with. */
export const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then((value) => {
    throw new Error(`resolved with ${value}`);
  }, (reason) => reason);

export const pause = (ms = 1) =>
  new Promise((resolve) => setTimeout(resolve, ms));
