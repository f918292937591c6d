// One worker owns a file with keys and values. Others call its methods as if
// the object were theirs: one blocks, one awaits.
import { CallRing, connect, serve } from "@weft/sync";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const N = 10;

if (isMainThread) await main();
else if (workerData.file !== undefined) serveFile(workerData);
else fill(workerData);

async function main() {
  const ring = CallRing.create({ slots: 16, request: 256, reply: 256 });
  const file = join(tmpdir(), `weft-store-${crypto.randomUUID()}.json`);
  const start = (more) =>
    new Worker(new URL(import.meta.url), {
      workerData: { ring: ring.handle, ...more },
    }).on("error", fail);
  const server = start({ file });
  const filler = start({});
  await new Promise((ended) => filler.once("exit", ended));

  const store = connect(ring);
  const said = await Promise.all(
    ["0", "1", "2", "none"].map(async (key) =>
      `${key} is ${await store.get(key) ?? "not set"}`
    ),
  );
  await store.flush();
  const { length } = Object.keys(JSON.parse(readFileSync(file)));
  console.log(`${said.join(", ")}; the file has ${length} keys`);
  ring.close();
  await server.terminate();
  rmSync(file);
}

/** Ends the program if a worker fails: Deno does so only for a listener. */
function fail(error) {
  throw error;
}

/** The server: the only agent that touches the file. */
function serveFile({ ring, file }) {
  const values = new Map(
    existsSync(file) ? Object.entries(JSON.parse(readFileSync(file))) : [],
  );
  serve(CallRing.from(ring), {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => void values.set(key, value),
    flush: () =>
      writeFileSync(file, JSON.stringify(Object.fromEntries(values))),
  });
}

/** A worker whose code cannot be async: each call blocks. */
function fill({ ring }) {
  const store = connect.blocking(CallRing.from(ring));
  for (let i = 0; i < N; i++) store.set(`${i}`, i * i);
}
