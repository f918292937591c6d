// A program whose worker writes to the console: `talker.ts HOW BLOCKING`.
import process from "node:process";
import { Pool } from "../../primitives/pool.ts";
import { start } from "../_run/workers.ts";
import { talk } from "./talk.ts";

const WORKER = new URL("./talker_worker.ts", import.meta.url);

const [, , how, blocking] = process.argv;
const make = () => start(WORKER, { blocking: blocking === "true" });
const pool = new Pool({ tasks: { talk }, workers: 1, make });
for (let i = 0; i < 5; i++) await pool.run("talk", `line ${i}`);
if (how === "resize") await pool.resize(0);
else await pool.close();
