// it is long
// weft.hpp: natively, and in one memory with TypeScript.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { field, MpmcQueue, struct } from "../../mod.ts";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import {
  build,
  BUILT,
  need,
  needSanitizers,
  run,
  SOURCES,
  WARNINGS,
} from "../_run/native.ts";

const FIXTURES = fileURLToPath(new URL("./fixtures", import.meta.url));
const WASM = fileURLToPath(new URL("../../wasm", import.meta.url));
const MODULE = fileURLToPath(
  new URL("../../.weft/points.mjs", import.meta.url),
);

const test = suite("weft.hpp");

const EVERY = [
  ...WARNINGS,
  "-Wshadow",
  "-Wold-style-cast",
  "-Wsign-conversion",
];
const FILES = ["guards", "std", "moves", "data", "map", "select", "fails"];
const PROGRAMS = {
  "as C++17": ["-std=c++17", "-O2"],
  "as C++20, with ThreadSanitizer": [
    ...["-std=c++20", "-O1", "-g1", "-fsanitize=thread"],
  ],
  "as C++23, with the other sanitizers": [
    // Without -O, nothing wrong is optimized away, and it compiles in half the
    // time.
    ...["-std=c++2b", "-O0", "-g1", "-fsanitize=address,undefined"],
    "-fno-sanitize-recover=all",
  ],
};

for (const [title, words] of Object.entries(PROGRAMS)) {
  for (const compiler of ["g++", "clang++"]) {
    for (const file of FILES) {
      const sanitized = words.length > 2;
      // One compiler's sanitizers do for what is made of the same locks.
      if (file !== "guards" && sanitized && compiler === "clang++") continue;
      test(`${file}.cpp, ${compiler} ${title}`, async () => {
        if (sanitized) await needSanitizers(compiler);
        const program = await build({
          name: `${file}-${compiler}-${words[0]}`,
          compiler,
          words: [...EVERY, ...words, "-pthread"],
          sources: [path.join(SOURCES, `${file}.cpp`)],
        });
        const { code, output } = await run(program, [], 100);
        assert.is(code, 0, output);
        assert.match(output, /^done$/m);
      });
    }
  }
}

/**
 * Emscripten makes its C++ library with exceptions once: that takes minutes.
 */
const MINUTES = 800_000;

for (const standard of ["c++17", "c++2b"]) {
  const title = `emcc as ${standard}, with exceptions, in Node`;
  test(title, async () => {
    await need("node"); // before minutes of compiling
    const out = path.join(BUILT, `guards-${standard}.mjs`);
    const args = [
      ...[`-std=${standard}`, "-O1", "-pthread", "-fexceptions"],
      ...["-sEXIT_RUNTIME", "-sPROXY_TO_PTHREAD", "-sPTHREAD_POOL_SIZE=8"],
      ...["-sENVIRONMENT=node,worker", "-sEXPORT_ES6"],
      ...[`-I${WASM}`, ...EVERY],
    ];
    await emcc({ sources: [path.join(SOURCES, "guards.cpp")], args, out });
    const start = `import(${JSON.stringify(out)}).then((it) => it.default())`;
    const { code, output } = await run("node", ["-e", start], 100);
    assert.is(code, 0, output);
    assert.match(output, /^done$/m);
  }, MINUTES);
}

/** Compiles a program, and returns its exit code and what g++ says. */
function compiled(name: string, text: string, ...words: string[]) {
  return compiledBy("g++", name, text, ...words);
}

function compiledBy(
  compiler: string,
  name: string,
  text: string,
  ...words: string[]
) {
  const file = path.join(BUILT, `${name}.cpp`);
  fs.mkdirSync(BUILT, { recursive: true });
  fs.writeFileSync(file, `#include <weft.hpp>\n${text}`);
  const all = ["-std=c++17", "-c", ...EVERY, ...words, "-I", WASM, file];
  return run(compiler, [...all, "-o", path.join(BUILT, `${name}.o`)], 100);
}

test("it compiles without exceptions, and for what must not block", async () => {
  const push = "bool f(weft::mpmc_queue<int> q) { return q.try_push(1); }";
  for (const words of [["-fno-exceptions"], ["-DWEFT_REALTIME"]]) {
    const { code, output } = await compiled("plain", push, ...words);
    assert.is(code, 0, output);
  }
  const text = "void f(weft::mpmc_queue<int> q) { q.push(1); }";
  const { code, output } = await compiled("wait", text, "-DWEFT_REALTIME");
  assert.is(code, 1);
  assert.match(output, "push");
});

