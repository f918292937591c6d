// it waits
// A program that starts a sync worker by its URL: the output of the worker
// comes in order, and the program ends though the worker does not.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as assert from "uvu/assert";
import { bun } from "../_run/bun.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { need, run } from "../_run/native.ts";
import { homeIn, writePackage } from "../_run/package.ts";

const MODULE = fileURLToPath(
  new URL("../../primitives/sync_worker.ts", import.meta.url),
);

const WORKER = `
let timers = 0;
setInterval(() => timers++, 1000);
const say = async (text) => {
  console.log(text);
  await undefined;
  console.log(text + " again");
};
export { say };
`;
const main = (entry: string) => `
import { syncWorker } from ${JSON.stringify(entry)};
const worker = syncWorker(new URL("./worker.mjs", import.meta.url));
for (let i = 0; i < 3; i++) {
  console.log("before " + i);
  worker.say("line " + i);
  console.log("after " + i);
}
`;
const LINES = [0, 1, 2].map((i) =>
  `before ${i}\nline ${i}\nline ${i} again\nafter ${i}\n`
).join("");

/** Of these, Node finds no names but `default`, or another `default`. */
const COMMON = `
module.exports = { twice: (text) => text + text, async wait() { return 1; } };
`;
const COMPILED = `
Object.defineProperty(exports, "__esModule", { value: true });
exports.default = (text) => text + "!";
exports.twice = (text) => text + text;
`;
const commonMain = (entry: string) => `
import { syncWorker } from ${JSON.stringify(entry)};
const worker = (name) => syncWorker(new URL(name, import.meta.url));
const common = worker("./common.cjs");
const compiled = worker("./compiled.cjs");
console.log(common.twice("a"), common.default.twice("b"), common.wait());
console.log(compiled.twice("a"), compiled.default("b"));
`;

/** The program's worker, and one with options of its own, load these first. */
const PRELOADED = "globalThis.loaded = [...globalThis.loaded ?? [], 1];";
const LOADED = "export const loaded = () => globalThis.loaded.length;";
const preloadedMain = (entry: string) => `
import { syncWorker } from ${JSON.stringify(entry)};
const url = new URL("./loaded.mjs", import.meta.url);
const preload = new URL("./preloaded.mjs", import.meta.url).href;
const more = new URL("./preloaded.mjs?more", import.meta.url).href;
const execArgv = ["--import", preload, "--import", more];
console.log(syncWorker(url).loaded());
console.log(syncWorker(url, { worker: { execArgv } }).loaded());
`;

/** For `import` and `await`, what has a function `then` is a promise. */
const THENABLES = {
  "never.mjs": "export function then() {}",
  "other.mjs": "export const then = (resolve) => resolve(5);",
  "value.mjs": "export const then = 5;",
};
const thenableMain = (entry: string) => `
import { syncWorker } from ${JSON.stringify(entry)};
import { Worker } from "node:worker_threads";
const twice = (worker) => {
  try {
    console.log(syncWorker(worker).twice("a"));
  } catch (error) {
    console.log(error.message);
  }
};
for (const name of ${JSON.stringify(Object.keys(THENABLES))}) {
  twice(new URL(name, import.meta.url));
}
twice(() => new Worker(new URL("./serving.mjs", import.meta.url)));
process.exit();
`;
const TWICE = "export const twice = (text) => text + text;";
const THENABLE_SERVING = (entry: string) => `
import { serveSync } from ${JSON.stringify(entry)};
await serveSync({ then() {}, twice: (text) => text + text });
`;
const REFUSED = 'The worker has ended: A method cannot be named "then": ' +
  "await would call it\n";

/** A bundle that has the name of the module which starts workers. */
const BUNDLE = `
import { syncWorker } from ${JSON.stringify(MODULE)};
try {
  syncWorker(new URL("./worker.mjs", import.meta.url)).say("a");
} catch (error) {
  console.log(error.message);
}
`;

