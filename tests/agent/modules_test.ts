// it is long
// A thread is one agent in a program and in the libraries that it loads, and in
// the main and side modules of Emscripten.
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { skip, suite } from "../_run/harness.ts";
import { build, run, WARNINGS } from "../_run/native.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

const test = suite("agents in shared libraries");

/** Builds one of the two sources with nothing visible that is not marked. */
const make = (name: string, source: string, ...words: string[]) =>
  build({
    name,
    compiler: "gcc",
    words: ["-std=gnu11", "-O2", "-pthread", "-fvisibility=hidden", ...WARNINGS]
      // Old C libraries have dlopen in one of its own.
      .concat(words, "-Wl,--no-as-needed", "-ldl"),
    sources: [path.join(HERE, source)],
  });

/** Then threads sleep where their queues are, not on a word of the program. */
const SHARED = "-DWEFT_PROCESS_SHARED";

for (
  const [title, words, flags, args] of [
    [
      "a program that exports its symbols shares its agents",
      ["-rdynamic"],
      [],
      [],
    ],
    ["another program tells a library the id of a thread", [], [], ["tells"]],
    ["and wakes a select there at once", [], [SHARED], ["tells"]],
  ] as const
) {
  test(title, async () => {
    const ending = flags.join("");
    const plugin = `plugin${ending}.so`;
    const library = await make(
      plugin,
      "plugin.c",
      "-fPIC",
      "-shared",
      ...flags,
    );
    const name = `modules${words.join("")}${ending}`;
    const file = await make(name, "modules.c", ...words, ...flags);
    const { code, output } = await run(file, [library, ...args], 60);
    assert.is(code, 0, output);
    assert.match(output, /^done$/m);
  });
}

/** Flags of both modules of Emscripten. */
const LINKED = [
  ...PTHREADS.filter((flag) => flag !== "--no-entry"),
  "-O1", // links fast
  "-std=gnu11",
  "-fvisibility=hidden",
  "-Wl,--experimental-pic", // older linkers want to be told
  ...WARNINGS,
  ...["-Wno-error=experimental", "-Wno-experimental"],
  `-I${path.join(HERE, "../../wasm")}`,
  `-I${path.join(HERE, "../_run")}`,
];

/** What the side module calls, but the main module does not. */
const CALLED = [
  "_emscripten_builtin_memalign",
  "_emscripten_futex_wait",
  "_emscripten_get_now",
  "_emscripten_random",
  "__emscripten_thread_supports_atomics_wait",
  "_pthread_self",
  "_pthread_setcancelstate",
];

/** Builds both modules; the path of the main one. */
async function buildModules(): Promise<string> {
  const folder = path.join(HERE, "../../.weft/modules");
  const side = path.join(folder, "plugin.wasm");
  await emcc({
    sources: [path.join(HERE, "plugin.c")],
    args: [
      ...LINKED.filter((flag) => !/EXPORT|MODULARIZE|INCOMING/.test(flag)),
      "-sSIDE_MODULE=2",
    ],
    out: side,
    quiet: true,
  });
  const main = path.join(folder, "modules.mjs");
  await emcc({
    sources: [path.join(HERE, "modules.c"), side],
    args: [
      ...LINKED,
      "--no-entry",
      "-sMAIN_MODULE=2",
      "-sPTHREAD_POOL_SIZE=5",
      `-sEXPORTED_FUNCTIONS=${CALLED}`,
      "--embed-file",
      `${side}@/plugin.wasm`,
    ],
    out: main,
    quiet: true,
  });
  return main;
}

/** What an error says if it is the linker that cannot do this. */
const CANNOT_LINK = /wasm-ld|dynamic linking|(MAIN|SIDE)_MODULE/;

/** The longest time in which C is built for modules like these, in ms. */
const PATIENCE = 800_000;

test(
  "a main module and a side module of Emscripten share it, too",
  async () => {
    const file = await buildModules().catch((error: Error) => {
      if (!CANNOT_LINK.test(error.message)) throw error;
      return skip(
        `this toolchain links no side modules: ${
          error.message.replaceAll("\n", " ")
        }`,
      );
    });
    const { default: load } = await import(file);
    const module = await load();
    const at = module._begin() >>> 2;
    const words = new Int32Array(module.wasmMemory.buffer);
    const end = performance.now() + 200_000;
    while (Atomics.load(words, at) === 0) {
      assert.ok(performance.now() < end, "a thread failed, or sleeps for ever");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
  PATIENCE,
);
