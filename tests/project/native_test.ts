// it is long
import * as path from "node:path";
import * as assert from "uvu/assert";
import * as realtime from "../../primitives/realtime.ts";
import { OPERATIONS as MEASURED } from "../realtime/allocations.ts";
import { suite } from "../_run/harness.ts";
import {
  ALONE,
  everyFunction,
  functionsOf,
  headerText,
  INCLUDE,
} from "../_run/header.ts";
import {
  build,
  BUILT,
  MAKES,
  need,
  needSanitizers,
  Pool,
  type Program,
  run,
  SOURCES,
  WARNINGS,
  writeSource,
} from "../_run/native.ts";

const pool = new Pool(2);

const source = (name: string) => path.join(SOURCES, name);

const test = suite("weft.h, natively");

/** Begins `task` as soon as a lane is free; the test waits for its end. */
function later(
  name: string,
  task: () => Promise<void>,
): void {
  // From the start, so that two work at a time; a failure waits for its test.
  const end = pool.run(task).then(() => undefined, (error) => error);
  test(name, async () => {
    const error = await end;
    if (error !== undefined) throw error;
  });
}

test("weft.h has functions to compile", () => {
  assert.ok(functionsOf(headerText()).length > 60);
});

test("one header is a small part of weft.h", async () => {
  const linesOf = async (name: string) => {
    const file = made("weight.c", `#include <${name}>\n`);
    const { code, output } = await run(
      "gcc",
      ["-E", "-P", "-I", INCLUDE, file],
      50,
    );
    assert.is(code, 0, output);
    return output.split("\n").length;
  };
  const whole = await linesOf("weft.h");
  for (const name of ["mutex", "semaphore", "rw_lock", "mpmc_queue"]) {
    const part = await linesOf(`weft/${name}.h`);
    assert.ok(part < whole / 4, `${name}: ${part} of ${whole} lines`);
  }
});

test("one header is not much longer than <pthread.h>", async () => {
  // Each line that a compiler reads counts, those of the system's headers, too.
  // The time counts more, but differs from run to run: 50 files with one of
  // these headers took gcc 1.03 and 1.17 times as long as with pthread.h.
  const linesOf = async (name: string, as: string) => {
    const file = made(`weight.${as}`, `#include <${name}>\n`);
    const words = ["-E", "-P", "-I", INCLUDE, file];
    return (await run("gcc", words, 50)).output.split("\n").length;
  };
  for (const as of ["c", "cpp"]) {
    const theirs = await linesOf("pthread.h", as);
    for (
      const [name, most] of [["mutex", 1.1], ["spsc_queue", 1.84]] as const
    ) {
      const ours = await linesOf(`weft/${name}.h`, as);
      const found = `${name}: ${ours}, pthread.h: ${theirs}, ${as}`;
      assert.ok(ours < theirs * most, found);
    }
  }
});

// ---- every standard, without a warning --------------------------------------

/** Writes a source that is made here. */
const made = (name: string, text: string): string =>
  writeSource(BUILT, name, text);

const EVERY = everyFunction({ stdio: true });
/** Standards whose code is optimized: some warnings come from there. */
const OPTIMIZED = ["c17", "c++17"];
const STANDARDS = {
  c: [["c11"], ["c17"], ["c23", "c2x"]],
  cpp: [["c++17"], ["c++20"], ["c++23", "c++2b"]],
};

/** Compiles with the first of `names` that the compiler knows. */
async function compileAs(names: string[], program: Program) {
  for (const name of names) {
    const { compiler, words, sources } = program;
    const std = `-std=${name}`;
    const all = { ...program, words: [std, ...words] };
    const tried = await build(all).then(() => undefined, (error) => error);
    if (tried === undefined) return;
    const empty = [std, "-fsyntax-only", "-x", "c", "/dev/null"];
    if (sources[0]!.endsWith("cpp")) empty[3] = "c++";
    if ((await run(compiler, empty, 250)).code === 0) throw tried;
  }
  throw new Error(`${program.compiler} knows none of ${names}`);
}

