// Tests agents of modules that no compiler of C makes: each instruction of
// memory, variables, memory that grows, and modules that are damaged. They are
// written here byte by byte.
import fc from "../_run/property.ts";
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import type { CallTuple, WasmExports, WasmOptions } from "../../race/mod.ts";
import { BadModule, Writer } from "../../race/wasm/binary.ts";
import { rewrite } from "../../race/wasm/rewrite.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race, modules", 60_000);

// deno-lint-ignore no-explicit-any
type Any = any;
type Bytes = readonly number[];

// ---- an assembler -----------------------------------------------------------

const I32 = 0x7f, I64 = 0x7e, F32 = 0x7d, F64 = 0x7c;
const END = 0x0b, CALL = 0x10, DROP = 0x1a, ADD = 0x6a;

const written = (write: (out: Writer) => void): number[] => {
  const out = new Writer();
  write(out);
  return [...out.written];
};
const leb = (value: number) => written((out) => out.number(value));
const text = (value: string) => written((out) => out.name(value));
const list = (items: readonly Bytes[]): number[] => [
  ...leb(items.length),
  ...items.flat(),
];
const sized = (bytes: Bytes): number[] => [...leb(bytes.length), ...bytes];
const constant = (value: number) => [
  0x41,
  ...written((out) => out.signed(value)),
];
const local = (i: number) => [0x20, i];

/** The load of a word, and an atomic addition to one. */
const LOAD = [0x28, 2, 0], STORE = [0x36, 2, 0], RMW_ADD = [0xfe, 0x1e, 2, 0];
const BUMP = [...local(0), ...constant(1), ...RMW_ADD];

interface Code {
  readonly name: string;
  readonly takes: Bytes;
  readonly gives: Bytes;
  readonly code: Bytes;
}

const OWN = [...text("env"), ...text("memory"), 2, 0, 1];
const SHARED = [...text("env"), ...text("memory"), 2, 3, 1, 4];

/** A module of functions; `more` are further sections, by number. */
function module(
  functions: readonly Code[],
  more: Readonly<Record<number, Bytes>> = {},
  memory: Bytes = OWN,
): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ takes, gives }) => [
    0x60,
    ...sized(takes),
    ...sized(gives),
  ]);
  const sections: Record<number, Bytes> = {
    1: list([...types, [0x60, 0, 0]]),
    2: list([memory]),
    3: list(functions.map((_, i) => leb(i))),
    7: list(functions.map(({ name }, i) => [...text(name), 0, ...leb(i)])),
    10: list(functions.map(({ code }) => sized([0, ...code, END]))),
    ...more,
  };
  const order = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11, 0];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...order.filter((id) => sections[id] !== undefined)
      .flatMap((id) => [id, ...sized(sections[id]!)]),
  ]);
}

/** A function of an address that gives a word. */
const at = (name: string, ...code: Bytes): Code => ({
  name,
  takes: [I32],
  gives: [I32],
  code,
});

// ---- running it -------------------------------------------------------------

/** What agents return that call `run`, each as often as `calls` says. */
function explored(
  bytes: Uint8Array,
  run: (c: WasmExports, at: number) => unknown,
  calls: readonly number[] = [1],
  options: WasmOptions & { readonly shares?: boolean } = {},
): unknown[][] {
  const { shares = false, ...rest } = options;
  const wasm = race.wasm(bytes, rest);
  let results: unknown[][] = [];
  const spec = race.spec({
    memory: shares ? () => wasm.memory() : () => new SharedArrayBuffer(64),
    wasm,
    agents: ["wasm"],
    agent: (_: unknown, _id: number, c?: WasmExports) => c!,
    ops: { run: { run: (c: WasmExports) => run(c, shares ? 0 : wasm.at) } },
    final: (_: unknown, all: unknown[][]) => void (results = all),
  } as Any);
  const program = calls.map((count) =>
    Array.from({ length: count }, (): CallTuple => ["run"])
  );
  const result = (race.check as Any)(spec, ...program);
  if (result.failure !== undefined) throw new Error(result.failure.message);
  assert.ok(result.complete, result.summary);
  return results;
}

/** What the platform's own instance returns. */
function native(
  bytes: Uint8Array<ArrayBuffer>,
  memory = new WebAssembly.Memory({ initial: 1 }),
): WasmExports {
  const compiled = new WebAssembly.Module(bytes);
  return new WebAssembly.Instance(compiled, { env: { memory } })
    .exports as WasmExports;
}

// ---- accesses ---------------------------------------------------------------

