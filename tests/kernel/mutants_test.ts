// limit: 300 s
// it explores
// What tests the mistakes of the kernel. Its functions are those of weft.h, and
// the mutants of C break these: each function that the kernel calls must be
// among them. Some of these mistakes are made in the kernel's modules, too, and
// some in the code that the kernel alone has. The race scenarios of the classes
// must notice, with agents that use the kernel.
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import * as TEXT from "../../primitives/kernel/_text.ts";
import { amalgamation } from "../../wasm/_amalgamation.ts";
import { kernelModule, STEMS } from "../../wasm/kernel_build.ts";
import { suite } from "../_run/harness.ts";
import { race } from "../../race/mod.ts";
import { LOOKS, type Scenario, scenariosIn, STEPS } from "../_run/scenario.ts";
import { type Stage, stageOf } from "./stage.ts";
import { type Edit, edited } from "../_run/edits.ts";
import { headerFiles } from "../_run/header.ts";
import { changesOf, mutatedHeader } from "../_run/mutant.ts";
import { mutantsIn, mutantsOf, MUTATED } from "../_run/mutants.ts";

const test = suite("kernel, mutants", 120_000);

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const read = (name: string) =>
  fs.readFileSync(path.join(PROJECT, name), "utf8");

// ---- the functions of weft.h ------------------------------------------------

