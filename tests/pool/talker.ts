// A program whose worker writes to the console: `talker.ts HOW BLOCKING`. If
// the function of a task never ends, it says with which code the worker ended.
import process from "node:process";
import type { Worker as NodeWorker } from "node:worker_threads";
import { Pool } from "../../primitives/pool.ts";
import { start } from "../_run/workers.ts";
import { talk } from "./talk.ts";

const WORKER = new URL("./talker_worker.ts", import.meta.url);

const [, , how, blocking] = process.argv;
const options = { blocking: blocking === "true", limit: 2 };
let code: Promise<number> | undefined;
const make = () => {
  const worker = start(WORKER, options);
  if (how === "give up") {
    code = new Promise((resolve) => {
      (worker as unknown as NodeWorker).on("exit", resolve);
    });
  }
  return worker;
};
const pool = new Pool({ tasks: { talk }, workers: 1, make });
for (let i = 0; i < 5; i++) await pool.run("talk", `line ${i}`);
if (how === "give up") {
  const control = new AbortController();
  const onReport = () => control.abort();
  const { signal } = control;
  await pool.run("talk", "never", { onReport, signal }).catch(() => {});
}
if (how !== "close") await pool.resize(0);
else await pool.close();
if (code !== undefined) console.log(`code ${await code}`);