/** The worker ends between two calls, in ways that it cannot tell. */
const DYING = `
const add = (a, b) => a + b;
function reject() {
  Promise.reject(new Error("oops"));
  return "rejects";
}
function fill() {
  const all = [];
  setTimeout(() => {
    for (;;) all.push(new Array(1e5).fill(1.5));
  });
  return "fills";
}
export { add, fill, reject };
`;
const dyingMain = (entry: string) => `
import { syncWorker } from ${JSON.stringify(entry)};
import { Worker } from "node:worker_threads";
const url = new URL("./dying.mjs", import.meta.url);
const thrown = (run) => {
  try {
    return String(run());
  } catch ({ name, message }) {
    return name + ": " + message;
  }
};
/** Until the event of the worker's end has come. */
async function end(worker) {
  for (;;) {
    const text = thrown(() => worker.add(1, 2));
    if (text !== "3" && !text.startsWith("Timeout")) return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const rejecting = syncWorker(url);
console.log(rejecting.reject());
console.log(await end(rejecting));
if ("Deno" in globalThis) process.exit(); // it ends no thread at once
const make = () =>
  thread = new Worker(new URL("./serving.mjs", import.meta.url));
let thread;
const made = syncWorker(make, { timeout: 10_000 });
console.log(made.add(1, 2));
await thread.terminate();
console.log(await end(made));
if ("Bun" in globalThis) process.exit(); // it has no limits
const limits = { maxOldGenerationSizeMb: 30 };
const filling = syncWorker(url, {
  timeout: 500,
  worker: { resourceLimits: limits },
});
console.log(thrown(() => filling.fill()));
console.log((await end(filling)).replace(/limit.*/, "limit"));
`;
const SERVING = (entry: string) => `
import { serveSync } from ${JSON.stringify(entry)};
await serveSync({ add: (a, b) => a + b });
`;
const DEATHS = [
  "rejects",
  "CallError: The worker has ended: oops",
  "3",
  "CallError: The worker has ended: it exited with code 1",
  "fills",
  "CallError: The worker has ended: Worker terminated due to reaching memory " +
  "limit",
];

const test = suite("the end of a sync worker");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-sync-worker-"));
  fs.writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  await writePackage(homeIn(folder));
  await esbuild.stop();
  fs.writeFileSync(path.join(folder, "worker.mjs"), WORKER);
  fs.writeFileSync(path.join(folder, "common.cjs"), COMMON);
  fs.writeFileSync(path.join(folder, "compiled.cjs"), COMPILED);
  fs.writeFileSync(path.join(folder, "dying.mjs"), DYING);
  fs.writeFileSync(path.join(folder, "preloaded.mjs"), PRELOADED);
  fs.writeFileSync(path.join(folder, "loaded.mjs"), LOADED);
  for (const [name, text] of Object.entries(THENABLES)) {
    fs.writeFileSync(path.join(folder, name), `${text}\n${TWICE}\n`);
  }
});
test.after(() => fs.rmSync(folder, { recursive: true }));

/** Runs a program, and compares its lines. */
async function prints(
  command: readonly string[],
  text: string,
  output: string,
) {
  const file = path.join(folder, "main.mjs");
  fs.writeFileSync(file, text);
  const [program, ...words] = command as [string, ...string[]];
  const ended = await run(program, [...words, file], 60);
  assert.equal(ended, { code: 0, output });
}

/** How each runtime starts a program, and where that finds the library. */
const WAYS: [name: string, () => Promise<[string[], string]>][] = [
  ["Node", async () => {
    await need("node");
    return [["node"], "@weft/sync/sync_worker"];
  }],
  ["Deno", () => Promise.resolve([[process.execPath, "run", "-A"], MODULE])],
  ["Bun", () => {
    const command = bun({ fetches: false });
    if (command === undefined) throw new Missing("Bun");
    return Promise.resolve([[...command], "@weft/sync/sync_worker"]);
  }],
];

for (const [name, way] of WAYS) {
  test(`in ${name}`, async () => {
    const [command, entry] = await way();
    await prints(command, main(entry), LINES);
  }, 90_000);

  test(`in ${name}, a CommonJS module serves all that it exports`, async () => {
    const [command, entry] = await way();
    await prints(command, commonMain(entry), "aa bb 1\naa b!\n");
  }, 90_000);

  test(`in ${name}, a module may not export a function then`, async () => {
    const [command, entry] = await way();
    fs.writeFileSync(path.join(folder, "serving.mjs"), THENABLE_SERVING(entry));
    const output = `${REFUSED}${REFUSED}aa\n${REFUSED}`;
    await prints(command, thenableMain(entry), output);
  }, 90_000);

  test(`in ${name}, a bundle does not start itself`, async () => {
    const [command] = await way();
    const file = path.join(folder, "sync_worker.js");
    await esbuild.build({
      stdin: { contents: BUNDLE, resolveDir: folder },
      bundle: true,
      format: "esm",
      outfile: file,
    });
    await esbuild.stop();
    const [program, ...words] = command as [string, ...string[]];
    const { output } = await run(program, [...words, file], 20);
    assert.match(output, /^syncWorker cannot start file:.* from a bundle, or/);
  }, 90_000);

  test(`in ${name}, a call tells of a worker that died before`, async () => {
    const [command, entry] = await way();
    fs.writeFileSync(path.join(folder, "serving.mjs"), SERVING(entry));
    const lines = name === "Deno" ? 2 : name === "Bun" ? 4 : 6;
    const output = DEATHS.slice(0, lines).map((line) => `${line}\n`).join("");
    await prints(command, dyingMain(entry), output);
  }, 90_000);
}

test("in Node, a worker loads the modules of --import", async () => {
  const [[program], entry] = await WAYS[0]![1]();
  const preload = path.join(folder, "preloaded.mjs");
  const command = [program!, "--import", pathToFileURL(preload).href];
  await prints(command, preloadedMain(entry), "1\n2\n");
}, 90_000);
