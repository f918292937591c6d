// What lies in the repository, and what must never be written into it.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

const TOP_LEVEL = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "bench",
  "deno.json",
  "docs",
  "mod.ts",
  "primitives",
  "race",
  "tests",
  "wasm",
];

function output(program: string, ...args: string[]): string {
  const options = { cwd: PROJECT, encoding: "utf8" } as const;
  return spawnSync(program, args, options).stdout ?? "";
}

/** Committed files, or all where this is not a checkout. */
const files = output("git", "ls-files", "-z").split("\0")
  .filter((file) => file && fs.existsSync(path.join(PROJECT, file)));
if (files.length === 0) {
  files.push(
    ...fs.readdirSync(PROJECT, { recursive: true, encoding: "utf8" })
      .filter((file) => !/^(node_modules|\.weft|\.git)\b/.test(file))
      .filter((file) => fs.statSync(path.join(PROJECT, file)).isFile()),
  );
}

/** Hosts that this machine gets its packages from. */
function packageHosts(): string[] {
  const configured = [
    output("npm", "config", "get", "registry"),
    output("apt-get", "indextargets", "--format", "$(REPO_URI)"),
    process.env.PIP_INDEX_URL ?? "",
    process.env.HTTPS_PROXY ?? "",
  ];
  const hosts = configured.join("\n").matchAll(/https?:\/\/([^/:\s]+)/g);
  return [...new Set([...hosts].map(([, host]) => host!))]
    .filter((host) => !/^(localhost|127\.)/.test(host));
}

/** Lines in which `pattern` occurs, as `file:line: text`. */
function find(pattern: RegExp): string[] {
  return files.flatMap((file) => {
    const lines = fs.readFileSync(path.join(PROJECT, file), "utf8").split("\n");
    return lines.flatMap((line, index) =>
      pattern.test(line) ? [`${file}:${index + 1}: ${line.slice(0, 200)}`] : []
    );
  });
}

function literally(texts: string[]): RegExp {
  const escaped = texts.map((text) => text.replace(/[^\w]/g, "\\$&"));
  return new RegExp(`(^|[^\\w.])(${escaped.join("|")})($|[^\\w.])`);
}

const test = suite("repository");

test("the top level holds what the README names, and no more", () => {
  const names = files.map((file) => file.split("/", 1)[0]!)
    .filter((name) => !name.startsWith("."));
  assert.equal([...new Set(names)].toSorted(), TOP_LEVEL);
});

test("no file holds the name of a host that packages come from", () => {
  const hosts = packageHosts();
  if (hosts.length > 0) assert.equal(find(literally(hosts)), []);
  assert.equal(find(/\b(registry|mirrors?|proxy)\.[\w-]+\.\w/), []);
});

test("no file holds an absolute path of somebody's machine", () => {
  const here = [path.resolve(PROJECT), homedir()].filter((p) => p.length > 5);
  assert.equal(find(literally(here)), []);
  assert.equal(find(/(^|[^\w.:/])\/(home|root|Users|work|mnt)\/\w/), []);
});

test("comments have at most 80 columns", () => {
  const code = /\.(ts|mjs|js|c|h|cpp|hpp)$/;
  const wide = find(/^ *(\/\/|\/\*|\*).{78}/).filter((found) => {
    const [file, , ...text] = found.split(":");
    return code.test(file!) && text.join(":").length > 81;
  });
  assert.equal(wide, []);
});
