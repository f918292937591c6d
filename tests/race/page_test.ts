// A failure's page in a real Chromium, stepped through by keys.
import * as fs from "node:fs";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import type { Result } from "../../race/mod.ts";
import type { Driven } from "../_run/browser/driver.ts";
import { visit } from "../_run/browser/visit.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race page in Chromium");

/** Agent 0 awaits a change of `flag`; agent 1 changes it and wakes nobody. */
async function failing(): Promise<string> {
  const mailbox = race.spec({
    async: true,
    memory: () => new SharedArrayBuffer(8),
    agent: (memory) => new Int32Array(memory),
    words: { flag: 0, letter: 4 },
    ops: {
      receive: {
        run: async (words) => {
          const { async, value } = Atomics.waitAsync(words, 0, 0);
          if (async) await value;
          return Atomics.load(words, 1);
        },
      },
      send: {
        run: (words) => {
          Atomics.store(words, 1, 7);
          Atomics.store(words, 0, 1);
        },
      },
    },
  });
  const calls = [[["receive"]], [["send"]]] as const;
  const { failure } = await race.check(mailbox, ...calls) as Result;
  assert.is(failure?.kind, "deadlock");
  return failure!.page();
}

const visitFailing = (look: (page: Driven) => Promise<void>) =>
  visit({
    write: async (folder) =>
      fs.writeFileSync(path.join(folder, "index.html"), await failing()),
    ready: "document.readyState === 'complete'",
  }, look);

test("keys step through a failure, with memory and who waits", async () => {
  await visitFailing(async (page) => {
    const text = (id: string) =>
      page.value(`document.getElementById("${id}").innerText`);
    const chosen = async () =>
      await page.value(
        `document.querySelector("#steps tr[aria-selected=true]").innerText`,
      ) as string;
    const waits = async () => await text("waits") as string;

    // It opens at the end: agent 0 awaits for ever, flag and letter are set.
    assert.match(await text("memory") as string, /flag\s+1\s+letter\s+7/);
    assert.match(await waits(), /agent 0 awaits promise 0 on flag/);

    await page.press("Home");
    assert.match(await text("where") as string, /^after step 1 of \d+/);
    assert.is(await waits(), "nobody");

    const seen: string[] = [];
    for (let i = 0; i < 12; i++) {
      seen.push((await chosen()).trim());
      await page.press("ArrowDown");
    }
    const at = (part: RegExp) => seen.findIndex((row) => part.test(row));
    assert.ok(at(/waitAsync flag == 0/) >= 0, seen.join("\n"));
    assert.ok(at(/store letter = 7/) >= 0, seen.join("\n"));

    await page.press("Home");
    for (let i = 0; i < at(/store letter = 7/); i++) {
      await page.press("ArrowDown");
    }
    assert.match(await text("memory") as string, /flag\s+0\s+letter\s+7/);
    await page.press("ArrowUp");
    assert.match(await text("memory") as string, /letter\s+0/);
    await page.click("#steps tbody tr:last-child");
    assert.match(await text("memory") as string, /flag\s+1/);
    // The same by buttons, for those who have no keys.
    await page.click("button[value=Home]");
    assert.match(await text("where") as string, /^after step 1 of \d+/);
    await page.click("button[value=ArrowDown]");
    await page.press(" "); // presses the button that has the focus, only
    assert.match(await text("where") as string, /^after step 3 of \d+/);
    await page.click("button[value=ArrowUp]");
    assert.match(await text("where") as string, /^after step 2 of \d+/);
    await page.click("button[value=End]");
    assert.match(await text("memory") as string, /flag\s+1/);
  });
});
