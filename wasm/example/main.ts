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

const memory: WebAssembly.Memory = module.wasmMemory;
const numbers = new MpmcQueue(memory, module._get_numbers() >>> 0);
const squares = new MpmcQueue(memory, module._get_squares() >>> 0);
worker.postMessage(numbers.handle);
for await (const square of squares) console.log(square);
process.exit(0);
