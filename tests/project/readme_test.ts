// What the README shows: its worker example runs as it is pasted.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import {
  isPage,
  published,
  withAbsoluteLinks,
  withLinksOut,
} from "../../docs/site/links.ts";
import { countOf, raised } from "../_run/examples.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";
import { install, PUBLISHED } from "../_run/package.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const README = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");

const test = suite("README");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-readme-"));
  await install(folder);
  // What npm writes has no "type".
  fs.writeFileSync(path.join(folder, "package.json"), "{}");
  await esbuild.stop();
  const files = [
    ...README.matchAll(/^```js ignore\n\/\/ (.*)\n([^]*?)^```$/gm),
  ];
  const names = files.map(([, name]) => name!);
  assert.equal(names, ["main.mjs", "worker.mjs", "node.mjs"]);
  const texts = files.map(([, , text]) => text!);
  const more = raised(texts);
  fs.mkdirSync(path.join(folder, "more"));
  for (const [i, name] of names.entries()) {
    fs.writeFileSync(path.join(folder, name), texts[i]!);
    fs.writeFileSync(path.join(folder, "more", name), more[i]!);
  }
  const n = countOf(more[0]!)!;
  assert.ok(n > 2 * 1024, "N is above what both queues hold");
  sumOfMore = n * (n + 1) * (2 * n + 1) / 6;
});
test.after(() => fs.rmSync(folder, { recursive: true }));

/** What the example says that it prints, and what it prints for more jobs. */
const SUM = Number(README.match(/^console\.log\(sum\); \/\/ (\d+)$/m)![1]);
let sumOfMore = 0;

/** Runs the example by `program`, as it is pasted, and with a larger N. */
async function runBoth(program: string, words: string[]) {
  for (const [where, sum] of [["", SUM], ["more", sumOfMore]] as const) {
    const all = words.map((word) =>
      word.endsWith(".mjs") ? path.join(folder, where, word) : word
    );
    const ended = await run(program, all, 120);
    assert.equal(ended, { code: 0, output: `${sum}\n` }, where);
  }
}

/** The words after \`program\` in the README. */
const wordsAfter = (program: string) =>
  README.match(RegExp(`\`${program} ([^\`]* main\\.mjs)\``))![1]!.split(" ");

test("its worker example runs in Node, as it is pasted, for any N", async () => {
  await runBoth("node", wordsAfter("node"));
});

test("its worker example runs in Deno, as it is pasted, for any N", async () => {
  await runBoth(process.execPath, wordsAfter("deno"));
});

test("what it links to is in the package, too", () => {
  const links = [...README.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !link.startsWith("https:"));
  assert.ok(links.length > 30, `${links.length} links`);
  const missing = links.filter((link) => !PUBLISHED.includes(link));
  assert.equal(missing, []);
});

test("its links are absolute where a registry shows it", () => {
  const address = "https://example.org/owner/weft";
  const made = withAbsoluteLinks(README, address, "v1.2.3");
  const links = (text: string) =>
    [...text.matchAll(/(!?)\[[^\]]*\]\(([^)\s]+)\)/g)]
      .map(([, picture, link]) => ({ picture: picture !== "", link: link! }));
  const before = links(README), after = links(made);
  assert.is(after.length, before.length);
  for (const [i, { picture, link }] of before.entries()) {
    const kind = picture ? "raw" : "blob";
    const expected = link.startsWith("https:")
      ? link
      : `${address}/${kind}/v1.2.3/${link}`;
    assert.is(after[i]!.link, expected);
  }
  assert.is(withAbsoluteLinks(made, address, "v1.2.3"), made, "twice");
});

test("the other pages of the package link to what is in it, or outside", () => {
  const address = "https://example.org/owner/weft";
  /** Relative links, and pictures, outside of blocks of code. */
  const relative = (text: string) =>
    [
      ...text.replaceAll(/^( *)```[^]*?^\1```$/gm, "")
        .matchAll(
          /\]\(([^)\s]+)\)|^ *<(?:img|source) [^>]*src(?:set)?="([^"]+)"/gm,
        ),
    ].map(([, link, source]) => link ?? source!)
      .filter((link) => !/^([a-z]+:|#)/.test(link));
  let changed = 0;
  for (const page of PUBLISHED.filter(isPage)) {
    const text = fs.readFileSync(path.join(PROJECT, page), "utf8");
    const made = withLinksOut(text, page, PUBLISHED, address, "v1.2.3");
    const lost = relative(made).filter((link) => {
      const [place] = link.split("#");
      const file = path.posix.join(path.posix.dirname(page), place!);
      return !PUBLISHED.some((name) => `${name}/`.startsWith(`${file}/`));
    });
    assert.equal(lost, [], page);
    const out = [...made.matchAll(/https:..example.org\S+?v1.2.3\/([^)"#]+)/g)];
    for (const [, file] of out) assert.ok(fs.existsSync(PROJECT + file), file);
    changed += out.length;
    assert.is(withLinksOut(made, page, PUBLISHED, address, "v1.2.3"), made);
  }
  assert.ok(changed > 50, `${changed} links`);
});

test("its last line names the site where GitHub serves one", () => {
  const lastOf = (address: string) =>
    published(README, address, "v1.2.3").trimEnd().split("\n").at(-1)!;
  const [site, elsewhere] = ["github.com/Owner/weft", "example.org/owner/weft"]
    .map((place) => lastOf(`https://${place}`));
  assert.match(site!, "](https://owner.github.io/weft/)");
  assert.match(site!, "](https://owner.github.io/weft/page/)");
  assert.match(site!, "](https://github.com/Owner/weft).");
  assert.is(
    elsewhere,
    "Online: the [repository](https://example.org/owner/weft).",
  );
});

test("it is shorter than 200 lines, and gives two commands", () => {
  assert.ok(README.trimEnd().split("\n").length < 200);
  const [, section] = README.match(/^## Two commands\n([^]*?)^[^\n]*More:/m)!;
  const fenced = [...section!.matchAll(/^```sh\n([^]*?)^```$/gm)];
  assert.equal(fenced.map(([, lines]) => lines!.trim().split("\n")), [[
    "npx -y deno@2.9.6 task demo",
    "npx -y deno@2.9.6 task test",
  ]]);
});