for (const [c, cpp] of MAKES) {
  for (const [language, standards] of Object.entries(STANDARDS)) {
    const compiler = language === "c" ? c : cpp;
    for (const names of standards) {
      later(`${compiler} -std=${names[0]} says nothing`, async () => {
        for (
          const [name, text] of Object.entries({ every: EVERY, alone: ALONE })
        ) {
          await compileAs(names, {
            name: `${name}-${compiler}-${names[0]}.o`,
            compiler,
            words: [
              OPTIMIZED.includes(names[0]!) ? "-O1" : "-O0",
              "-c",
              ...WARNINGS,
              "-Wcast-align",
            ],
            sources: [made(`${name}.${language}`, text)],
          });
        }
      });
    }
  }
}

test("C++ says nothing of the casts in the headers", async () => {
  const output = await run("g++", [
    ...["-std=c++17", "-fsyntax-only", "-Werror", "-I", INCLUDE],
    ...["-Wold-style-cast", "-Wuseless-cast", "-Wsign-conversion", "-Wshadow"],
    made("casts.cpp", "#define WEFT_STDIO\n#include <weft.h>\n"),
  ], 250);
  assert.is(output.code, 0, output.output);
});

for (const [c, cpp] of MAKES) {
  for (const [compiler, std] of [[c, "c11"], [cpp, "c++17"]] as const) {
    later(`${compiler} says nothing of the copies it inlines`, async () => {
      // Some warnings come from what -O3 alone inlines.
      const words = [`-std=${std}`, "-O3", "-c", ...WARNINGS];
      await build({
        name: `inlined-${compiler}.o`,
        compiler,
        words: compiler === c ? words : [...words, "-x", "c++"],
        sources: [source("inlined.c")],
      });
    });
  }
}

test("a lock whose result is ignored is a warning", async () => {
  const { output } = await run("gcc", [
    ...["-c", "-I", INCLUDE, "-o", path.join(BUILT, "ignored.o")],
    made(
      "ignored.c",
      "#include <weft/mutex.h>\nvoid f(weft_mutex *m);\n" +
        "void f(weft_mutex *m) { weft_mutex_lock(m, 5); }\n",
    ),
  ], 250);
  assert.match(output, /ignoring return value of .weft_mutex_lock./);
});

test("processes that share memory wake each other", async () => {
  const file = await build({
    name: "processes",
    compiler: "gcc",
    words: ["-O2", "-std=gnu11", "-pthread"],
    sources: [source("processes.c")],
  });
  const { code, output } = await run(file, [], 250);
  assert.is(code, 0, output);
});

for (const [compiler, standard] of [["gcc", "c11"], ["clang", "gnu17"]]) {
  test(`a wait for ever reads no clock: ${compiler}`, async () => {
    await need(compiler!);
    const file = await build({
      name: `clock-${compiler}`,
      compiler: compiler!,
      words: ["-O2", `-std=${standard}`, "-pthread", ...WARNINGS],
      sources: [source("clock.c")],
    });
    const { code, output } = await run(file, [], 250);
    assert.is(code, 0, output);
    assert.match(output, /^done$/m);
  });
}

for (const standard of ["gnu11", "c17"]) {
  test(`the child of a fork is another agent: ${standard}`, async () => {
    const file = await build({
      name: `fork-${standard}`,
      compiler: "gcc",
      words: ["-O2", `-std=${standard}`, "-D_DEFAULT_SOURCE", "-pthread"],
      sources: [source("fork.c")],
    });
    const { code, output } = await run(file, [], 250);
    assert.is(code, 0, output);
  });
}

test("a system may refuse random numbers and fences", async () => {
  const file = await build({
    name: "refused",
    compiler: "gcc",
    words: ["-O2", "-std=gnu11", "-pthread", ...WARNINGS],
    sources: [source("refused.c")],
  });
  const { code, output } = await run(file, [], 100);
  assert.is(code, 0, output);
});

// ---- the names of POSIX -----------------------------------------------------

const POSIX = ["-D_GNU_SOURCE", "-pthread", "-include", "weft_pthread.h"];

