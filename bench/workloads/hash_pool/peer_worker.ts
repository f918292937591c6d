/**
 * The module that a worker of each pool in `peers.ts` loads.
 *
 * @module
 */

import { getEnvironmentData } from "node:worker_threads";
import { Meter } from "../meter.ts";
import type { Environment } from "./peers.ts";
import { solve } from "./tasks.ts";

const { name, url, kind, meters } = getEnvironmentData(
  "weft",
) as unknown as Environment;
const meter = new Meter(meters);

function work(message: Uint8Array): Uint8Array {
  return meter.measure(() => solve(kind, message));
}

if (name === "workerpool") {
  (await import(url)).default.worker({ work });
} else if (name === "poolifier") {
  new (await import(url)).ThreadWorker(work);
}

export default work;
