// it is long
// The site is built from the documents: each link in it leads somewhere, the
// navigation has all documents, and pages of primitives show their words.
import MiniSearch from "minisearch";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { buildSite } from "../../docs/site/build.ts";
import { contents, PROJECT } from "../../docs/site/contents.ts";
import { colour } from "../../docs/site/colour.ts";
import { render } from "../../docs/site/render.ts";
import { OPTIONS } from "../../docs/site/search_options.ts";
import { problemsOf } from "../_run/browser/axe.ts";
import { visit } from "../_run/browser/visit.ts";
import { suite } from "../_run/harness.ts";

const test = suite("the site");
let site = "";

test.before(async () => {
  site = fs.mkdtempSync(path.join(tmpdir(), "weft-site-"));
  await buildSite(site, { api: false, page: false });
});
test.after(() => fs.rmSync(site, { recursive: true }));

/** What other tasks build into it. */
const ELSEWHERE = ["api/index.html", "page/index.html"];

const read = (file: string) => fs.readFileSync(path.join(site, file), "utf8");

test("each link leads to a file, and to a place in it", () => {
  const files = fs.readdirSync(site, { recursive: true, encoding: "utf8" })
    .filter((name) => fs.statSync(path.join(site, name)).isFile());
  const known = new Set([...files, ...ELSEWHERE]);
  const ids = new Map<string, Set<string>>();
  const idsIn = (file: string) => {
    if (!ids.has(file)) {
      const all = read(file).matchAll(/\bid="([^"]+)"/g);
      ids.set(file, new Set([...all].map(([, id]) => id!)));
    }
    return ids.get(file)!;
  };
  const broken = files.filter((name) => name.endsWith(".html"))
    .flatMap((name) => {
      const text = read(name).replace(/<pre\b[^]*?<\/pre>/g, "");
      const links = text.matchAll(/\b(?:href|src|srcset)="([^"]*)"/g);
      return [...links].map(([, link]) => link!)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [file, anchor] = link.split("#");
          const to = file === ""
            ? name
            : path.posix.join(path.posix.dirname(name), file!);
          if (!known.has(to)) return true;
          return anchor !== undefined && !idsIn(to).has(anchor);
        })
        .map((link) => `${name}: ${link}`);
    });
  assert.equal([...new Set(broken)], []);
});

