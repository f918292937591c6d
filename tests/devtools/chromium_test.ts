// What DevTools of a real Chromium show of primitives, by its own protocol.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { ISOLATED } from "../../docs/page/serve.ts";
import type { Driven } from "../_run/browser/driver.ts";
import { visit } from "../_run/browser/visit.ts";
import { suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

const test = suite("devtools in Chromium");

const MODULE = `import "./primitives/tools/devtools.ts";
import * as weft from "./mod.ts";
globalThis.weft = weft;
`;

async function write(folder: string): Promise<void> {
  await esbuild.build({
    stdin: { contents: MODULE, resolveDir: PROJECT },
    outfile: path.join(folder, "main.js"),
    bundle: true,
    format: "esm",
    target: "es2022",
    external: ["node:*"],
    logLevel: "error",
  });
  await esbuild.stop();
  const page = '<!doctype html><script type="module" src="main.js"></script>';
  fs.writeFileSync(path.join(folder, "index.html"), page);
}

/** Looks at a page that has imported the module. */
const visitWeft = (look: (page: Driven) => Promise<void>) =>
  visit(
    { write, headers: ISOLATED, ready: "globalThis.weft !== undefined" },
    look,
  );

/** All text of an element, without its tags and attributes. */
const textOf = (element: unknown): string =>
  typeof element === "string"
    ? element
    : Array.isArray(element)
    ? element.slice(2).map(textOf).join(element[0] === "tr" ? " " : "")
    : "";

test("a primitive is a line that opens, and other values stay", async () => {
  await visitWeft(async (page) => {
    const mutex = await page.shown("weft.Mutex.create()");
    assert.is(textOf(mutex.header), "Mutex { owner 0, waiters 0 }");
    assert.match(textOf(mutex.body), "Mutex at byte 0");
    assert.match(textOf(mutex.body), "state 0");

    await page.value("void (globalThis.lock = weft.Mutex.create())");
    await page.value("lock.lockAsync().then(() => weft.agentId())");
    const id = await page.value("weft.agentId()");
    const held = await page.shown("lock");
    assert.is(textOf(held.header), `Mutex { owner ${id}, waiters 0 }`);

    const queue = await page.shown(
      "weft.MpmcQueue.create({ capacity: 8, elementSize: 12 })",
    );
    assert.match(textOf(queue.header), /^MpmcQueue \{ size 0, capacity 8/);
    for (const other of ["({ a: 1 })", "weft.Mutex", "lock.handle"]) {
      assert.is((await page.shown(other)).header, null);
    }
  });
}, 250_000);
