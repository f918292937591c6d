// A worker of our pool.
import { workerData } from "node:worker_threads";
import { servePool } from "../../primitives/pool.ts";
import { functions, tasks } from "./tasks.ts";

servePool(tasks, functions, workerData);