test("the navigation names every document once", () => {
  const named = contents().flatMap(({ documents }) => documents);
  const there = fs.readdirSync(path.join(PROJECT, "docs"), {
    recursive: true,
    encoding: "utf8",
  }).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`);
  assert.equal(
    named.toSorted(),
    [...there, "CHANGELOG.md", "README.md"].toSorted(),
  );
});

test("a primitive's page shows its words", () => {
  const page = read("docs/primitives/mutex.html");
  assert.match(page, "<title>word 0: state</title>");
  assert.match(page, 'href="../layouts.html#mutex"');
});

test("the search finds a heading", () => {
  const index = MiniSearch.loadJSON(read("search.json"), OPTIONS);
  const urls = index.search("agents that are terminated").map(({ url }) => url);
  assert.ok(urls.includes("docs/waiting.html#agents-that-are-terminated"));
});

test("the search finds what a question means", () => {
  const index = MiniSearch.loadJSON(read("search.json"), OPTIONS);
  for (
    const [question, page] of [
      ["how to lock", "docs/primitives/mutex.html"],
      ["coop", "docs/guides/hosting.html"],
      ["what if a worker is killed", "docs/guides/deaths.html"],
    ]
  ) {
    const urls = index.search(question!).slice(0, 8).map(({ url }) => url);
    assert.ok(
      urls.some((url: string) => url.startsWith(page!)),
      `${question}: ${urls}`,
    );
  }
});

test("headings that say the same have places of their own", () => {
  const text = "# A\n\n## Fixed\n\none\n\n## Fixed\n\ntwo\n";
  const { html, sections } = render("CHANGELOG.md", text, "CHANGELOG.html");
  const anchors = sections.map(({ anchor }) => anchor);
  assert.equal(anchors, ["a", "fixed", "fixed-1"]);
  for (const anchor of anchors) assert.match(html, `id="${anchor}"`);
});

test("code has colours, and says the same", () => {
  const code = 'for (const x of "a<b") y.from(`for`, 0x1F); // for';
  const marked = colour(code, "ts");
  const text = marked.replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<").replaceAll("&quot;", '"');
  assert.is(text, code);
  const parts = [...marked.matchAll(/<span class="(\w+)">([^<]*)/g)];
  assert.equal(parts.map(([, name, text]) => [name, text]), [
    ["keyword", "for"],
    ["keyword", "const"],
    ["keyword", "of"],
    ["string", "&quot;a&lt;b&quot;"],
    ["string", "`for`"],
    ["number", "0x1F"],
    ["comment", "// for"],
  ]);
  assert.is(colour("for <", "text"), "for &lt;");
});

test("a long page begins with its parts", () => {
  assert.match(
    read("docs/race_reference.html"),
    '<nav class="parts" aria-label="On this page"><ul><li><a href="#',
  );
});

test("each group of benchmarks has a page, which links lead to", () => {
  const all = read("docs/benchmarks.html");
  assert.match(all, '<a href="benchmarks/mutex.html">mutex</a>');
  assert.not.match(all, 'id="mutex"');
  const mutex = read("docs/benchmarks/mutex.html");
  assert.match(mutex, '<h1 id="mutex">mutex</h1>');
  assert.match(mutex, "<title>Benchmarks: mutex - Weft</title>");
  const page = read("docs/primitives/mutex.html");
  assert.match(page, 'href="../benchmarks/mutex.html"');
});

test("a button copies code, and axe finds nothing to mend", async () => {
  await visit({
    // In a folder of the host, as a project's page is.
    write: (folder) => {
      fs.cpSync(site, path.join(folder, "weft"), { recursive: true });
      const text = '<meta http-equiv="refresh" content="0;url=weft/">';
      fs.writeFileSync(path.join(folder, "index.html"), text);
    },
    // What still loads may move the button.
    ready: `document.querySelector(".copied button") !== null &&
      document.readyState === "complete"`,
  }, async (page) => {
    const button = ".copied button";
    // The button says "Copied" for two seconds, which a slow look may miss.
    await page.value(`void (navigator.clipboard.writeText = (text) =>
      (globalThis.copied = text, Promise.resolve()),
      globalThis.said = [],
      new MutationObserver(([{ target }]) => said.push(target.textContent))
        .observe(document.querySelector("${button}"), { childList: true }))`);
    await page.click(button);
    await page.until(`said.includes("Copied")`);
    const code = 'document.querySelector("main pre").innerText.trimEnd()';
    assert.ok(await page.value(`copied === ${code} && copied.length > 9`));
    const pages = ["index", "docs/primitives/mutex", "docs/benchmarks"];
    for (const name of [...pages, "docs/examples/index"]) {
      const url = JSON.stringify(`/weft/${name}.html`);
      await page.value(`void (location.href = ${url})`);
      await page.until(`location.pathname === ${url} &&
        document.readyState === "complete"`);
      for (const scheme of ["light", "dark"] as const) {
        await page.scheme(scheme);
        assert.equal(await problemsOf(page), [], `${name}, ${scheme}`);
      }
    }
    await page.value("void document.body.append(new Image())");
    assert.match(`${await problemsOf(page)}`, /^image-alt: img/);
  });
});

test("no page is wider than a phone", async () => {
  const files = fs.readdirSync(site, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".html"));
  await visit({
    write: (folder) => fs.cpSync(site, folder, { recursive: true }),
    ready: "document.readyState === 'complete'",
  }, async (page) => {
    const wide = await page.value(`(async () => {
      const wide = [];
      for (const file of ${JSON.stringify(files)}) {
        const frame = document.createElement("iframe");
        frame.style = "width: 360px; height: 640px; border: 0";
        frame.src = file;
        const loaded = new Promise((resolve) => frame.onload = resolve);
        document.body.append(frame);
        await loaded;
        const { scrollWidth } = frame.contentDocument.documentElement;
        if (scrollWidth > 360) wide.push(file + ": " + scrollWidth);
        frame.remove();
      }
      return wide;
    })()`);
    assert.equal(wide, []);
  });
});
