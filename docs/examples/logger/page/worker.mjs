// Logs lines, or writes the lines of all workers into a file of the page.
import { ClosedError, Latch, RecordRing } from "@weft/sync";

const N = 1000; // lines of each worker

globalThis.onmessage = async ({ data }) => {
  const lines = RecordRing.from(data.lines);
  if (data.name === "writer") {
    await write(lines);
    Latch.from(data.written).countDown();
  } else {
    log(lines, data.name);
    Latch.from(data.working).countDown();
  }
};

function log(lines, name) {
  const encoder = new TextEncoder();
  for (let i = 0; i < N; i++) {
    lines.push(encoder.encode(`${name} worker: line ${i}\n`));
  }
}

/** Writes what is there at once, and sleeps when there is nothing. */
async function write(lines) {
  const folder = await navigator.storage.getDirectory();
  const entry = await folder.getFileHandle("log.txt", { create: true });
  const file = await entry.createSyncAccessHandle(); // in workers only
  file.truncate(0);
  const block = new Uint8Array(1 << 16);
  let used = 0;
  const flush = () => {
    file.write(block.subarray(0, used));
    used = 0;
  };
  try {
    for (;;) {
      let line = lines.tryPop();
      if (line === undefined) {
        flush();
        line = lines.pop();
      }
      if (used + line.length > block.length) flush();
      block.set(line, used);
      used += line.length;
    }
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
  flush();
  file.close();
}
