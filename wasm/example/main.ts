// A worker of JavaScript sends numbers, a thread of C squares them, and this
// agent prints them as they come: `deno run -A main.ts`.
import process from "node:process";
import { MpmcQueue } from "@weft/sync";

// Before the module loads: Emscripten replaces the global Worker.
const worker = new Worker(new URL("./worker.ts", import.meta.url), {
  type: "module",
});
const url = new URL("./example.mjs", import.meta.url);
const { default: createModule } = await import(url.href);
const module = await createModule();
if (module._start() !== 0) throw new Error("no thread");

// An address is a signed number, or with -sMEMORY64 a bigint.
const place = (at: number | bigint) => typeof at === "bigint" ? at : at >>> 0;
const memory: WebAssembly.Memory = module.wasmMemory;
const numbers = new MpmcQueue(memory, place(module._get_numbers()));
const squares = new MpmcQueue(memory, place(module._get_squares()));
worker.postMessage(numbers.handle);
for await (const square of squares) console.log(square);
process.exit(0);
