// The page of docs/page, built into plain files, does what it says when a
// visitor clicks: agents of both languages work, the owner of the lock dies and
// is recovered, a queue says that it is stuck, a tone plays, and the race tester
// finds a lost increment.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { buildPage } from "../../docs/page/build.ts";
import { ISOLATED, serve } from "../../docs/page/serve.ts";
import { drive, type Driven } from "../_run/browser/driver.ts";
import { programOf } from "../_run/browser/server.ts";
import { skip, suite } from "../_run/harness.ts";

const test = suite("the page");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-page-"));
  await buildPage(folder);
});
test.after(() => fs.rmSync(folder, { recursive: true }));

/** Opens the page in a browser, from a host that sends `headers`. */
async function visit(
  name: string,
  headers: Readonly<Record<string, string>>,
  look: (page: Driven) => Promise<void>,
) {
  try {
    programOf(name);
  } catch {
    skip(`no ${name} here`);
  }
  const { server, url } = await serve(folder, headers);
  let page: Driven | undefined;
  try {
    // A browser that does not begin says nothing about the page.
    for (let turn = 0; turn < 3 && page === undefined; turn++) {
      page = await drive(name, url).catch(() => undefined);
    }
    if (page === undefined) skip(`${name} does not run here`);
    await look(page);
  } finally {
    page?.close();
    server.close();
    server.closeAllConnections();
  }
}

const text = (id: string) => `document.getElementById("${id}").innerText`;
const number = (id: string) => `Number(${text(id)}.replaceAll(",", ""))`;

/** Kills the owner of the lock. Browsers take up to two seconds for that. */
async function killOwner(page: Driven) {
  await page.until(`${number("rate")} > 0`);
  await page.click("#kill");
}

/** Looks at the dead owner, and recovers what it held. */
async function recoverOwner(page: Driven) {
  await page.until(`${text("kill")} === "Recover"`);
  await page.until(`${number("rate")} === 0`);
  const dead = 'document.querySelectorAll("#agents .dead").length';
  assert.is(await page.value(dead), 1, "one card is red");
  assert.match(await page.value(text("owner")) as string, /^(JS|C) \d$/);
  await page.click("#kill");
  await page.until(`${number("rate")} > 0`);
  await page.until(`${text("crowd-log")}.includes("repaired the counts")`);
  await page.until(`/JS \\d/.test(${text("agents")})`);
  await page.until(`/C \\d/.test(${text("agents")})`);
  await page.until(`${number("total")} > 0`);
  await page.until(`${text("total")} === ${text("counts")}`);
}

/** The race tester finds the lost increment, and none with the fix. */
async function exploreLines(page: Driven) {
  await page.click("#run");
  const where = 'document.getElementById("steps").contentDocument?.' +
    'getElementById("where")?.innerText';
  await page.until(`${where}?.startsWith("after step 8 of 8")`);
  assert.match(
    await page.value(text("verdict")) as string,
    "words[0] is 1, and should be 2",
  );
  await page.press("Home");
  await page.press("ArrowDown");
  await page.until(`${where}.startsWith("after step 2 of 8")`);
  await page.click("#fix");
  await page.click("#run");
  await page.until(`${text("verdict")}.startsWith("Right in every")`);
}

async function lookAtAll(page: Driven) {
  await page.until(`crossOriginIsolated && ${number("rate")} > 0`);
  await killOwner(page);
  await page.click("#stuck-start");
  const popped = (rig: string) =>
    `Number(document.querySelector("#rig-${rig} .value").innerText) > 0`;
  await page.until(`${popped("mpmc")} && ${popped("free")}`);
  await page.click("#stuck-kill");

  await page.click("#tone-play");
  await page.until(`${number("played")} > 20`);
  const before = Number(await page.value(number("underruns")));
  await page.click("#tone-stall");
  await page.until(`${number("underruns")} > ${before}`);

  await exploreLines(page);

  await page.until(`${text("rig-mpmc")}.includes("queue blocked")`);
  await page.until(`${text("rig-free")}.includes("nothing to do")`);
  await page.until(`${text("rig-mpmc")}.includes("DamagedError")`);
  await page.until(popped("free"));
  await recoverOwner(page);
  assert.is(await page.value(text("unsupported")), "");
}

/** All but the tone: headless Firefox plays only where there is a device. */
async function lookAtSome(page: Driven) {
  await killOwner(page);
  await exploreLines(page);
  await recoverOwner(page);
  assert.is(await page.value(text("unsupported")), "");
}

test("works in Chromium, from a host that sends no headers", async () => {
  await visit("chromium", {}, lookAtAll);
}, 250_000);

test("works in Firefox", async () => {
  await visit("firefox", ISOLATED, lookAtSome);
}, 250_000);
