// JavaScript and a thread of C count words in one map: node both.mjs
import { codec, HashMap, Latch } from "@weft/sync";
import process from "node:process";

const built = new URL("./words.mjs", import.meta.url); // by emcc, from words.c
const { default: load } = await import(built.href);
const module = await load();
if (module._start() !== 0) throw new Error("no thread");

const N = 1000;
const memory = module.wasmMemory;
const codecs = { key: codec.text, value: codec.i32 };
const counts = new HashMap(memory, module._get_counts() >>> 0, codecs);
for (let i = 0; i < N; i++) {
  for (const word of "the page and the worker".split(" ")) {
    const before = counts.add(word, 1);
    if (before === undefined) throw new Error("the map is full");
  }
}
await new Latch(memory, module._get_counted() >>> 0).waitAsync();
console.log([...counts].map(([word, n]) => `${word}: ${n}`).sort().join(", "));
process.exit(0);
