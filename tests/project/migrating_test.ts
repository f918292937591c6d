// it is long
// The programs of other libraries in docs/guides/migrating.md run as they are
// there. Those that take their places run in guides_test.ts, and by
// `deno test --doc`.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { need, run } from "../_run/native.ts";
import { INSTALL, UNREACHABLE } from "../_run/npm_project.ts";

const PAGE = fs.readFileSync(
  fileURLToPath(
    new URL("../../docs/guides/migrating.md", import.meta.url),
  ),
  "utf8",
);

interface Program {
  readonly version: string;
  /** Where it runs: those for pages have workers of the web in Deno. */
  readonly host: "Deno" | "Node";
  readonly prints: string;
}

const ADDS: Program = { version: "5.3.2", host: "Node", prints: "10\n" };
const ASKS: Program = {
  version: "4.1.1",
  host: "Deno",
  prints: "Sure? Yes.\n",
};

/** The programs, by their libraries. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  synckit: { version: "0.12.3", host: "Node", prints: "a = 1;\n" },
  "make-synchronous": { version: "2.1.0", host: "Node", prints: "8\n" },
  "sync-message": { ...ASKS, version: "0.0.12" },
  comlink: { version: "4.4.2", host: "Deno", prints: "2 1.2\n0\n1\n" },
  coincident: ASKS,
  piscina: ADDS,
  tinypool: { ...ADDS, version: "2.2.0" },
  "async-mutex": { version: "0.5.0", host: "Node", prints: "" },
};

const test = suite("migrating");

/** The files of a library's program, as the page shows them. */
function filesOf(library: string): Map<string, string> {
  const named = RegExp(
    `^\`\`\`js ignore\n// ${library}, (\\w+\\.js)\n([^]*?)^\`\`\`$`,
    "gm",
  );
  return new Map([...PAGE.matchAll(named)].map(([, name, text]) => [
    name!,
    text!,
  ]));
}

/** The module of sync-message has one export, unless a bundler reads it. */
const withoutBundler = (text: string) =>
  text.replace(
    /^import (\{.*\}) from "sync-message";$/m,
    'import all from "sync-message";\nconst $1 = all;',
  );

let folder = "";

test.before(async () => {
  await need("npm");
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-migrating-"));
  const dependencies = Object.fromEntries(
    Object.entries(PROGRAMS).map(([name, { version }]) => [name, version]),
  );
  const described = { type: "module", dependencies };
  const file = path.join(folder, "package.json");
  fs.writeFileSync(file, JSON.stringify(described));
  try {
    execFileSync("npm", [...INSTALL], { cwd: folder, stdio: "pipe" });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as Record<string, unknown>;
    const text = `${error}\n${stdout}${stderr}`;
    if (!UNREACHABLE.test(text)) throw new Error(text);
    throw new Missing("registry of npm");
  }
});
test.after(() => fs.rmSync(folder, { recursive: true, force: true }));

for (const [library, { host, prints }] of Object.entries(PROGRAMS)) {
  test(`the program of ${library} runs`, async () => {
    let files = filesOf(library);
    if (library === "tinypool") {
      // The page says that it has the same program, by its own name.
      files = new Map(
        [...filesOf("piscina")].map(([name, text]) => [
          name,
          text.replace('Piscina from "piscina"', 'Piscina from "tinypool"'),
        ]),
      );
    }
    assert.ok(files.has("main.js"), "the page has no program");
    const home = path.join(folder, library);
    fs.mkdirSync(home);
    for (const [name, text] of files) {
      fs.writeFileSync(path.join(home, name), withoutBundler(text));
    }
    const main = path.join(home, "main.js");
    const deno = [process.execPath, "run", "-A", "--quiet", main];
    const [program, ...words] = host === "Deno" ? deno : ["node", main];
    const { code, output } = await run(program!, words, 60);
    assert.is(code, 0, output);
    assert.is(output, prints);
  });
}