test("an older C or C++ is an error that says which one it needs", async () => {
  const say = async (words: string[], header: string) => {
    const file = path.join(BUILT, `old.${words[0] === "g++" ? "cpp" : "c"}`);
    fs.writeFileSync(file, `#include <${header}>\n`);
    const all = [...words.slice(1), "-fsyntax-only", "-I", WASM, file];
    const { code, output } = await run(words[0]!, all, 100);
    assert.is(code, 1, words.join(" "));
    return output.match(/error: .*/)![0];
  };
  fs.mkdirSync(BUILT, { recursive: true });
  assert.match(await say(["g++", "-std=c++11"], "weft.h"), "needs C++17: ");
  assert.match(await say(["g++", "-std=c++14"], "weft.hpp"), "needs C++17: ");
  assert.match(await say(["gcc", "-std=c99"], "weft.h"), "needs C11: ");
  assert.match(await say(["gcc", "-std=gnu89"], "weft.h"), "needs C11: ");
  // Without the names of POSIX.
  assert.match(await say(["gcc", "-std=c11"], "weft_pthread.h"), "-std=gnu11");
});

test("it compiles after macros of others, and with more warnings", async () => {
  const macros = `
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define check(all) ((void)0)
#define verify(all) ((void)0)
#define small char
#define near
#define far
`;
  const text = `#include <weft.hpp>
int f() {
  weft::latch l(1);
  weft::semaphore s(1);
  l.arrive_and_wait(1);
  return (l.max)() + (s.max)();
}
`;
  const file = path.join(BUILT, "macros.cpp");
  fs.mkdirSync(BUILT, { recursive: true });
  fs.writeFileSync(file, macros + text);
  for (
    const words of [
      ["g++", "-std=c++20", "-Wredundant-decls", "-Wuseless-cast"],
      ["clang++", "-std=c++17", "-Wredundant-decls"],
    ]
  ) {
    const all = [...EVERY, ...words.slice(1), "-fsyntax-only", "-I", WASM];
    const { code, output } = await run(words[0]!, [...all, file], 100);
    assert.is(code, 0, output);
  }
});

test("a number out of range does not compile as a constant", async () => {
  for (
    const wrong of [
      "semaphore s(3, 2)",
      "semaphore s(-1)",
      "latch l(-1)",
      "barrier b(0)",
      "barrier b(WEFT_BARRIER_MAX + 1)",
    ]
  ) {
    const text = `constinit weft::${wrong};`;
    const { code, output } = await compiled("range", text, "-std=c++20");
    assert.is(code, 1, wrong);
    assert.match(output, /constant/);
  }
});

test("an element that cannot be shared is an error that says why", async () => {
  for (
    const [type, why] of [
      ["struct e { e(const e &); int i; }", "T is copied as bytes"],
      ["using e = std::unique_ptr<int, void (*)(int *)>", "is_relocatable<T>"],
      ["struct alignas(32) e { int i; }", "T is aligned at 16 or less"],
    ]
  ) {
    const text = `${type};\nweft::mpmc_queue<e> q(nullptr);`;
    const { code, output } = await compiled("refused", text);
    assert.is(code, 1);
    assert.match(output, why!);
  }
});

test("a key or value that a map cannot hold is an error that says why", async () => {
  for (
    const [types, why] of [
      ["const char *, int", "a key that is text is a std::string"],
      ["std::string_view, int", "text is a std::string"],
      ["int, std::string_view", "text is a std::string"],
      ["pad, int", "a key has no bytes between its members"],
      ["real, int", "a struct has no float or double"],
      ["int, std::vector<int>", "T is copied as bytes"],
    ]
  ) {
    const text = `struct pad { char c; int i; };\nstruct real { float f; };\n` +
      `weft::hash_map<${types}> f(void *at) {\n` +
      `  return weft::hash_map<${types}>::attach(at);\n}`;
    const { code, output } = await compiled("map", text);
    assert.is(code, 1, types);
    assert.match(output, why!);
  }
});

test("the compiler knows the size of an element: no push or pop calls memcpy", async () => {
  for (const compiler of ["g++", "clang++"]) {
    await need(compiler);
    for (const queue of ["spsc_queue", "mpmc_queue"]) {
      for (const T of ["char", "int", "pair", "std::unique_ptr<int>"]) {
        const text = `struct pair { int64_t a, b; };
bool f(weft::${queue}<${T}> q, ${T} &v) { return q.try_push(std::move(v)); }
std::optional<${T}> g(weft::${queue}<${T}> q) { return q.try_pop(); }`;
        const words = ["-O2", "-fno-exceptions", "-S"];
        const name = `sized-${compiler}`;
        const { code, output } = await compiledBy(
          compiler,
          name,
          text,
          ...words,
        );
        assert.is(code, 0, output);
        const made = fs.readFileSync(path.join(BUILT, `${name}.o`), "utf8");
        assert.match(made, /^_Z1f.*^_Z1g/ms); // the text of both functions
        assert.not.match(made, "memcpy", `${compiler}: ${queue}<${T}>`);
      }
    }
  }
});

test("a place of an element that is aligned at 16 is refused", async () => {
  const text = `struct alignas(16) e { int i[4]; };
void *f(weft::spsc_queue<e> q) { return q.reserve(); }`;
  const { code, output } = await compiled("place", text);
  assert.is(code, 1);
  assert.match(output, "aligned at 8 or less");
});

