// A thread of C that does the tasks of a pool.
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<
  {
    module: WebAssembly.Module;
    memory: WebAssembly.Memory;
    at: number;
    id: number;
  }
>();
const { module, memory, at, id } = data;
const now = () => performance.now();
const env = { memory, weft_now: now, weft_random: () => 7 };
const { exports } = await WebAssembly.instantiate(module, { env });
post("ready");
post((exports.serve as (at: number, id: number) => number)(at, id));
