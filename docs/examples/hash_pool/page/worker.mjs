// A worker of the pool.
import { servePool } from "@weft/sync/pool";
import { tasks } from "./tasks.mjs";

servePool(tasks, {
  hash: async (bytes) =>
    new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)),
});