/** The functions of a C text, by name, and what stands in each. */
function functionsOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const begin = /^(?:static|WEFT_KERNEL|int|void|double|const)[^;={]*?\{/gm;
  for (const { 0: head, index } of text.matchAll(begin)) {
    const name = /WEFT_KERNEL\((\w+), (\w+)\)/.exec(head);
    const plain = /\b(weft\w*)\s*\(/.exec(head)?.[1];
    const end = text.indexOf("\n}", index);
    const body = text.slice(index, end < 0 ? undefined : end);
    if (name !== null) found.set(`${name[1]}.${name[2]}`, body);
    else if (plain !== undefined) found.set(plain, body);
  }
  return found;
}

const headers = new Map(
  Object.entries(headerFiles()).flatMap(([, text]) => [...functionsOf(text)]),
);

/** All functions of weft.h that a text calls, directly or not. */
function reachedFrom(body: string, seen = new Set<string>()): Set<string> {
  for (const [name] of body.matchAll(/\bweft\w+/g)) {
    const inner = headers.get(name);
    if (inner === undefined || seen.has(name)) continue;
    seen.add(name);
    reachedFrom(inner, seen);
  }
  return seen;
}

const squeezed = (text: string) => text.replace(/(\s|\\\n)+/g, " ");

/** The functions of weft.h that a mutant of C breaks. */
async function broken(): Promise<Set<string>> {
  const found = new Set<string>();
  const texts = [...headers].map(([name, body]) =>
    [name, squeezed(body)] as const
  );
  for (const folder of MUTATED) {
    for (const { c } of await mutantsIn(folder)) {
      for (const [from] of changesOf(c) ?? []) {
        const wanted = squeezed(from.trim());
        for (const [name, body] of texts) {
          if (body.includes(wanted)) found.add(name);
        }
      }
    }
  }
  return found;
}

/** Functions of the kernel that no mutant can reach, and why. */
const APART: Readonly<Record<string, string>> = {
  "mutex.lock": "one exchange of its own; its mistakes are below",
};

/** The kernel's source, with its macros written out for each primitive. */
function kernelSource(): string {
  const text = read("wasm/kernel.c");
  const macros = [...text.matchAll(
    /^#define (WEFT__KERNEL_\w+)\(type\)\s*\\\n((?:.*\\\n)*.*)\n/gm,
  )];
  const uses = [...text.matchAll(/^(WEFT__KERNEL_\w+)\((\w+)\)$/gm)];
  const made = uses.map(([, name, type]) => {
    const [, , body] = macros.find(([, macro]) => macro === name)!;
    return body!.replace(/[ \t]*\\$/gm, "").replace(/^ {2}/gm, "")
      .replaceAll("##type##", type!).replace(/\btype\b/g, type!)
      .replaceAll("weft_##" + type, `weft_${type}`);
  });
  return [text, ...made].join("\n");
}

const exported = [...functionsOf(kernelSource())]
  .filter(([name]) => name.includes("."));

test("each function of the kernel is among those that were read", () => {
  const texts: Readonly<Record<string, string>> = TEXT;
  const names = STEMS.flatMap((stem) => {
    const bytes = Buffer.from(texts[stem.toUpperCase()]!, "base64");
    return WebAssembly.Module.exports(new WebAssembly.Module(bytes))
      .map(({ name }) => `${stem}.${name}`);
  });
  assert.equal(exported.map(([name]) => name).toSorted(), names.toSorted());
});

test("each function of the kernel calls one that a mutant of C breaks", async () => {
  const mistakes = await broken();
  const without = exported.filter(([name, body]) =>
    !(name in APART) &&
    ![...reachedFrom(body)].some((reached) => mistakes.has(reached))
  );
  assert.equal(without.map(([name]) => name), []);
});

// ---- mistakes in the modules, and beside them -------------------------------

/** How far the scenarios are explored: most mistakes need few states. */
const BUDGETS = [
  { states: 300, runs: 0, time: 20_000 },
  { states: 3_000, runs: 0, time: 20_000 },
];

/** The scenario of `folder` that finds a mistake; `by` is explored first. */
async function foundBy(
  { weft }: Stage,
  folder: string,
  by?: string,
): Promise<string | undefined> {
  const scenarios = (await scenariosIn(folder))(weft);
  const likely = scenarios.filter(({ name }) => name === by);
  return await finding(likely) ?? await finding(scenarios);
}

/** The one of `scenarios` that fails first. */
async function finding(
  scenarios: readonly Scenario[],
): Promise<string | undefined> {
  const left = new Set(scenarios);
  for (const budget of BUDGETS) {
    for (const scenario of left) {
      const { name, spec, agents, options } = scenario;
      const { failure, complete } = await race.check(spec, ...agents, {
        looks: LOOKS,
        polls: false,
        maxSteps: STEPS,
        lines: false,
        shorten: false, // a mistake only has to be found
        ...options,
        ...budget,
      });
      if (complete) left.delete(scenario);
      if (failure === undefined) continue;
      // Of that, every mutant would seem to die.
      if (failure.message.includes("is not a function")) {
        throw new Error(failure.message);
      }
      return name;
    }
  }
  return undefined;
}

const texts: Readonly<Record<string, string>> = TEXT;
const embedded = (stem: string) =>
  Buffer.from(texts[stem.toUpperCase()]!, "base64");

/** The scenarios with a mistake in the header or in kernel.c. */
async function withModule(
  stem: string,
  { name, header, kernel = read("wasm/kernel.c") }: {
    name: string;
    header: string;
    kernel?: string;
  },
): Promise<Stage> {
  const folder = path.join(PROJECT, ".weft", "kernel", name);
  fs.mkdirSync(folder, { recursive: true });
  const put = (file: string, text: string) => {
    const at = path.join(folder, file);
    if (!fs.existsSync(at) || fs.readFileSync(at, "utf8") !== text) {
      fs.writeFileSync(at, text);
    }
    return at;
  };
  put("weft.h", header);
  const bytes = await kernelModule(stem, put("kernel.c", kernel));
  return await stageOf((other) => other === stem ? bytes : embedded(other));
}
/** One mistake of weft.h for each primitive, and the scenario that finds it. */
const IN_HEADER: readonly [stem: string, what: string, by: string][] = [
  ["mutex", "MX4: never notifies", "lock, lock"],
  [
    "semaphore",
    "SE4: takes by load and store",
    "one permit, two agents",
  ],
  ["event", "sets by a store", "set wakes two"],
  ["latch", "counts by a store", "two steps, two sleepers"],
  ["spsc_queue", "SP1: publishes before it writes", "tryPush, tryPop"],
  ["mpmc_queue", "MQ1: publishes before it writes", "tryPush, tryPop"],
  [
    "lock_free_queue",
    "(P): publishes before it writes",
    "two push, one finds it full",
  ],
  ["record_ring", "(C): commits plainly", "two producers, one consumer"],
  [
    "work_counter",
    "WC1: never notices that all is done",
    "done by two, awaited by one",
  ],
  [
    "work_deque",
    "(P): publishes before it writes",
    "push and pop beside two thieves",
  ],
  ["slab_pool", "takes a block by a store", "two use one block"],
  ["hash_map", "unlocks a bucket by a store", "two add to one number"],
];

/** Mistakes in what kernel.c has of its own. */
const IN_KERNEL: readonly [
  stem: string,
  what: string,
  by: string,
  edit: Edit,
][] = [
  [
    "mutex",
    "a lock takes it, whoever holds it",
    "lock, lock",
    "[-weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, " +
    "id)-]{+(weft__store(&m->state, id), 0)+}",
  ],
  [
    "work_counter",
    "an empty range is the first task",
    "next past the end",
    "range.start[- == range.end ? -1 : range.start-]",
  ],
  [
    "record_ring",
    "a producer claims for nobody",
    "two agents push where one may",
    "[- weft__kernel_enter(id);-] return weft_record_ring_reserve",
  ],
  [
    "record_ring",
    "a consumer reads for nobody",
    "two consumers that pop into arrays",
    "[- weft__kernel_enter(id);-] return weft_record_ring_peek",
  ],
  [
    "hash_map",
    "a reader believes an entry that is used again",
    "a reader beside an entry that is used again",
    "[-if (weft__load(&place.bucket->-]{+(void)+}version[-) != version) " +
    "continue-];",
  ],
  [
    "hash_map",
    "a writer takes no lock",
    "one adds to a number whose entry is used again",
    "[-if (!weft__hash_try_lock(place.bucket)) return " +
    "weft__kernel_value(EBUSY, 0);-]{+bool locks = " +
    "weft__hash_try_lock(place.bucket);\n#define weft__hash_unlock(bucket) " +
    "((void)(locks && (weft__hash_unlock(bucket), 1)))+}",
  ],
];

/** Mistakes in the classes that call the kernel. */
const IN_CLASSES: readonly [
  stem: string,
  file: string,
  what: string,
  by: string,
  edit: Edit,
][] = [
  [
    "mutex",
    "locks",
    "a lock is held although the kernel did not get it",
    "lock, lock",
    "if (kernel.lock(this.at, this.#id) [-=== 0-]{+!== -1+}) {",
  ],
  [
    "semaphore",
    "locks",
    "a permit is taken although there is none",
    "one permit, two agents",
    "mayBlock() && kernel.try_acquire(this.at, n) [-=== 0-]{+!== -1+}",
  ],
  [
    "latch",
    "locks",
    "counts twice",
    "two steps, two sleepers",
    "[-if (isWord(n) && -]this.kernel?.count_down(this.at, n)[- === 0) " +
    "return-];",
  ],
  [
    "mpmc_queue",
    "queues",
    "an element is there although there is none",
    "tryPush, tryPop",
    "[-if (value < NO_VALUE) -]return value{+ | 0+};",
  ],
  [
    "hash_map",
    "memory",
    "a key is there although it is not",
    "a reader beside an entry that is used again",
    "if (found === NO_KEY) return [-undefined-]{+0+};",
  ],
];

for (const [stem, what, by] of IN_HEADER) {
  test(`the module of ${stem} in which weft.h ${what}`, async () => {
    const [mutant, ...others] = (await mutantsOf(stem, "c"))
      .filter((mutant) => mutant.what === what);
    assert.ok(mutant, "there is no such mutant");
    assert.is(others.length, 0, "there are several such mutants");
    const header = mutatedHeader(mutant, stem);
    const stage = await withModule(stem, { name: `header_${stem}`, header });
    assert.ok(await foundBy(stage, stem, by), "it survives");
  });
}

for (const [stem, what, by, edit] of IN_KERNEL) {
  test(`the module of ${stem} in which ${what}`, async () => {
    const kernel = edited("kernel.c", read("wasm/kernel.c"), edit);
    const name = `kernel_${stem}`;
    const header = amalgamation(headerFiles());
    const stage = await withModule(stem, { name, header, kernel });
    assert.ok(await foundBy(stage, stem, by), "it survives");
  });
}

for (const [stem, name, what, by, edit] of IN_CLASSES) {
  test(`the class of ${stem} in which ${what}`, async () => {
    const path = `../../primitives/kernel/${name}.ts`;
    const file = new URL(path, import.meta.url);
    const text = edited(path, fs.readFileSync(file, "utf8"), edit);
    const stage = await stageOf(embedded, { file, text });
    assert.ok(await foundBy(stage, stem, by), "it survives");
  });
}
