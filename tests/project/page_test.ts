// it is long
// The page of docs/page, built into plain files, does what it says when a
// visitor clicks: agents of both languages work, the owner of the lock dies and
// is recovered, a queue says that it is stuck, a tone plays, and the race
// tester finds a lost increment.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { buildPage } from "../../docs/page/build.ts";
import { buildPrograms, PROGRAMS } from "../../docs/page/programs.ts";
import { EXAMPLES } from "../../docs/page/tester_examples.ts";
import { ISOLATED, serve } from "../../docs/page/serve.ts";
import { problemsOf } from "../_run/browser/axe.ts";
import { drive, type Driven } from "../_run/browser/driver.ts";
import { suite } from "../_run/harness.ts";

/** What the tester says of its examples. */
const VERDICTS: Readonly<Record<string, string>> = {
  "A lost increment": "words.0. is 1, and should be 2",
  "Compare and exchange": "^Right in every",
  "A flag as a lock": "words.0. is 1, and should be 2",
  "Two polite agents": "^livelock",
  "Peterson's lock": "^Right in every",
  "A lost wake-up": "^deadlock",
};

const test = suite("the page");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-page-"));
  await buildPage(folder);
  await buildPrograms(path.join(folder, "examples"));
});
test.after(() => fs.rmSync(folder, { recursive: true }));

