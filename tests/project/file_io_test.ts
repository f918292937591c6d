// also: node
// The worker that writes lines to a file: what a flush promises.
import * as fs from "node:fs";
import { constants, tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import type { Role } from "../../bench/workloads/file_io/clerk.ts";
import { hire } from "../../bench/workloads/crew.ts";
import { Event, RecordRing } from "../../mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("files from threads");

const CLERK = new URL(
  "../../bench/workloads/file_io/clerk.ts",
  import.meta.url,
);

const { EISDIR, ENOENT, ENOSPC } = constants.errno;

const HEAD = 8, CAPACITY = 2 ** 16, PAGE = 2 ** 16;

/** A writer of `folder`/log.txt, and one who pushes lines to it. */
async function open(folder: string) {
  const memory = new WebAssembly.Memory({
    initial: 4,
    maximum: 4,
    shared: true,
  });
  const ring = RecordRing.init(memory, PAGE, { capacity: CAPACITY });
  let answers = 8;
  let end = () => {};
  const over = new Promise<void>((resolve) => end = resolve);
  const role: Role = { memory, ring: PAGE, calls: 0, folder, what: "ring" };
  const hand = await new Promise<ReturnType<typeof hire>>((ready) => {
    const hand = hire(CLERK, (message: "ready" | "over") => {
      if (message === "ready") ready(hand);
      else end();
    });
    hand.post(role);
  });
  const push = async (text: string) => {
    const record = new Uint8Array(HEAD + text.length);
    record.set(new TextEncoder().encode(text), HEAD);
    assert.ok(await ring.tryPushAsync(record, { timeout: 10_000 }));
  };
  /** What a flush answers: 0, or the host's number of an error. */
  const flush = async () => {
    const at = answers;
    answers += 16;
    const event = Event.init(memory, at + 4);
    const request = Int32Array.of(at, 0);
    assert.ok(await ring.tryPushAsync(request, { timeout: 10_000 }));
    assert.ok(await event.tryWaitAsync({ timeout: 10_000 }));
    return new Int32Array(memory.buffer, at, 1)[0];
  };
  const close = async () => {
    ring.close();
    await over;
    hand.stop();
  };
  return { push, flush, close };
}

/** Runs `body` with a folder of its own, and what it holds as log.txt. */
async function within(
  body: (folder: string, log: string) => Promise<void>,
): Promise<void> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-flush-"));
  try {
    await body(folder, path.join(folder, "log.txt"));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

test("a flush answers when all lines before it are in the file, in order", () =>
  within(async (folder, log) => {
    const { push, flush, close } = await open(folder);
    let text = "";
    for (let i = 0; i < 40; i++) {
      for (let k = 0; k < 50; k++) {
        const line = `${i} ${k} ${"x".repeat(k * i % 700)}\n`;
        text += line;
        await push(line);
      }
      assert.is(await flush(), 0);
      assert.is(fs.readFileSync(log, "utf8"), text);
    }
    await push("the last");
    await close();
    assert.is(fs.readFileSync(log, "utf8"), `${text}the last`);
  }));

test("a file that cannot be opened is an error of the flush behind", () =>
  within(async (folder, log) => {
    fs.mkdirSync(log);
    const { push, flush, close } = await open(folder);
    assert.is(await flush(), 0); // nothing is lost so far
    await push("a line\n");
    assert.is(await flush(), EISDIR);
    await close();
  }));

test("a lost line stays one, though later ones are written", () =>
  within(async (folder) => {
    const missing = path.join(folder, "missing");
    const { push, flush, close } = await open(missing);
    await push("lost\n");
    assert.is(await flush(), ENOENT);
    fs.mkdirSync(missing);
    await push("kept\n");
    assert.is(await flush(), ENOENT);
    await close();
    const log = path.join(missing, "log.txt");
    assert.is(fs.readFileSync(log, "utf8"), "kept\n");
  }));

// Linux has a device for it.
if (fs.existsSync("/dev/full")) {
  test("a write that fails is an error of every flush behind", () =>
    within(async (folder, log) => {
      fs.symlinkSync("/dev/full", log);
      const { push, flush, close } = await open(folder);
      const first = flush();
      for (let i = 0; i < 100; i++) await push(`line ${i}\n`);
      const flushes = [flush(), flush()];
      assert.is(await first, 0);
      assert.equal(await Promise.all(flushes), [ENOSPC, ENOSPC]);
      await close();
    }));
}
