/**
 * `piscina`: a worker that sleeps until the main thread posts a task.
 *
 * @module
 */
import { pool } from "./_pool.ts";
import type { Published } from "./_kit.ts";

export const published: Published = {
  name: "piscina",
  version: "5.3.2",
  note: "The worker is the package's; the main thread does the same steps.",
  checks: [
    {
      title: "the worker's loop, two tasks",
      verdict: "complete",
      program: "agent 0 posts a task, adds 1 to the counter of requests and " +
        "notifies, twice; agent 1 runs the worker's loop",
      explore: (open) =>
        pool(open, "dist/worker.js", {
          atomics: "sync",
          filename: null,
          niceIncrement: 0,
        }),
    },
  ],
};