/** Opens the page in a browser, from a host that sends `headers`. */
async function visit(
  name: string,
  headers: Readonly<Record<string, string>>,
  look: (page: Driven) => Promise<void>,
  first = "",
) {
  const { server, url } = await serve(folder, headers);
  let page: Driven | undefined;
  try {
    page = await drive(name, url + first);
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

/** Picks an example of the tester. */
const pick = (page: Driven, name: string) =>
  page.value(`void (() => {
    const select = document.getElementById("example");
    select.value = ${JSON.stringify(name)};
    select.dispatchEvent(new Event("change"));
  })()`);

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
  await page.until('document.activeElement.id === "steps"');
  await page.press("Home");
  await page.press("ArrowDown");
  await page.until(`${where}.startsWith("after step 2 of 8")`);
  await pick(page, "Compare and exchange");
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

/** All agents are there again, also if it was paused while they waited. */
async function pauseWhileDead(page: Driven) {
  await page.until(`crossOriginIsolated && ${number("rate")} > 0`);
  await page.value(`["js", "c"].forEach((id) => {
    const slider = document.getElementById(id);
    slider.value = "5";
    slider.dispatchEvent(new Event("input"));
  })`);
  const living = `document.querySelectorAll("#agents .card:not(.dead)").length`;
  await page.until(`${living} === 10`);
  await killOwner(page);
  await page.until(`${text("kill")} === "Recover"`);
  await page.click("#pause");
  await page.click("#pause");
  await page.click("#kill");
  await page.until(`${living} === 10 && ${number("rate")} > 0`);
  await page.until(`!${text("agents")}.includes("ends")`);
  assert.is(await page.value(living), 10);
}

test("all agents come back if it is paused while one is dead", async () => {
  await visit("chromium", ISOLATED, pauseWhileDead);
}, 250_000);

test("the tester's answer is not what the lines send", async () => {
  await visit("chromium", ISOLATED, async (page) => {
    await page.until('document.getElementById("code")?.value.length > 0');
    const lines = "postMessage(1); Atomics.add(words, 0, 1);";
    await page.value(
      `void (document.getElementById("code").value = "${lines}")`,
    );
    await page.click("#run");
    await page.until(`${text("verdict")}.startsWith("Right in every")`);
  });
}, 250_000);

test(
  "the tester's examples end as they should, and an address holds lines",
  async () => {
    await visit("chromium", ISOLATED, async (page) => {
      const verdict = text("verdict");
      for (const [name, said] of Object.entries(VERDICTS)) {
        await page.until('document.getElementById("example")?.length > 1');
        await pick(page, name);
        await page.click("#run");
        await page.until(`/${said}/.test(${verdict})`);
        await page.until('!document.getElementById("run").disabled');
      }
      assert.equal(Object.keys(VERDICTS), Object.keys(EXAMPLES));
      // Whoever is given the address sees the lines; nothing runs by itself.
      const own = "Atomics.add(words, 0, 1); // ä & 1 %";
      await page.value(`void (() => {
      const code = document.getElementById("code");
      code.value = ${JSON.stringify(own)};
      code.dispatchEvent(new Event("input"));
      globalThis.old = true;
      location.reload();
    })()`);
      const value = 'document.getElementById("code")?.value';
      await page.until(`globalThis.old === undefined &&
      ${value} === ${JSON.stringify(own)}`);
      const picked =
        'document.getElementById("example").selectedOptions[0].text';
      assert.is(await page.value(picked), "your own");
      assert.is(await page.value(verdict), "");
    });
  },
  250_000,
);

test("slots and bits show the memory, also in slow motion", async () => {
  await visit("chromium", ISOLATED, async (page) => {
    await page.until(`crossOriginIsolated && ${number("rate")} > 0`);
    const slide = (id: string, value: number) =>
      page.value(`void (() => {
        const slider = document.getElementById("${id}");
        slider.value = "${value}";
        slider.dispatchEvent(new Event("input"));
      })()`);
    await slide("c", 0); // nobody pops: the queue fills
    await page.until('document.querySelectorAll(".slots .full").length === 64');
    await slide("js", 0);
    await page.until('document.querySelectorAll("#agents .card").length === 0');
    const set = 'document.querySelectorAll(".bits .own, .bits .flag").length';
    await page.until(`${set} === 0`);
    await slide("slow", 200);
    await slide("c", 1);
    await page.until(`${set} > 0`);
    await page.until(`/owner \\d+/.test(${text("word")})`);
    const full = 'document.querySelectorAll(".slots .full").length';
    await page.until(`${full} < 63`);
    assert.ok(Number(await page.value(full)) > 40, "it is slow");
  });
}, 250_000);

test("works in Chromium, from a host that sends no headers", async () => {
  await visit("chromium", {}, lookAtAll);
}, 250_000);

/** Waits until a page says what matches. */
const says = (page: Driven, pattern: RegExp) =>
  page.until(`${pattern}.test(document.querySelector("#said")?.innerText)`);

/** Clicks a button as soon as it can be clicked. */
async function click(page: Driven, button: string) {
  await page.until(`document.querySelector("${button}:enabled") !== null`);
  await page.click(button);
}

/** Clicks a button, until the page says what matches. */
async function clickUntil(page: Driven, button: string, pattern: RegExp) {
  await click(page, `#${button}`);
  await says(page, pattern);
}

/** What a visitor does with each program, and what it then says. */
const USES: Readonly<Record<string, (page: Driven) => Promise<void>>> = {
  cache: (page) =>
    clickUntil(page, "start", /^6000 answers, of which [123]\d\d were/),
  compressor: (page) =>
    clickUntil(page, "text", /^\d+ -> \d+ bytes, 0 chunks are wrong, \d+ ms$/),
  async game_state(page) {
    const step = 'Number(document.querySelector("#said").innerText.slice(5))';
    await page.until(`${step} > 20`);
    await page.press("ArrowUp");
    await page.click("[data-key]");
    const now = Number(await page.value(step));
    await page.until(`${step} > ${now + 20}`);
  },
  async graceful_shutdown(page) {
    await clickUntil(page, "start", /^[1-9]\d* of \d+$/);
    await clickUntil(page, "stop", /^all [1-9]\d* are done$/);
  },
  hash_pool: (page) => clickUntil(page, "texts", /^500 hashes, \d+ ms$/),
  async image_filter(page) {
    await page.until('document.querySelector("#said") !== null');
    const pixel = 'document.querySelector("canvas").getContext("2d")' +
      ".getImageData(32, 16, 1, 1).data[0]";
    const sharp = await page.value(pixel);
    await clickUntil(page, "blur", / ms$/);
    await page.until(`${pixel} !== ${sharp}`);
  },
  async key_value(page) {
    await clickUntil(page, "get", /^not set$/);
    await clickUntil(page, "set", /^1 in the file$/);
    await page.value("void (globalThis.old = true, location.reload())");
    await page.until("globalThis.old === undefined");
    await clickUntil(page, "get", /^it is blue$/);
  },
  logger: (page) => clickUntil(page, "start", /^3000 lines, \d+ bytes$/),
  parallel_sort: (page) => clickUntil(page, "sort", /^sorted, \d+ ms$/),
  async progress_bar(page) {
    await click(page, "#start");
    await page.until('document.querySelector("#bar").value > 0');
    await clickUntil(page, "stop", /^(stopped at|done)/);
  },
  rate_limiter: (page) => says(page, /; [1-9]\d+ sent$/),
  async synthesizer(page) {
    await click(page, "#start");
    await page.click("#keys button");
    await says(page, /^[1-9]\d* blocks/);
  },
  word_count: (page) => clickUntil(page, "count", /^15 different words$/),
};

test("the programs that are pages work in Chromium", async () => {
  assert.equal(Object.keys(USES), PROGRAMS);
  await visit("chromium", {}, async (page) => {
    for (const [name, use] of Object.entries(USES)) {
      const url = JSON.stringify(`/examples/${name}/page/`);
      await page.value(`void (location.pathname === ${url} ||
        (location.href = ${url}))`);
      await page.until(`location.pathname === ${url} && crossOriginIsolated`);
      await use(page);
      const shown = 'document.querySelector(".source").innerText';
      assert.match(
        await page.value(shown) as string,
        /worker.mjs|processor.mjs/,
      );
    }
  }, `examples/${PROGRAMS[0]}/page/`);
}, 250_000);

test(
  "programs that are pages say what a host without headers lacks",
  async () => {
    // Without isolate.js, such a page stays as it is.
    const plain = path.join(folder, "plain");
    fs.cpSync(path.join(folder, "examples"), plain, {
      recursive: true,
      filter: (name) => !name.endsWith("isolate.js"),
    });
    await visit("chromium", {}, async (page) => {
      for (const name of PROGRAMS) {
        const url = JSON.stringify(`/plain/${name}/page/`);
        await page.value(`void (location.pathname === ${url} ||
        (location.href = ${url}))`);
        await page.until(`location.pathname === ${url} &&
        document.readyState === "complete"`);
        const said = "document.body.innerText";
        await page.until(`${said}.includes("This page needs shared memory")`);
        const enabled = "document.querySelectorAll(':enabled').length";
        assert.is(await page.value(enabled), 0, `${name}: a click is lost`);
        const loaded =
          "performance.getEntriesByType('resource').map(({ name }) => name)" +
          ".filter((name) => name.endsWith('page.js')).length";
        assert.is(
          await page.value(loaded),
          0,
          `${name}: its script would throw`,
        );
      }
    }, `plain/${PROGRAMS[0]}/page/`);
  },
  250_000,
);

test("axe finds nothing to mend", async () => {
  await visit("chromium", ISOLATED, async (page) => {
    await page.until(`crossOriginIsolated && ${number("rate")} > 0`);
    for (const scheme of ["light", "dark"] as const) {
      await page.scheme(scheme);
      assert.equal(await problemsOf(page), [], scheme);
    }
    for (const name of PROGRAMS) {
      const url = JSON.stringify(`/examples/${name}/page/`);
      await page.value(`void (location.href = ${url})`);
      await page.until(`location.pathname === ${url} &&
        document.querySelector("#program:enabled") !== null`);
      for (const scheme of ["light", "dark"] as const) {
        await page.scheme(scheme);
        assert.equal(await problemsOf(page), [], `${name}, ${scheme}`);
      }
    }
  });
}, 250_000);

test("works in Firefox", async () => {
  await visit("firefox", ISOLATED, lookAtSome);
}, 250_000);
