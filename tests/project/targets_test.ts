// also: node
// it is long
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { MpmcQueue, Mutex, Semaphore } from "../../mod.ts";
import { emcc, NoCompiler, PTHREADS, wasmClang } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { ALONE, everyFunction } from "../_run/header.ts";
import { Pool, WARNINGS, writeSource } from "../_run/native.ts";
import { spawn, type Thread } from "../_run/workers.ts";
import { type Agent, enter, PAGE } from "../_twin/bare.ts";
import { PLAY } from "../_twin/plays.ts";
import { INCLUDE, SOURCES, Stage } from "../_twin/stage.ts";

const test = suite("weft.h, for wasm");
const pool = new Pool(2);

/** Begins `task` as soon as a lane is free; the test waits for its end. */
function later(name: string, task: () => Promise<void>) {
  const end = pool.run(task).then(() => undefined, (error) => error);
  test(name, async () => {
    const error = await end;
    if (error !== undefined) throw error;
  });
}

const BARE_HEADER = fileURLToPath(
  new URL("../_twin/bare.h", import.meta.url),
);
const BUILT = fileURLToPath(new URL("../../.weft/targets", import.meta.url));
const BARE_WORKER = new URL("../_twin/_bare_worker.ts", import.meta.url);

const isNode = !("Deno" in globalThis || "Bun" in globalThis);

fs.mkdirSync(BUILT, { recursive: true });

/** Writes a source that is made here. */
const made = (name: string, text: string): string =>
  writeSource(BUILT, name, text);

// ---- every standard, without a warning --------------------------------------

const ATOMICS = ["-matomics", "-mbulk-memory"];
const BARE = [...ATOMICS, "-nostdlib"];
/** How it is compiled, and as what. */
const TARGETS = [
  [emcc, ["-pthread"], ["c11", "c23", "c++17", "c++20"]],
  [emcc, ["-sWASM_WORKERS"], ["c17", "c++17"]],
  [wasmClang, BARE, ["c11", "c17", "c23", "c++17", "c++20"]],
] as const;

for (const [make, args, standards] of TARGETS) {
  for (const std of standards) {
    const by = make === emcc ? `emcc ${args}` : "clang --target=wasm32";
    later(`${by} -std=${std} says nothing`, async () => {
      const extension = std.startsWith("c++") ? "cpp" : "c";
      // The optimizer's warnings do not depend on the standard's year.
      const optimizes = std === standards[0] || std === "c++17";
      const texts = {
        every: everyFunction(),
        alone: ALONE,
        realtime: `#define WEFT_REALTIME\n${ALONE}`,
      };
      for (const [name, text] of Object.entries(texts)) {
        // The header alone differs with the language, not with its year.
        if (name !== "every" && !std.endsWith("17")) continue;
        await make({
          sources: [made(`${name}.${extension}`, text)],
          args: [
            "-c",
            optimizes ? "-O1" : "-O0",
            `-std=${std}`,
            ...args,
            ...WARNINGS,
            `-I${INCLUDE}`,
          ],
          out: path.join(BUILT, `${name}${args[0]}-${std}.o`),
          quiet: true,
        });
      }
    });
  }
}

test("the compiler says who forgot -pthread", async () => {
  for (const make of [emcc, wasmClang]) {
    const error = await make({
      sources: [made("alone.c", ALONE)],
      args: ["-c", `-I${INCLUDE}`],
      out: path.join(BUILT, "forgotten.o"),
      quiet: true,
    }).then(() => new Error("it compiled"), (error) => error);
    if (error instanceof NoCompiler) throw error;
    assert.match(error.message, "weft.h needs threads: build with -pthread");
  }
});

// ---- programs ---------------------------------------------------------------

/** Lets threads of C, of JavaScript and this agent use all there is. */
async function perform(stage: Stage) {
  const { memory } = stage;
  const cast = ["C", "C", "JS", "main"] as const;

  const at = stage.place(Mutex.byteLength());
  const extra = stage.place(4);
  const added = await stage.perform(
    cast.map((by) => ({ by, role: "mutex add", at, extra, count: 500 })),
  );
  const sum = added.reduce((n, { words }) => n + words[PLAY.result]!, 0);
  assert.is(stage.heap[extra / 4], sum);
  const ids = added.map(({ words }) => words[PLAY.id]);
  assert.is(new Set(ids).size, ids.length, `ids ${ids}`);

  const semaphore = stage.place(Semaphore.byteLength());
  const permits = stage.place(8);
  stage.heap[permits / 4 + 1] = 3;
  Semaphore.init(memory, semaphore, 3);
  await stage.perform(cast.map((by) => ({
    by,
    role: "semaphore use",
    at: semaphore,
    extra: permits,
    count: 300,
  })));
  assert.is(new Semaphore(memory, semaphore).available, 3);

  const config = { capacity: 4, elementSize: 12 };
  const place = stage.place(MpmcQueue.byteLength(config));
  const queue = MpmcQueue.init(memory, place, config);
  const count = 1000;
  const seen = stage.place(8 * count);
  const taken = await Promise.all(
    (["C", "JS"] as const).map((by) =>
      stage.start({ by, role: "mpmc consume", at: place, extra: seen, count })
    ),
  );
  await stage.perform((["main", "C"] as const).map((by, number) => ({
    by,
    role: "mpmc produce",
    at: place,
    count,
    number,
  })));
  queue.close();
  for (const { over } of taken) await over;
  const times = stage.heap.subarray(seen / 4, seen / 4 + 2 * count);
  assert.ok(times.every((times) => times === 1));
}

