// Compresses a file by threads of C in WebAssembly:
// node main.mjs FILE FILE.lz4
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { compress } from "./compress.mjs";

const [from, to] = process.argv.slice(2);
const { said, compressed } = await compress(readFileSync(from));
writeFileSync(to, compressed);
console.log(said);
process.exit(); // the threads wait for more