/** The types and sizes of atomic instructions, in their order. */
const SEVEN = [[I32, 4], [I64, 8], [I32, 1], [I32, 2], [I64, 1], [I64, 2], [
  I64,
  4,
]] as const;
/** The types and sizes of plain ones; stores come last. */
const PLAIN = [
  ...[[I32, 4], [I64, 8], [F32, 4], [F64, 8], [I32, 1], [I32, 1], [I32, 2]],
  ...[[I32, 2], [I64, 1], [I64, 1], [I64, 2], [I64, 2], [I64, 4], [I64, 4]],
  ...[[I32, 4], [I64, 8], [F32, 4], [F64, 8], [I32, 1], [I32, 2], [I64, 1]],
  ...[[I64, 2], [I64, 4]],
] as const;
const OFFSET = 8;

interface Access extends Code {
  readonly size: number;
  readonly aligned: boolean;
}

function access(
  op: Bytes,
  size: number,
  values: Bytes,
  gives: Bytes,
): Access {
  const takes = [I32, ...values];
  const aligned = op.length > 1;
  const align = aligned ? Math.log2(size) : 0;
  const code = [...takes.flatMap((_, i) => local(i)), ...op, align, OFFSET];
  return { name: `${op}`, takes, gives, code, size, aligned };
}

const ACCESSES: readonly Access[] = [
  ...Array.from({ length: 63 }, (_, i) => {
    const [type, size] = SEVEN[i % 7]!;
    const kind = Math.floor(i / 7); // load, store, six that change, exchange
    const values = kind === 0 ? [] : kind === 8 ? [type, type] : [type];
    const gives = kind === 1 ? [] : [type];
    return access([0xfe, 0x10 + i], size, values, gives);
  }),
  ...PLAIN.map(([type, size], i) =>
    i < 14
      ? access([0x28 + i], size!, [], [type!])
      : access([0x28 + i], size!, [type!], [])
  ),
  access([0xfe, 0], 4, [I32], [I32]),
  access([0xfe, 1], 4, [I32, I64], [I32]),
  access([0xfe, 2], 8, [I64, I64], [I32]),
];

const int = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, -1, 255, 256, 65535, -256, 0x11111111),
);
const bigint = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  int.map(BigInt),
);
const valueOf = (type: number): fc.Arbitrary<Any> =>
  type === I32
    ? int
    : type === I64
    ? bigint
    : fc.float({ noNaN: true, noDefaultInfinity: true });

const accessCall = fc.constantFrom(...ACCESSES).chain((access) => {
  const { size, aligned, name, takes } = access;
  const waits = name === "254,1" || name === "254,2";
  const place = fc.integer({ min: 0, max: 64 - size })
    .map((at) => aligned ? at - at % size : at);
  const values = takes.slice(1).map((type, i) =>
    waits && i === 1 ? fc.constantFrom(0n, 1000n) : valueOf(type)
  );
  return fc.tuple(place, ...values)
    .map(([place, ...values]) => ({ name, place: place as number, values }));
});

test("each instruction of memory does what it did", () => {
  const bytes = module(ACCESSES, {}, SHARED);
  const own = new WebAssembly.Memory({ initial: 1, maximum: 4, shared: true });
  const direct = native(bytes, own);
  const wasm = race.wasm(bytes);
  assert.is(wasm.replaced, ACCESSES.length);
  const region = new SharedArrayBuffer(64);
  const expected = new Uint8Array(own.buffer, 1024, 64);
  const program = fc.record({
    before: fc.uint8Array({ minLength: 64, maxLength: 64 }),
    calls: fc.array(accessCall, { minLength: 1, maxLength: 8 }),
  });
  fc.assert(
    fc.property(program, ({ before, calls }) => {
      const run = (c: WasmExports, base: number) =>
        calls.map(({ name, place, values }) =>
          `${c[name]!(base + place - OFFSET, ...values)}`
        );
      expected.set(before);
      const wanted = run(direct, 1024);
      const spec = race.spec({
        memory: () => {
          new Uint8Array(region).set(before);
          return region;
        },
        wasm,
        agents: ["wasm"],
        agent: (_, _id, c) => c!,
        stateless: true,
        ops: { run: { run: (c) => run(c, wasm.at) } },
        final: (memory, [[results]]) => {
          assert.equal(results, wanted);
          assert.equal([...new Uint8Array(memory)], [...expected]);
        },
      });
      const { failure } = race.check(spec, [["run"]]);
      assert.is(failure, undefined, failure?.message);
    }),
    { numRuns: 500 },
  );
});