for (
  const [compiler, words] of [["gcc", []], ["clang", ["-std=gnu17"]]] as const
) {
  test(`POSIX's locks are ours by weft_pthread.h: ${compiler}`, async () => {
    await need(compiler);
    const file = await build({
      name: `posix-${compiler}`,
      compiler,
      words: ["-O2", ...words, ...WARNINGS, ...POSIX],
      sources: [source("posix.c")],
    });
    const { code, output } = await run(file, [], 250);
    assert.is(code, 0, output);
    assert.match(output, /^done$/m);
  });
}

for (const compiler of ["g++", "clang++"]) {
  test(`weft_pthread.h leaves std::mutex as it is: ${compiler}`, async () => {
    await need(compiler);
    const file = await build({
      name: `posix-${compiler}`,
      compiler,
      words: ["-O2", "-std=c++17", ...WARNINGS, ...POSIX],
      sources: [source("posix_cpp.cpp")],
    });
    const { code, output } = await run(file, [], 50);
    assert.is(code, 0, output);
    assert.match(output, /^done$/m);
  });
}

test("a program that needs what weft_pthread.h lacks does not compile", async () => {
  for (
    const [call, why] of [
      ['sem_open("/a", 0)', "no_named_semaphores"],
      ["pthread_mutex_consistent(0)", "no_robust_mutexes"],
      ["pthread_mutex_consistent_np(0)", "no_robust_mutexes"],
      ["pthread_mutexattr_setrobust_np(0, 0)", "no_robust_mutexes"],
      ["pthread_mutexattr_setprotocol(0, 0)", "no_priorities"],
      ["pthread_cancel(pthread_self())", "no_cancellation"],
    ]
  ) {
    const text = `void f(void);\nvoid f(void) { ${call}; }\n`;
    const { code, output } = await run("gcc", [
      ...[...WARNINGS, ...POSIX, "-I", INCLUDE, "-c"],
      ...[made("refused.c", text), "-o", path.join(BUILT, "refused.o")],
    ], 100);
    assert.is(code, 1, call);
    assert.match(output, why!);
  }
});

// ---- programs ---------------------------------------------------------------

const PLAIN = ["-O2"];
const THREAD_SANITIZER = ["-O1", "-g1", "-fsanitize=thread"];

// Units of both languages, of every pair of compilers, become one program.
for (const [c] of MAKES) {
  for (const [, cpp] of MAKES) {
    const both = { plain: PLAIN, thread: THREAD_SANITIZER };
    for (const [title, words] of Object.entries(both)) {
      // Of one make, which has them.
      const pure = (c === "clang") === (cpp === "clang++");
      if (title !== "plain" && !pure) continue;
      later(`${c} and ${cpp}: a thread has one id, ${title}`, async () => {
        if (title !== "plain") await needSanitizers(cpp);
        const half = (compiler: string, std: string, file: string) =>
          build({
            name: `${file}-${c}-${cpp}-${title}.o`,
            compiler,
            words: [std, "-c", ...WARNINGS, ...words],
            sources: [source(file)],
          });
        const objects = [
          await half(c, "-std=c11", "units.c"),
          await half(cpp, "-std=c++17", "units_cpp.cpp"),
        ];
        const file = await build({
          name: `units-${c}-${cpp}-${title}`,
          compiler: cpp,
          words: ["-pthread", ...words],
          sources: objects,
        });
        const { code, output } = await run(file, [], 250);
        assert.is(code, 0, output);
        assert.match(output, /^done$/m);
      });
    }
  }
}

// ---- what the compiler refuses ----------------------------------------------

/** What gcc says about `weft.h` with `from` replaced. */
async function complaint(from: string, to: string): Promise<string> {
  const text = headerText();
  assert.ok(text.includes(from), from);
  const file = made("mutated.c", text.replace(from, to));
  const { code, output } = await run("gcc", ["-fsyntax-only", file], 250);
  assert.is(code, 1, output);
  return output;
}