test("an arm that select cannot take is an error that says why", async () => {
  for (
    const [text, why] of [
      [
        "auto f(weft::mpmc_queue<int> q) { " +
        "auto arm = weft::pushing(q, 1); return weft::select(arm); }",
        "make it in the call",
      ],
      ["auto f() { return weft::select(); }", "select needs an arm"],
      [
        "auto f(weft::mpmc_queue<std::unique_ptr<int>> q, " +
        "const std::unique_ptr<int> &it) { " +
        "return weft::select(weft::pushing(q, it)); }",
        "move a T that is not plain bytes",
      ],
    ] as const
  ) {
    const { code, output } = await compiled("arm", text);
    assert.is(code, 1, text);
    assert.match(output, why);
  }
});

const GUARDED = `weft::mutex lock;
weft::rw_lock shared;
weft::recursive_mutex nested;
int a WEFT_GUARDED_BY(lock), b WEFT_GUARDED_BY(shared);
int c WEFT_GUARDED_BY(nested);
void held() WEFT_REQUIRES(lock) { a++; }
int all() {
  weft::guard whole(lock);
  weft::guard again(nested);
  held();
  shared.lock();
  b = a + ++c;
  shared.unlock();
  weft::shared_guard part(shared);
  return b;
}
int polled() {
  if (!lock.try_lock()) return 0;
  int n = a;
  lock.unlock();
  return n;
}
`;

test("clang -Wthread-safety follows each lock", async () => {
  await need("clang++");
  const check = (text: string) =>
    compiledBy("clang++", "safety", GUARDED + text, "-Wthread-safety");
  const { code, output } = await check("");
  assert.is(code, 0, output);
  for (
    const [text, why] of [
      ["int f() { return a; }", "'a' requires holding mutex 'lock'"],
      ["void f() { held(); }", "'held' requires holding mutex 'lock'"],
      ["void f() { lock.lock(); }", "'lock' is still held at the end"],
      ["void f() { shared.unlock(); }", "'shared' that was not held"],
      [
        "void f() { weft::shared_guard g(shared); b = 1; }",
        "'b' requires holding mutex 'shared' exclusively",
      ],
      [
        "void f() { nested.lock(); lock.lock(), nested.unlock(), a = c; }",
        "'c'",
      ],
    ]
  ) {
    const { code, output } = await check(text!);
    assert.is(code, 1, text);
    assert.match(output, why!);
  }
});

for (
  const [name, printed] of [["cpp", "20\n"], ["primitives/hash_map", ""]]
) {
  test(`the examples of docs/${name}.md run`, async () => {
    const file = path.join(WASM, "..", "docs", `${name}.md`);
    const texts = fs.readFileSync(file, "utf8").matchAll(
      /^```cpp\n(.*?)^```$/gms,
    );
    const stem = `page-${path.basename(file, ".md")}`;
    let output = "";
    for (const [i, [, text]] of [...texts].entries()) {
      const source = path.join(BUILT, `${stem}-${i}.cpp`);
      fs.mkdirSync(BUILT, { recursive: true });
      fs.writeFileSync(source, text!);
      const words = ["-std=c++17", "-O1", "-pthread", ...EVERY];
      const program = { name: `${stem}-${i}`, compiler: "g++", words };
      const built = await build({ ...program, sources: [source] });
      const ran = await run(built, [], 100);
      assert.is(ran.code, 0, ran.output);
      output += ran.output;
    }
    assert.is(output, printed);
  });
}

interface Module {
  wasmMemory: WebAssembly.Memory;
  _queue(i: number): number;
  _length(): number;
  _begin(): number;
}

test("a queue of T and one of a struct are one queue", async () => {
  const sources = [path.join(FIXTURES, "points.cpp")];
  const args = [
    ...PTHREADS,
    ...[
      "-O1", // links fast
      "-std=c++17",
      "-fno-exceptions",
      "-sPTHREAD_POOL_SIZE=1",
      `-I${WASM}`,
      ...WARNINGS,
    ],
  ];
  await emcc({ sources, args, out: MODULE });
  const { default: load } = await import(MODULE);
  const module: Module = await load();
  const { wasmMemory: memory } = module;
  const Point = struct({ id: "u32", x: "f64", name: field.text(8) });
  const config = { capacity: 8, element: Point };
  assert.is(module._length(), MpmcQueue.byteLength(config));
  const there = MpmcQueue.init(memory, module._queue(0) >>> 0, config);
  const at = module._queue(1) >>> 0;
  const { buffer } = there;
  const back = MpmcQueue.from({ kind: "mpmc_queue", buffer, byteOffset: at }, {
    element: Point,
  });
  assert.is(module._begin(), 0);
  for (let id = 0; id < 100; id++) {
    await there.pushAsync({ id, x: id / 4, name: "point" });
    assert.equal(await back.popAsync(), { id: id + 1, x: id / 2, name: "p" });
  }
  there.close();
  const error = await back.popAsync().catch((error: Error) => error);
  assert.is((error as Error).name, "ClosedError");
});
