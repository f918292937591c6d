/**
 * `tinypool`: a worker that sleeps until the main thread posts a task.
 *
 * @module
 */
import { pool } from "./_pool.ts";
import type { Published } from "./_kit.ts";

export const published: Published = {
  name: "tinypool",
  version: "2.2.0",
  note: "The worker is the package's; the main thread does the same steps.",
  checks: [
    {
      title: "the worker's loop, two tasks",
      verdict: "complete",
      program: "agent 0 posts a task, adds 1 to the counter of requests and " +
        "notifies, twice; agent 1 runs the worker's loop",
      explore: (open) =>
        pool(open, "dist/entry/worker.js", {
          useAtomics: true,
          filename: null,
        }),
    },
  ],
};
