// Gives bytes to a pool, and shows the hashes in order.
import { Pool } from "@weft/sync/pool";
import { tasks } from "./tasks.mjs";

const CHUNK = 1 << 16; // of a file; each has a hash of its own
const at = (id) => document.getElementById(id);
const pool = new Pool({
  tasks,
  workers: 2,
  bytes: CHUNK,
  make: () =>
    new Worker(new URL("./worker.js", import.meta.url), { type: "module" }),
});

async function hashAll(parts) {
  const began = performance.now();
  let count = 0;
  for await (const digest of pool.map("hash", parts)) {
    const hex = Array.from(
      digest,
      (byte) => byte.toString(16).padStart(2, "0"),
    );
    if (count++ < 5) at("hashes").append(`${hex.join("")}\n`);
  }
  const took = Math.round(performance.now() - began);
  at("said").textContent = `${count} hashes, ${took} ms`;
}

at("texts").onclick = () => {
  at("hashes").replaceChildren();
  const encoder = new TextEncoder();
  hashAll(Array.from({ length: 500 }, (_, i) => encoder.encode(`${i}`)));
};

at("files").onchange = () => {
  at("hashes").replaceChildren();
  hashAll(chunksOf(at("files").files));
};

/** The bytes of files, piece by piece: the pool asks when it has room. */
async function* chunksOf(files) {
  for (const file of files) {
    for (let from = 0; from < file.size; from += CHUNK) {
      const part = await file.slice(from, from + CHUNK).arrayBuffer();
      yield new Uint8Array(part);
    }
  }
}
