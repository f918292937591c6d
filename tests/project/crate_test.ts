// it is long
// The crate in wasm/rust: it declares what its C defines, its own tests pass,
// and a module made of it shares two queues with JavaScript.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { MpmcQueue } from "../../mod.ts";
import { clangOf, findCompiler } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { BUILT, need, run } from "../_run/native.ts";
import { spawn } from "../_run/workers.ts";
import { type Agent, enter, PAGE } from "../_twin/bare.ts";

const WASM = fileURLToPath(new URL("../../wasm", import.meta.url));
const GUIDE = fileURLToPath(
  new URL("../../docs/guides/wasm.md", import.meta.url),
);
/** A copy: cargo writes a lock file beside the sources. */
const COPY = path.join(BUILT, "crate");
const TARGET = "wasm32-unknown-unknown";
const WORKER = new URL("./_crate_worker.ts", import.meta.url);

const test = suite("The crate of Rust", 600_000);

const read = (name: string) =>
  fs.readFileSync(path.join(WASM, "rust", name), "utf8");

/** What a type of C is called in Rust. */
const TYPES: Readonly<Record<string, string>> = {
  "void": "",
  "void *": "*mut c_void",
  "const void *": "*const c_void",
  "int32_t": "i32",
  "int64_t": "i64",
  "size_t": "usize",
};

/** `int32_t id` in Rust. */
function parameter(text: string): string {
  if (text === "void") return "";
  const [, type, name] = text.match(/^(.*?) ?(?<![*\w])(\w+)$/) ??
    text.match(/^(.*\*)(\w+)$/)!;
  return `${name}: ${TYPES[type!]}`;
}

