// A thread of a program of WASI.
import { hello } from "../_run/workers.ts";
import { instance, type Program } from "./_wasi.ts";

const { data, post } = await hello<Program & { start: number }>();
const exports = instance(data, () => -1);
(exports.wasi_thread_start as (id: number, start: number) => void)(
  1,
  data.start,
);
post("over");
