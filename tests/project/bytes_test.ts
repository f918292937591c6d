// it is long
// The sizes that macros of C and functions of TypeScript give are the same.
import * as fs from "node:fs";
import * as path from "node:path";
import * as assert from "uvu/assert";
import {
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  type Codec,
  codec,
  HashMap,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  RwLock,
  Semaphore,
  ShapeTable,
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  struct,
  valueCodec,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import * as mod from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { wasmClang } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { headerFiles } from "../_run/header.ts";
import {
  build,
  BUILT,
  need,
  run,
  WARNINGS,
  writeSource,
} from "../_run/native.ts";

const test = suite("WEFT_..._BYTES", 120_000);

/** A class whose memory has one size. */
interface Fixed {
  byteLength(): number;
}

/** One configuration: its macro, its function, and its bytes. */
interface Row {
  macro: string;
  call: string;
  bytes: number;
}

/** The bytes in TypeScript; 0, as in C, for what is out of range. */
function bytesOf(byteLength: () => number): number {
  try {
    return byteLength();
  } catch (error) {
    assert.instance(error, RangeError);
    return 0;
  }
}

const HEADERS = Object.values(headerFiles());

/** The classes whose memory has one size in C, by their stems. */
const FIXED = Object.fromEntries(
  Object.keys(LAYOUT).flatMap((stem): [string, Fixed][] => {
    const name = stem.replace(
      /(?:^|_)([a-z])/g,
      (_, first) => first.toUpperCase(),
    );
    const type = (mod as unknown as Record<string, Fixed>)[name]!;
    const macro = `#define WEFT_${stem.toUpperCase()}_BYTES `;
    return HEADERS.some((text) => text.includes(macro)) ? [[stem, type]] : [];
  }),
);

const SIZES = [4, 8, 12, 16, 100, 1 << 20];
const CAPACITIES = [1, 2, 3, 8, 9, 255, 256, 1000, 1 << 20];

/** All pairs of `as` and `bs`. */
function pairs(as: number[], bs: number[]): [a: number, b: number][] {
  return as.flatMap((a) => bs.map((b): [number, number] => [a, b]));
}

/** Rows of a class whose configuration has numbers only. */
function rowsOf(
  stem: string,
  config: string | undefined,
  configs: number[][],
  byteLength: (...config: number[]) => number,
): Row[] {
  return configs.map((numbers) => {
    const list = numbers.join(", ");
    const given = config === undefined ? list : `(${config}){${list}}`;
    return {
      macro: `WEFT_${stem.toUpperCase()}_BYTES(${list})`,
      call: `weft_${stem}_bytes(${given})`,
      bytes: bytesOf(() => byteLength(...numbers)),
    };
  });
}

/** Rows of channels, whose codecs are objects. */
function channels(): Row[] {
  const codecs = {
    TEXT: codec.text,
    JSON: codec.json,
    VALUE: valueCodec,
    I32: codec.i32,
    F64: codec.f64,
    RECORD: codec.record(struct({ id: "u32", x: "f64", y: "u8" })),
  };
  const sized = (size: number) => size === 0 ? undefined : size;
  return Object.entries(codecs).flatMap(([name, codec]) => {
    // A struct whose size is that of the record; elsewhere what to reckon with.
    const sizes = name === "RECORD" ? [24] : [0, 16, 17, 100, 15, 1 << 29];
    if (name === "I32" || name === "F64") sizes.length = 1;
    return pairs([...CAPACITIES, 0, 1 << 30], sizes).map(([capacity, size]) => {
      const list = `WEFT_CHANNEL_${name}, ${capacity}, ${size}`;
      const messageSize = name === "RECORD" ? undefined : sized(size);
      return {
        macro: `WEFT_CHANNEL_BYTES(${list})`,
        call: `weft_channel_bytes((weft_channel_config){${list}, 0, 0})`,
        bytes: bytesOf(() =>
          Channel.byteLength<unknown>({
            codec,
            capacity,
            ...(messageSize === undefined ? {} : { messageSize }),
          } as never)
        ),
      };
    });
  });
}

/** Rows of maps, whose codecs are objects. */
function maps(): Row[] {
  const Small = struct({ id: "u8" });
  const codecs = {
    TEXT: codec.text,
    VALUE: valueCodec,
    I32: codec.i32,
    F64: codec.f64,
    RECORD: codec.record(Small),
  } as Record<string, Codec<unknown>>;
  const fixed: Record<string, number> = { I32: 4, F64: 8, RECORD: 1 };
  const kinds = [
    ["TEXT", "I32"],
    ["I32", "TEXT"],
    ["VALUE", "F64"],
    ["F64", "RECORD"],
    ["RECORD", "VALUE"],
  ] as const;
  const capacities = [1, 2, 3, 4, 7, 33, 1000, 1 << 20, 0, 1 << 28];
  return kinds.flatMap(([key, value]) =>
    pairs(capacities, [1, 5, 4095, 0, 65536]).map(([capacity, size]) => {
      const keySize = fixed[key] ?? size;
      const valueSize = fixed[value] ?? size;
      const list = `${capacity}, WEFT_HASH_MAP_${key}, ${keySize}, ` +
        `WEFT_HASH_MAP_${value}, ${valueSize}`;
      const rowOf = (of: string, evicts: boolean, ttl: number) => ({
        macro: `WEFT_HASH_MAP_${of}BYTES(${list})`,
        call: "weft_hash_map_bytes(" +
          `(weft_hash_map_config){${list}, 0, ${evicts}, ${ttl}})`,
        bytes: bytesOf(() =>
          HashMap.byteLength({
            capacity,
            evict: evicts ? "clock" : undefined,
            ttl: ttl === 0 ? undefined : ttl,
            key: codecs[key]!,
            value: codecs[value]!,
            ...key in fixed ? {} : { keySize },
            ...value in fixed ? {} : { valueSize },
          })
        ),
      });
      return [
        rowOf("", false, 0),
        rowOf("CACHE_", true, 0),
        ...size === 5 ? [rowOf("TTL_", true, 1000)] : [],
      ];
    }).flat()
  );
}

/** Rows of maps with a heap, some of which are out of range. */
function heaps(): Row[] {
  const blocks = [0, 1, 31, 32, 33, 1024, 1025, 1 << 20];
  return pairs([0, 1, 33, 1000], blocks).flatMap(([capacity, count]) =>
    [8, 10, 12, 128, 65536, 65540].map((blockSize) => {
      const list = `${capacity}, WEFT_HASH_MAP_I32, 4, WEFT_HASH_MAP_TEXT, 1`;
      const bytes = count * blockSize;
      const given = bytes < 2 ** 31 ? bytes : 2 ** 31 - 1;
      return {
        macro: "WEFT_HASH_MAP_HEAP_BYTES(WEFT_HASH_MAP_BYTES(" +
          `${list}), ${count}, ${blockSize})`,
        call: "weft_hash_map_bytes_with_heap(" +
          `(weft_hash_map_config){${list}, 0, 0, 0}, ` +
          `(weft_hash_map_heap){${given}, ${blockSize}, 4, 0})`,
        bytes: bytesOf(() =>
          HashMap.byteLength({
            capacity,
            key: codec.i32,
            value: codec.text,
            valueSize: 4,
            heap: { bytes, blockSize, inEntry: 1 },
          })
        ),
      };
    })
  );
}

/** Rows of primitives that are tracked. */
function tracked(): Row[] {
  const types: Record<string, (tracked: number) => number> = {
    semaphore: (tracked) => Semaphore.byteLength(0, { tracked }),
    rw_lock: (tracked) => RwLock.byteLength({ tracked }),
    barrier: (tracked) => Barrier.byteLength(tracked, { tracked }),
    work_counter: (tracked) => WorkCounter.byteLength(1, { tracked }),
  };
  return Object.entries(types).flatMap(([stem, byteLength]) =>
    [1, 2, 7, 64, 255, 256, 4095, 4096, 1 << 24].map((n) => ({
      macro: `WEFT_${stem.toUpperCase()}_TRACKED_BYTES(${n})`,
      call: `weft_${stem}_tracked_bytes(${n})`,
      bytes: bytesOf(() => byteLength(n)),
    }))
  );
}

/** What fits no 32-bit address is no constant of wasm32. */
const ADDRESSES = 2 ** 32;

function allRows(): Row[] {
  const queues = [
    ...pairs(CAPACITIES, SIZES),
    ...pairs([0, 1, 3, 4], [0, 1, 2, 3, 6]),
    ...pairs([1 << 28, (1 << 28) + 1], [1, 2]),
    ...pairs([1 << 26, (1 << 26) + 1, 1 << 28, 1 << 29], [4, 16]),
    [1, 1 << 30],
  ];
  const fixed = Object.entries(FIXED).map(([stem, type]) => ({
    macro: `WEFT_${stem.toUpperCase()}_BYTES`,
    call: `weft_${stem}_bytes()`,
    bytes: type.byteLength(),
  }));
  const ofQueue = (
    stem: string,
    type: { byteLength(config: { capacity: number }): number },
  ) =>
    rowsOf(stem, "weft_queue_config", queues, (capacity, elementSize) => {
      return type.byteLength({ capacity: capacity!, elementSize } as never);
    });
  const cast = pairs([1, 16, 1024, 0, 1025], [4, 12]);
  const calls = pairs([0, 1, 64, 100, (1 << 24) - 4, 1 << 24], [
    0,
    5,
    4096,
  ]);
  const slabs = [...pairs([1, 31, 32, 33, 1000, 0], [4, 100, 4096, 6, 0])];
  return [
    ...fixed,
    ...tracked(),
    ...ofQueue("spsc_queue", SpscQueue),
    ...ofQueue("mpmc_queue", MpmcQueue),
    ...ofQueue("lock_free_queue", LockFreeQueue),
    ...[16, 17, 4096, 1 << 30, 15, 0].map((capacity) => ({
      macro: `WEFT_RECORD_RING_BYTES(${capacity})`,
      call:
        `weft_record_ring_bytes((weft_record_ring_config){${capacity}, false, false, 0})`,
      bytes: bytesOf(() => RecordRing.byteLength({ capacity })),
    })),
    ...cast.map(([subscribers, elementSize]) => {
      const list = `9, ${elementSize}, ${subscribers}`;
      const config = { capacity: 9, elementSize, subscribers };
      return {
        macro: `WEFT_BROADCAST_BYTES(${list})`,
        call: `weft_broadcast_bytes((weft_broadcast_config){${list}, false})`,
        bytes: bytesOf(() => Broadcast.byteLength(config)),
      };
    }),
    ...channels(),
    ...maps(),
    ...heaps(),
    ...rowsOf(
      "call_ring",
      "weft_call_ring_config",
      [1, 16, 1024, 0, 1025].flatMap((slots) => {
        return calls.map(([request, reply]) => [slots, request, reply]);
      }),
      (slots, request, reply) => {
        return CallRing.byteLength({
          slots: slots!,
          request: request!,
          reply: reply!,
        });
      },
    ),
    ...rowsOf("slab_pool", "weft_slab_config", slabs, (capacity, blockSize) => {
      return SlabPool.byteLength({
        capacity: capacity!,
        blockSize: blockSize!,
      });
    }),
    ...pairs([4, 128, 132, 1 << 28, 0, 6], [0, 1]).map(([size, one]) => ({
      macro: `WEFT_SNAPSHOT_BYTES(${size}, ${one === 1})`,
      call: `weft_snapshot_bytes((weft_snapshot_config){${size}, ${
        one === 1
      }})`,
      bytes: bytesOf(() =>
        Snapshot.byteLength({ size, singleReader: one === 1 })
      ),
    })),
    ...rowsOf(
      "shape_table",
      undefined,
      [[4], [5], [1 << 20], [3], [0], [(1 << 20) + 1]],
      (bytes) => ShapeTable.byteLength({ bytes: bytes! }),
    ),
    ...rowsOf(
      "striped_counter",
      undefined,
      [[1], [7], [1024], [0], [1025]],
      (stripes) => StripedCounter.byteLength({ stripes: stripes! }),
    ),
    ...rowsOf(
      "work_deque",
      undefined,
      [[1], [3], [1024], [1 << 28], [0], [(1 << 28) + 1]],
      (capacity) => WorkDeque.byteLength({ capacity: capacity! }),
    ),
  ];
}

/** What C says for `bytes` where a pointer has `bits` bits. */
const inC = (bytes: number, bits: 32 | 64) =>
  bits === 32 && bytes >= ADDRESSES ? 0 : bytes;

/**
 * A program that the compiler refuses if a macro is no constant, or not
 * TypeScript's number. `wrong()` compares the functions.
 */
function source(rows: Row[], bits: 32 | 64): string {
  const asserts = (possible: boolean) =>
    rows.filter(({ bytes }) => inC(bytes, bits) !== 0 === possible)
      .map(({ macro, bytes }) =>
        `WEFT__ASSERT(${macro} == ${inC(bytes, bits)}u, "${macro}");\n`
      ).join("");
  const checks = rows.map(({ call, bytes }, i) =>
    `  if (${call} != ${inC(bytes, bits)}u) return ${i + 1};\n`
  );
  return `#include "weft.h"
#ifdef __wasm__
__attribute__((export_name("wrong")))
#endif
int wrong(void);
${asserts(true)}
/* Some compilers have more to say about what is out of range. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"
${asserts(false)}
#pragma GCC diagnostic pop
/* As users write it. */
typedef struct { int32_t id; double x; } job;
enum { JOBS = 256 };
static int32_t jobs[WEFT_MPMC_QUEUE_BYTES(JOBS, sizeof(job)) / 4];
#ifdef __cplusplus
#define _Alignas alignas
#endif
_Alignas(64) static unsigned char lines[WEFT_CHANNEL_BYTES(WEFT_CHANNEL_JSON, JOBS, 64)];
static struct {
  weft_mutex lock;
  int32_t ring[WEFT_RECORD_RING_BYTES(1 << 10) / sizeof(int32_t)];
} both;

int wrong(void) {
  const weft_queue_config config = {JOBS, sizeof(job)};
  if (weft_mpmc_queue_init(jobs, sizeof jobs, config) == NULL) return -1;
  if (weft_mpmc_queue_init(jobs, sizeof jobs - 4, config) != NULL) return -2;
  if (weft_mutex_init(&both.lock, sizeof both.lock) == NULL) return -3;
  if (weft_mutex_init(&both.lock, sizeof both.lock - 1) != NULL) return -4;
  const weft_channel_config text = {WEFT_CHANNEL_JSON, JOBS, 64, 0, 0};
  if (weft_channel_init(lines, sizeof lines, text) == NULL) return -5;
  const weft_record_ring_config ring = {1 << 10, false, false, 0};
  if (weft_record_ring_init(both.ring, sizeof both.ring, ring) == NULL)
    return -6;
${checks.join("")}  return 0;
}
`;
}

/** The source, with configurations as C++ writes them. */
const asCpp = (text: string) =>
  text.replace(/\((weft_\w+_(?:config|heap))\)\{/g, "$1{");

/** Writes a source that is made here. */
const made = (name: string, text: string): string =>
  writeSource(BUILT, name, text);

const rows = allRows();
const MAIN = `#include <stdio.h>
int main(void) { printf("%d\\n", wrong()); return 0; }
`;

test("there is one for each kind of primitive, and rows of all sizes", () => {
  const names = new Set(rows.map(({ macro }) => macro.split("(", 1)[0]));
  const more = /_TRACKED_|_CACHE_|_TTL_|_HEAP_/;
  const plain = [...names].filter((name) => !more.test(name!));
  assert.is(plain.length, Object.keys(LAYOUT).length);
  assert.ok(rows.filter(({ bytes }) => bytes === 0).length > 30);
  assert.ok(rows.some(({ bytes }) => bytes >= ADDRESSES));
});

const NATIVE = [
  ["gcc", "c11"],
  ["g++", "c++17"],
  ["clang", "c11"],
  ["clang++", "c++17"],
] as const;
for (const [compiler, std] of NATIVE) {
  test(`${compiler} -std=${std}: each is a constant, and as its function and byteLength`, async () => {
    await need(compiler);
    const cpp = std.startsWith("c++");
    const text = `${source(rows, 64)}${MAIN}`;
    const casts = cpp ? ["-Wold-style-cast"] : [];
    if (compiler === "g++") casts.push("-Wuseless-cast");
    const program = await build({
      name: `bytes-${compiler}`,
      compiler,
      words: ["-O0", `-std=${std}`, ...WARNINGS, "-Wsign-conversion", ...casts],
      sources: [
        made(cpp ? "bytes.cpp" : "bytes.c", cpp ? asCpp(text) : text),
      ],
    });
    const { output } = await run(program, [], 20);
    const wrong = Number(output);
    assert.is(wrong, 0, rows[wrong - 1]?.call ?? output);
  });
}

for (const language of ["c", "cpp"]) {
  test(`wasm32, ${language}: the same`, async () => {
    const text = source(rows, 32);
    const out = path.join(BUILT, `bytes-${language}.wasm`);
    await wasmClang({
      sources: [
        made(
          `bytes_wasm.${language}`,
          language === "c" ? text : asCpp(text),
        ),
      ],
      args: [
        "-O0",
        `-std=${language === "c" ? "c11" : "c++17"}`,
        ...WARNINGS,
        "-Wold-style-cast",
        "-matomics",
        "-mbulk-memory",
        "-nostdlib",
        "-Wl,--no-entry,--allow-undefined",
        // Each configuration of a row takes its part of the stack.
        "-Wl,-z,stack-size=1048576",
        "-I",
        path.join(BUILT, "..", "..", "wasm"),
      ].filter((word) => language !== "c" || word !== "-Wold-style-cast"),
      out,
      quiet: true,
    });
    const module = await WebAssembly.compile(fs.readFileSync(out));
    const imports: Record<string, WebAssembly.ModuleImports> = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      (imports[from] ??= {})[name] = () => 0;
    }
    const { exports } = await WebAssembly.instantiate(module, imports);
    const wrong = (exports.wrong as () => number)();
    assert.is(wrong, 0, rows[wrong - 1]?.call);
  });
}
