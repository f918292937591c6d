import * as fs from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { suite } from "./harness.ts";
import { inParallel } from "./report.ts";
import { Times } from "./times.ts";

const test = suite("times.ts");

test("how long a file took is known in the next run", () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-times-"));
  const file = path.join(folder, "kept", "times.json");
  try {
    const first = new Times(file);
    assert.is(first.of("mutex/unit"), undefined);
    first.note("mutex/unit", 1.234);
    first.keep();
    const second = new Times(file);
    assert.is(second.of("mutex/unit"), 1.2);
    second.note("latch/unit", 7);
    second.keep();
    first.keep(); // it knows nothing of the latch, and keeps it
    assert.is(new Times(file).of("latch/unit"), 7);
    fs.writeFileSync(file, '{ "mutex/unit": 1');
    assert.is(new Times(file).of("mutex/unit"), undefined);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test("a job that is not ready waits for the others; each runs once", async () => {
  const begun: string[] = [];
  let isReady = false;
  const job = (name: string, needs: boolean) => ({
    isReady: () => isReady || !needs,
    run: () => {
      begun.push(name);
      if (name === "b") isReady = true;
      return Promise.resolve();
    },
  });
  const jobs = [job("c", true), job("a", false), job("b", false)];
  await inParallel([...jobs, job("d", false)], [job("idle", false)]);
  assert.equal([...begun].sort(), ["a", "b", "c", "d", "idle"]);
  assert.ok(begun.indexOf("a") < begun.indexOf("c"), `${begun}`);
});

test("jobs that leave the cores to others run side by side", async () => {
  const cores = availableParallelism();
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const job = {
    run() {
      if (++begun === cores + 2) resolve();
      return all;
    },
  };
  await inParallel(Array.from({ length: cores }, () => job), [job, job]);
}, 10_000);