/** The functions that the C defines, as Rust declares them. */
function defined(): string[] {
  const text = read("weft.c").replaceAll("\\\n", "").replace(/\s+/g, " ");
  const [, body] = text.match(
    /#define QUEUE\(kind\)(.*?) QUEUE\(spsc_queue\)/,
  )!;
  const kinds = [...text.matchAll(/ QUEUE\((\w+_queue)\)/g)];
  const all = text.replace(body!, "") +
    kinds.map(([, kind]) => body!.replaceAll("##kind##", `${kind}`)).join("");
  const functions = all.matchAll(
    /FUNCTION\(([\w ]+\*?), (weft_rs_\w+), (.*?)\) \{/g,
  );
  return [...functions].map(([, type, name, words]) => {
    const list = words!.split(", ").map(parameter).join(", ");
    const result = TYPES[type!] === "" ? "" : ` -> ${TYPES[type!]}`;
    return `${name}(${list})${result}`;
  }).sort();
}

/** The functions that Rust declares. */
function declared(): string[] {
  const text = read("src/sys.rs").replace(/\s+/g, " ");
  const functions = text.matchAll(/pub fn (\w+)\((.*?)\)( -> [^;]+)?;/g);
  return [...functions].map(([, name, words, result]) =>
    `${name}(${words!.trim().replace(/,$/, "")})${result ?? ""}`
  ).sort();
}

test("it declares the functions that its C defines", () => {
  assert.ok(defined().length > 30);
  assert.equal(declared(), defined());
});

test("its errors are those of its C", () => {
  const [, list] = read("weft.c").match(/enum \{([^}]*)\}/)!;
  const words = list!.replace(/\/\*.*?\*\//g, "").split(",");
  const inC = words.map((name) => name.trim().replaceAll("_", ""));
  const text = read("src/lib.rs");
  const [, code] = text.match(/const OWNER_DIED: i32 = (\d+);/)!;
  assert.is(inC.indexOf("OWNERDIED"), Number(code));
  const arms = [...text.matchAll(/^ +(\d+) => Error::(\w+),$/gm)];
  assert.is(arms.length, inC.length - 3); // but DONE, INVALID and OWNER_DIED
  for (const [, number, name] of arms) {
    assert.is(inC[Number(number)], name!.toUpperCase());
  }
});

/** Copies the crate and the headers, with their times: cargo looks at these. */
function copy(): string {
  for (const name of ["rust", "weft"]) {
    const to = path.join(COPY, name);
    fs.cpSync(path.join(WASM, name), to, {
      recursive: true,
      preserveTimestamps: true,
    });
  }
  return path.join(COPY, "rust", "Cargo.toml");
}

/** Runs cargo, with these variables. */
async function cargo(
  program: string,
  words: string[],
  variables: Record<string, string> = {},
): Promise<string> {
  const manifest = copy();
  const all = Object.entries({
    ...variables,
    CARGO_TARGET_DIR: path.join(COPY, "target"),
  }).map(([name, value]) => `${name}=${value}`);
  const command = [program, ...words, "--offline", "--manifest-path", manifest];
  const { code, output } = await run("env", [...all, ...command], 500);
  assert.is(code, 0, output);
  return output;
}

test("its own tests pass, and its examples run", async () => {
  await need("cargo", "cc", "ar");
  copy();
  const guide = fs.readFileSync(GUIDE, "utf8");
  const [, text] = guide.match(/^```rust\n(use weft[^]*?)^```$/m)!;
  const file = path.join(COPY, "rust", "examples", "guide.rs");
  fs.writeFileSync(file, `${text}\nfn main() {\n    start().unwrap();\n}\n`);
  const output = await cargo("cargo", ["test"]);
  assert.match(output, /test result: ok\. 4 passed; 0 failed/);
  const words = ["run", "-q", "--example"];
  assert.match(await cargo("cargo", [...words, "threads"]), /^1501500$/m);
  assert.is(await cargo("cargo", [...words, "guide"]), "");
});

// ---- a module ---------------------------------------------------------------

/** Programs that build for wasm: those on the PATH, or those of Debian. */
const TOOLS = [["cargo", "rustc"], ["/usr/bin/cargo", "/usr/bin/rustc"]];

/** The first of them that have Rust's `core` for wasm. */
async function tools(): Promise<{ cargo: string; rustc: string }> {
  for (const [cargo, rustc] of TOOLS as [string, string][]) {
    const there = [cargo, rustc].every((name) =>
      !name.startsWith("/") || fs.existsSync(name)
    );
    if (!there) continue;
    const words = ["--target", TARGET, "--print", "target-libdir"];
    const found = await run(rustc, words, 60).catch(() => undefined);
    if (found?.code === 0 && fs.existsSync(found.output.trim())) {
      return { cargo, rustc };
    }
  }
  throw new Missing("cargo and rustc for wasm32");
}

/** The most pages of the memory. */
const PAGES = 256;

/** Flags of a module whose threads share a memory that JavaScript makes. */
const LINK = [
  ...["--import-memory", "--shared-memory", `--max-memory=${PAGES * PAGE}`],
  "--no-check-features", // Rust's own `core` has no atomics
  "--no-fatal-warnings", // a new linker has one for an old Rust's metadata
  ...["--export=__stack_pointer", "--export=__wasm_init_tls"],
];

test("a module of Rust takes from JavaScript's queue, and gives", async () => {
  const { cargo: program, rustc } = await tools();
  const clang = clangOf(await findCompiler(true));
  const features = "target-feature=+atomics,+bulk-memory";
  const flags = [features, ...LINK.map((word) => `link-arg=${word}`)];
  await cargo(
    program,
    ["build", "--release", "--example", "doubler", "--target", TARGET],
    {
      RUSTC: rustc,
      RUSTFLAGS: flags.map((flag) => `-C ${flag}`).join(" "),
      CC: clang,
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: path.join(
        path.dirname(clang),
        "wasm-ld",
      ),
    },
  );
  const built = path.join(COPY, "target", TARGET, "release", "examples");
  const bytes = fs.readFileSync(path.join(built, "doubler.wasm"));
  const module = await WebAssembly.compile(bytes);
  const memory = new WebAssembly.Memory({
    initial: 64,
    maximum: PAGES,
    shared: true,
  });
  const agent = (i: number): Agent => ({
    module,
    memory,
    pages: (64 - 2 * i) * PAGE,
  });
  const { place } = enter(agent(1));
  const config = { capacity: 64, elementSize: 4 };
  const [jobs, results] = [0, 1].map((i) =>
    MpmcQueue.init(memory, place!(i) >>> 0, config)
  ) as [MpmcQueue, MpmcQueue];
  const thread = await spawn(WORKER, agent(2));
  const pushed = (async () => {
    for (let i = 0; i < 1000; i++) await jobs.pushIntAsync(i);
    jobs.close();
  })();
  for (let i = 0; i < 1000; i++) assert.is(await results.popIntAsync(), 2 * i);
  await pushed;
  assert.is(await thread.next<number>(), 1000);
});
