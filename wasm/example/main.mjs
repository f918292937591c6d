// A worker of JavaScript sends numbers, a thread of C squares them, and this
// agent prints the squares: `node main.mjs`, or `deno run -A main.mjs`.
import { MpmcQueue } from "@weft/sync";
import process from "node:process";
import { Worker } from "node:worker_threads";

const built = new URL("./example.mjs", import.meta.url); // by emcc
const { default: createModule } = await import(built.href);
const module = await createModule();
if (module._start() !== 0) throw new Error("no thread");

// An address is a signed number, or with -sMEMORY64 a bigint.
const place = (at) => typeof at === "bigint" ? at : at >>> 0;
const numbers = new MpmcQueue(module.wasmMemory, place(module._get_numbers()));
const squares = new MpmcQueue(module.wasmMemory, place(module._get_squares()));
new Worker(new URL("./worker.mjs", import.meta.url), {
  workerData: numbers.handle,
});
for await (const square of squares) console.log(square);
process.exit(0);