test("a word in another place is an error that names it", async () => {
  assert.match(
    await complaint("  int32_t claimant;", "  int32_t lap, claimant;"),
    "weft_semaphore.claimant is not word 7 as in primitives/_memory/layout.ts",
  );
  assert.match(
    await complaint("WEFT_LENGTH(mutex, 2)", "WEFT_LENGTH(mutex, 3)"),
    "weft_mutex is not 3 words long as in primitives/_memory/layout.ts",
  );
});

// ---- WEFT_REALTIME ----------------------------------------------------------

const REALTIME = [
  "-DWEFT_REALTIME",
  "-DWEFT_STDIO",
  "-I",
  INCLUDE,
];

/**
 * The operations of each class of `realtime.ts`: those it lists, and of queues
 * and rings, which it does not list, those whose allocations are measured. A
 * test of `realtime.ts` sees that all are.
 */
function operationsOfRealtime(): [name: string, operations: string[]][] {
  const cores = ["SpscQueue", "MpmcQueue", "LockFreeQueue", "RecordRing"];
  const ofCores = cores.map((name): [string, string[]] => {
    const words = Object.keys(MEASURED)
      .filter((line) => line.split(/[. ]/, 1)[0] === name)
      .flatMap((line) => line.split(/\W/));
    const { prototype } = Reflect.get(realtime, name);
    // C reserves and peeks where a channel asks for places.
    const isTwin = (word: string) => word in prototype && !/place/i.test(word);
    return [name, [...new Set(words)].filter(isTwin)];
  });
  const listed = Object.entries(realtime.OPERATIONS)
    .map(([name, operations]): [string, string[]] => [name, [...operations]]);
  return [...ofCores, ...listed];
}

/** `realtime.ts`'s operations by their twins' names, but for what differs. */
function twinsOfRealtime(): string[] {
  const snake = (name: string) =>
    name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
  const stems: Record<string, string> = {
    Snapshot: "snapshot",
    StripedCounter: "striped_counter",
  };
  return operationsOfRealtime().flatMap(([name, operations]) =>
    operations
      .map(snake)
      .map((twin) => twin.replace(/^try_pop_into$/, "try_pop"))
      .map((twin) => `weft_${stems[name] ?? snake(name).slice(1)}_${twin}`)
  );
}

test("WEFT_REALTIME leaves what realtime.ts has, and nothing that waits", async () => {
  const { code, output } = await run("gcc", [
    "-E",
    "-P",
    ...REALTIME,
    made("realtime.c", '#include "weft.h"\n'),
  ], 250);
  assert.is(code, 0, output);
  const left = functionsOf(output);
  const twins = twinsOfRealtime();
  assert.ok(twins.length > 70);
  assert.equal(twins.filter((name) => !left.includes(name)), []);
  assert.equal(output.match(/weft__sleep\w*|\btimeout\b|\bdeadline\b/g), null);
  const stems = twins.map((name) => name.match(/^weft_[a-z]+/)![0]);
  const common = /^weft_(agent|attach)/;
  const more = left.filter((name) =>
    !common.test(name) && !stems.some((stem) => name.startsWith(stem))
  );
  assert.equal(more, []);
});

test("WEFT_REALTIME makes a call that waits an error that names it", async () => {
  const gone = functionsOf(headerText()).filter((name) =>
    /^weft_(mutex|rw_lock|condition|barrier|once|channel|call_ring|inspect)_?/
      .test(name) ||
    /_(acquire|push|pop|push_int|pop_int|wait|arrive_and_wait)$/.test(name) &&
      !/_(try_\w+|deque_\w+)$/.test(name)
  );
  assert.ok(gone.length > 60);
  const file = made(
    "gone.c",
    `#include "weft.h"\n${
      gone.map((name, i) => `void *gone${i} = (void *)${name};\n`).join("")
    }`,
  );
  const { code, output } = await run("gcc", [
    "-fsyntax-only",
    "-fmax-errors=0",
    ...REALTIME,
    file,
  ], 250);
  assert.is(code, 1);
  const told = [...output.matchAll(/error: .(weft_\w+). undeclared/g)];
  assert.equal(told.map(([, name]) => name), gone);
});