test("numbers need not be written as short as possible", () => {
  const long = [0x84, 0x80, 0x80, 0x80, 0x00]; // 4
  const bytes = module([
    at("plain", ...[0x20, 0x80, 0x00], 0x28, 0x82, 0x00, ...long),
    at(
      "add",
      ...[0x20, 0x80, 0x00],
      ...constant(5),
      ...[0xfe, 0x9e, 0x00, 2],
      4,
    ),
  ]);
  const run = (c: WasmExports, at: number) => [c.add!(at), c.plain!(at)];
  assert.equal(explored(bytes, run), [[run(native(bytes), 0)]]);
});

test("an address beyond all memory is an error, wherever it is", () => {
  const bytes = module([
    at("plain", ...local(0), 0x28, 2, 8),
    at("atomic", ...local(0), 0xfe, 0x10, 2, 8),
    {
      ...at("fill"),
      code: [
        ...local(0),
        ...constant(1),
        ...constant(64),
        0xfc,
        11,
        0,
        ...constant(0),
      ],
    },
    {
      ...at("copy"),
      code: [
        ...constant(16),
        ...local(0),
        ...constant(64),
        0xfc,
        10,
        0,
        0,
        ...constant(0),
      ],
    },
  ]);
  const fails = (name: string, at: number, wanted: RegExp) => {
    assert.throws(() => native(bytes)[name]!(at), /./, `${name} ${at}`);
    assert.throws(() => explored(bytes, (c) => c[name]!(at)), wanted);
  };
  fails("plain", -4, /out of bounds/i);
  fails("plain", 400_000, /out of bounds/i);
  fails("atomic", -4, /element/);
  fails("atomic", 400_000, /no memory at address 400008/);
  fails("atomic", 2, /not aligned at address 10/);
  fails("fill", 400_000, /no memory at address 400000/);
  fails("copy", 400_000, /no memory at address 400000/);
});

test("copies and fills below `from` are no steps", () => {
  const bytes = module(
    [
      at("bump", ...BUMP),
      at("load", ...local(0), ...LOAD),
      {
        ...at("fill"),
        gives: [],
        code: [...local(0), ...constant(0), ...constant(4), 0xfc, 11, 0],
      },
      {
        ...at("store"),
        takes: [I32, I32],
        gives: [],
        code: [...local(0), ...local(1), ...STORE],
      },
    ],
    {},
    SHARED,
  );
  const run = (c: WasmExports) => {
    c.fill!(512);
    c.bump!(2048);
    c.store!(512, c.load!(512) + 1);
    c.bump!(2048);
    return c.load!(512);
  };
  const options = { from: 1024, shares: true };
  assert.equal(explored(bytes, run, [1], options), [[1]]);
});

// ---- variables, and memory that grows ---------------------------------------

/** Counts in global `i`, around a step. */
const counts = (i: number): Code =>
  at("count", ...[
    ...[0x23, i, ...constant(1), ADD, 0x24, i],
    ...BUMP,
    ...[DROP, 0x23, i],
  ]);
const global = (first: number) => [I32, 1, ...constant(first), END];

test("variables of a module are its agent's own, and begin anew", () => {
  const three = (c: WasmExports, at: number) => [
    c.count!(at),
    c.count!(at),
    c.count!(at),
  ];
  const programs = [
    module([counts(0)], { 6: list([global(5)]) }),
    module([counts(1)], { 6: list([global(1024), global(5)]) }),
  ];
  for (const bytes of programs) {
    assert.equal(explored(bytes, three), [[[6, 7, 8]]]);
    const results = [[[6, 7, 8], [9, 10, 11]], [[6, 7, 8]]];
    assert.equal(explored(bytes, three, [2, 1]), results);
  }
});

test("the stack pointer is known by its name", () => {
  const names = (name: string) => [
    ...text("name"),
    ...[7, ...sized(list([[1, ...text(name)]]))],
  ];
  const pushes = at("push", ...[
    ...[0x23, 1, ...constant(16), 0x6b, 0x24, 1], // and never gives back
    ...BUMP,
    ...[DROP, 0x23, 1],
  ]);
  const two = (c: WasmExports, at: number) => [c.push!(at), c.push!(at)];
  const built = (name: string) =>
    module([pushes], { 6: list([global(5), global(1024)]), 0: names(name) });
  assert.equal(explored(built("__stack_pointer"), two), [[[1008, 1008]]]);
  assert.equal(explored(built("other"), two), [[[1008, 992]]]);
});