/** Builds a module without a C library. */
async function buildBare(name: string, args: string[]) {
  const out = path.join(BUILT, `${name}.wasm`);
  await wasmClang({
    sources: [...SOURCES, BARE_HEADER],
    args: [
      "-O2",
      "-std=c11",
      ...ATOMICS,
      "-nostdlib",
      ...args,
      ...WARNINGS,
      `-I${INCLUDE}`,
      "-Wl,--no-entry,--import-memory,--shared-memory,--export-dynamic",
      "-Wl,--export=__stack_pointer,--export=__heap_base",
      "-Wl,--initial-memory=8388608,--max-memory=8388608",
    ],
    out,
  });
  return await WebAssembly.compile(fs.readFileSync(out));
}

/** A stage on a bare module, whose threads are workers of JavaScript. */
function bareStage(module: WebAssembly.Module): Stage {
  const pages = 8388608 / PAGE;
  const memory = new WebAssembly.Memory({
    initial: pages,
    maximum: pages,
    shared: true,
  });
  let free = 8388608;
  const agent = (): Agent => ({ module, memory, pages: free -= 2 * PAGE });
  const c = enter(agent());
  const idle: Thread[] = [];
  return new Stage(memory, c, async (place) => {
    const thread = idle.pop() ?? await spawn(BARE_WORKER, agent());
    thread.post(place);
    await thread.next();
    idle.push(thread);
  });
}

test("a bare module plays, with thread-local storage", async () => {
  const module = await buildBare("bare-tls", [
    "-Wl,--export=__wasm_init_tls,--export=__tls_size",
  ]);
  const names = (all: { name: string }[]) => all.map(({ name }) => name).sort();
  assert.equal(names(WebAssembly.Module.imports(module)), [
    "memory",
    "weft_date",
    "weft_now",
  ]);
  await perform(bareStage(module));
});

test("a bare module plays, with what it defines itself", async () => {
  const module = await buildBare("bare-own", ["-include", BARE_HEADER]);
  const names = (all: { name: string }[]) => all.map(({ name }) => name).sort();
  assert.equal(names(WebAssembly.Module.imports(module)), [
    "date_ms",
    "memory",
    "now_ns",
    "random",
  ]);
  await perform(bareStage(module));
});

// Emscripten's do not start under Bun, whatever they run.
if (!("Bun" in globalThis)) {
  test("Wasm Workers play", async () => {
    // Under Deno, Emscripten's own idea of Node and its workers comes to a
    // halt.
    const name = isNode ? "workers-node" : "workers";
    const out = path.join(BUILT, `${name}.mjs`);
    await emcc({
      sources: SOURCES,
      args: [
        ...PTHREADS.filter((flag) => !/^-pthread|JS_API/.test(flag)),
        "-sWASM_WORKERS",
        "-sINCOMING_MODULE_JS_API=locateFile",
        "-sWASM_BIGINT",
        ...(isNode ? [] : ["-sENVIRONMENT=web,worker"]),
        ...WARNINGS,
        `-I${INCLUDE}`,
      ],
      out,
    });
    const { default: load } = await import(out);
    const folder = new URL(`file://${BUILT}/`);
    const module = await load({
      locateFile: (file: string) =>
        isNode ? path.join(BUILT, file) : new URL(file, folder).href,
    });
    await perform(Stage.on(module));
  });
}

test("clang compiles weft.h natively, where Emscripten's can", async () => {
  const target = `--target=${
    process.arch === "arm64" ? "aarch64" : "x86_64"
  }-linux-gnu`;
  const compile = (name: string, text: string, std: string) =>
    wasmClang({
      sources: [made(name, text)],
      args: [target, `-std=${std}`, "-c", "-O1", ...WARNINGS, `-I${INCLUDE}`],
      out: path.join(BUILT, `native-${name}-${std}.o`),
      quiet: true,
    });
  const able = process.platform === "linux" &&
    await compile("able.c", "#include <errno.h>\nint able = 1;\n", "c11")
      .then(() => true, () => false);
  if (!able) throw new Missing("clang of Emscripten for this machine");
  for (const std of ["c17", "c++17"]) {
    const extension = std.startsWith("c++") ? "cpp" : "c";
    await compile(`every.${extension}`, everyFunction(), std);
  }
});