test("memory of an agent grows, and is as small and empty again", () => {
  const functions = [
    at("bump", ...BUMP),
    at("grow", ...local(0), 0x40, 0),
    at("size", 0x3f, 0),
    at("load", ...local(0), ...LOAD),
    {
      ...at("store"),
      takes: [I32, I32],
      gives: [],
      code: [...local(0), ...local(1), ...STORE],
    },
  ];
  const run = (c: WasmExports, at: number) => {
    const place = c.grow!(1) * 65536 + 8;
    c.bump!(at);
    const before = c.load!(place);
    c.store!(place, before + 1);
    c.bump!(at);
    return [c.size!(), before, c.load!(place)];
  };
  const own = module(functions);
  assert.equal(explored(own, run), [[run(native(own), 0)]]);
  const grown = [[[2, 0, 1], [3, 0, 1]], [[2, 0, 1]]];
  assert.equal(explored(own, run, [2, 1]), grown);
  const bounded = [...text("env"), ...text("memory"), 2, 1, 1, 2];
  const some = module(functions, {}, bounded);
  const sizes = (c: WasmExports) => [c.grow!(2), c.grow!(1), c.grow!(1)];
  assert.equal(explored(some, sizes), [[[-1, 1, -1]]]);
  const all = module(functions, {}, SHARED);
  const options = { shares: true };
  assert.equal(
    explored(all, (c) => [c.size!(), c.grow!(1), c.size!()], [1], options),
    [[[1, -1, 1]]],
  );
});

// ---- other instructions -----------------------------------------------------

test("tail calls, tables and exceptions stay as they are", () => {
  const tail = module([at("run", ...local(0), 0x12, 1), at("bump", ...BUMP)]);
  const table = module([
    at("run", ...local(0), ...constant(1), 0x13, 0, 0),
    at("bump", ...BUMP),
  ], {
    4: list([[0x70, 0, 2]]),
    9: list([[0, ...constant(0), END, ...list([[0], [1]])]]),
  });
  const thrown = module([
    at("run", ...[
      ...[0x02, 0x40, 0x1f, 0x40, 1, 2, 0], // a block that catches all
      ...[...local(0), CALL, 1, DROP, 0x08, 0],
      ...[END, END, ...local(0), CALL, 1],
    ]),
    at("bump", ...BUMP),
  ], { 13: list([[0, 2]]) });
  const starts = module([
    at("run", ...local(0), ...LOAD),
    {
      ...at("start"),
      takes: [],
      gives: [],
      code: [...constant(16), ...constant(7), ...RMW_ADD, DROP],
    },
  ], { 8: [1] });
  const run = (c: WasmExports, at: number) => c.run!(at);
  for (const bytes of [tail, table, thrown]) {
    if (!WebAssembly.validate(bytes)) continue; // an engine without exceptions
    assert.equal(explored(bytes, run), [[run(native(bytes), 0)]]);
  }
  assert.equal(explored(starts, (c) => c.run!(16)), [[7]]);
});

test("damaged names are no names", () => {
  const bytes = module([at("load", ...local(0), ...LOAD)], {
    0: [...text("name"), 1, 50, 1, 0, 4],
  });
  assert.equal(explored(bytes, (c, at) => c.load!(at)), [[0]]);
});

// ---- what is refused --------------------------------------------------------

test("what cannot be explored is refused by name", () => {
  const fails = (bytes: Uint8Array) => {
    try {
      rewrite(bytes, 0, 2 ** 32);
    } catch (error) {
      assert.instance(error, BadModule);
      return (error as Error).message;
    }
    return "it was rewritten";
  };
  const load = at("load", ...local(0), ...LOAD);
  const other = [...local(0), 0x28, 0x42, 1, 0];
  const two = module([at("load", ...other)], { 5: list([[0, 1]]) });
  assert.match(fails(two), "several memories");
  const second = [...text("env"), ...text("second"), 2, 0, 1];
  const both = module([load], { 2: list([OWN, second]) });
  assert.match(fails(both), "several memories");
  const large = [0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
  const wide = [...text("env"), ...text("memory"), 2, 5, 1, ...large];
  assert.match(fails(module([load], {}, wide)), "64-bit memory");
  for (const sub of [4, 15, 0x4f]) {
    const unknown = module([at("run", ...local(0), 0xfe, sub, 2, 0)]);
    assert.match(fails(unknown), `An unknown atomic: ${sub}`);
  }
});

test("a damaged module is refused, even where its parts can be read", () => {
  const whole = module([at("load", ...local(0), ...LOAD)]);
  const twice = Uint8Array.from([...whole, 3, 2, 1, 0]);
  const wrong = module([at("load", ...local(0), 0x29, 2, 0)]); // gives an i64
  for (const bytes of [twice, wrong, whole.slice(0, -3)]) {
    assert.throws(
      () => race.wasm(bytes).replaced,
      /Not a module that can run here: /,
    );
  }
});
