// Tests agents that are C: the effect of their accesses, the place of their
// variables, and that every interleaving is explored.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import fc from "../_run/property.ts";
import * as assert from "uvu/assert";
import { BadModule } from "../../race/wasm/binary.ts";
import { race } from "../../race/mod.ts";
import type { Wasm, WasmExports } from "../../race/mod.ts";
import { rewrite } from "../../race/wasm/rewrite.ts";
import { wasmClang } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race, agents of C");
const SOURCE = fileURLToPath(
  new URL("./fixtures/accesses.c", import.meta.url),
);
const BUILT = fileURLToPath(new URL("../../.weft/mixed", import.meta.url));

async function build(name: string, ...args: string[]): Promise<Uint8Array> {
  const out = path.join(BUILT, `${name}.wasm`);
  await wasmClang({
    sources: [SOURCE],
    args: [
      "-O1",
      "-matomics",
      "-mbulk-memory",
      "-nostdlib",
      "-Wl,--no-entry,--import-memory,--export=__wasm_call_ctors",
      ...args,
    ],
    out,
    quiet: true,
  });
  return fs.readFileSync(out);
}

const SHARED = [
  "-Wl,--shared-memory,--max-memory=131072,--export=__wasm_init_tls",
];
const own = await build("accesses", "-Wl,--export=__heap_base");
const shared = await build("accesses_shared", ...SHARED);

const WIDE = ["uint32_t", "uint64_t"];
const RMW = ["add", "sub", "and", "or", "xor", "exchange"];

/** A call of one of the fixture's functions, and whether it must be aligned. */
interface Access {
  readonly name: string;
  readonly at: number;
  readonly values: readonly (number | bigint)[];
}

const bytesOf = (type: string): number => {
  if (type === "float") return 4;
  if (type === "double") return 8;
  return Number(/\d+/.exec(type)![0]) / 8;
};

/** Accesses at any place of the first 64 bytes behind `base`. */
function accesses(names: readonly string[]): fc.Arbitrary<Access> {
  const known = names.filter((name) =>
    /^[a-z]+_\w*(t|float|double)$/.test(name)
  );
  assert.ok(known.length > 80, `${known.length} functions`);
  return fc.constantFrom(...known).chain((name) => {
    const [, op, type, wide] = /^([a-z]+)_(\w+?)_((?:u?int|float|double)\w*)$/
      .exec(name)!;
    const size = bytesOf(type!);
    const aligned = op !== "get" && op !== "put";
    const at = fc.integer({ min: 0, max: 64 - size })
      .map((at) => aligned ? at - at % size : at);
    const value: fc.Arbitrary<number | bigint> =
      wide!.startsWith("f") || wide!.startsWith("d")
        ? fc.float({ noNaN: true })
        : wide!.includes("64")
        ? fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
        : fc.integer();
    const count = op === "load" || op === "get" ? 0 : op === "cas" ? 2 : 1;
    const values = fc.array(value, { minLength: count, maxLength: count });
    return fc.record({ name: fc.constant(name), at, values }) as fc.Arbitrary<
      Access
    >;
  });
}

const instantiate = (bytes: Uint8Array, memory: WebAssembly.Memory) => {
  const env = { memory, unheard_of: () => {} };
  const module = new WebAssembly.Module(bytes.slice());
  return new WebAssembly.Instance(module, { env }).exports as WasmExports;
};

test("accesses do what they did, in shared memory and out of it", () => {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const plain = instantiate(own, memory);
  const module = race.wasm(own);
  const region = new SharedArrayBuffer(64);
  const place = 4096; // above the stack, below the variables
  const expected = new Uint8Array(memory.buffer, place, 64);
  const calls = fc.array(accesses(Object.keys(plain)), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(calls, fc.infiniteStream(fc.nat(255)), (calls, noise) => {
      for (let i = 0; i < 64; i++) expected[i] = noise.next().value;
      const before = expected.slice();
      const wanted = calls.map(({ name, at, values }) =>
        plain[name]!(place + at, ...values)
      );
      const spec = race.spec({
        memory: () => {
          new Uint8Array(region).set(before);
          return region;
        },
        wasm: module,
        agents: ["wasm"],
        agent: (_, _id, c) => c!,
        stateless: true,
        ops: {
          all: {
            run: (c) =>
              calls.map(({ name, at, values }) =>
                c[name]!(module.at + at, ...values)
              ),
          },
        },
        final: (memory, [[results]]) => {
          assert.equal([...new Uint8Array(memory)], [...expected]);
          assert.equal(results, wanted);
        },
      });
      const { failure } = race.check(spec, [["all"]]);
      assert.is(failure, undefined, failure?.message);
    }),
    { numRuns: 300 },
  );
});

test("names every kind of access there is", () => {
  const { accesses, replaced } = rewrite(own, 0, 2 ** 32);
  for (const what of ["load 8", "store 16", "compareExchange 32", ...RMW]) {
    for (const wide of WIDE) {
      const type = wide === "uint32_t" ? "i32" : "i64";
      const found = [...accesses.keys()].some((name) =>
        name.startsWith(`${type} ${what}`)
      );
      assert.ok(found, `${type} ${what}`);
    }
  }
  assert.ok(replaced > 90, `${replaced}`);
});

/** One agent that calls `run`; what it returned. */
function alone<T>(
  module: Wasm,
  memory: () => SharedArrayBuffer | WebAssembly.Memory,
  run: (c: WasmExports) => T,
): T {
  let answer: T | undefined;
  const spec = race.spec({
    memory,
    wasm: module,
    agents: ["wasm"],
    agent: (_, _id, c) => c!,
    stateless: true,
    ops: { run: { run: (c) => run(c) } },
    final: (_, [[result]]) => void (answer = result as T),
  });
  const { failure } = race.check(spec, [["run"]]);
  if (failure !== undefined) throw new Error(failure.message);
  return answer!;
}

test("copies and fills, over each other too", () => {
  const module = race.wasm(own);
  const start = Uint8Array.from({ length: 32 }, (_, i) => i);
  const moves = [[0, 8, 16], [8, 0, 16], [1, 6, 9], [6, 1, 9], [4, 4, 4]]
    .concat([[4, 0, 11], [0, 4, 11]]); // words, and bytes behind them
  for (const [to, from, length] of moves) {
    const memory = new SharedArrayBuffer(32);
    const expected = start.slice();
    expected.copyWithin(to!, from!, from! + length!);
    expected.fill(200, 28, 32);
    alone(module, () => {
      new Uint8Array(memory).set(start);
      return memory;
    }, (c) => {
      c.copy!(module.at + to!, module.at + from!, length);
      c.fill!(module.at + 28, 200, 4);
      const words = new Int32Array(memory);
      assert.equal(words[7], 200 * 0x01010101 | 0);
      const now = Uint8Array.from(new Uint8Array(memory));
      assert.equal([...now], [...expected]);
    });
  }
});

// ---- variables --------------------------------------------------------------

test("agents have variables of their own beside a SharedArrayBuffer", () => {
  const module = race.wasm(own);
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(4),
    wasm: module,
    agents: ["wasm"],
    agent: (_, _id, c) => c!,
    stateless: false,
    ops: {
      call: {
        run: (c) => {
          const made = c.variable!(1);
          c.deep!(module.at, 20);
          return [made, c.call!(0, 4), c.call!(1, 4), c.variable!(0)];
        },
      },
    },
    final: (memory, results) => {
      assert.equal(results, [[[7, 8, 12, 2]], [[7, 8, 12, 2]]]);
      assert.is(new Int32Array(memory)[0], 2);
    },
  });
  const result = race.check(spec, [["call"]], [["call"]]);
  assert.is(result.failure, undefined, result.failure?.message);
  assert.ok(result.complete);
});

test("an agent may use no other agent's stack, nor more than its own", () => {
  const module = race.wasm(shared);
  const run = (call: (c: WasmExports) => unknown, agents: number) => () =>
    race.agents(
      { memory: () => module.memory() },
      ...Array.from(
        { length: agents },
        () => (memory: WebAssembly.Memory, id: number) =>
          call(module.enter(memory, id)),
      ),
    );
  const share = (c: WasmExports) => c.share_stack!(c.word!());
  assert.not.throws(run(share, 1));
  assert.throws(run(share, 2), /address \d+, in the stack or among/);
  for (const agents of [1, 2]) {
    assert.not.throws(run((c) => c.fill_stack!(150), agents));
    assert.throws(run((c) => c.fill_stack!(400), agents), /has 16384 bytes/);
  }
});

test("what an agent does only as it is tried out is not refused", () => {
  const module = race.wasm(shared);
  const at = module.enter(module.memory(), 0).ends!() / 4;
  const result = race.agents(
    { memory: () => module.memory() },
    (memory, id) => {
      const c = module.enter(memory, id);
      for (let i = 0; i < 3; i++) {
        race.forget(i);
        c.fill_between!(); // nothing: the first word is changed first
      }
    },
    (memory) => {
      const words = new Int32Array(memory.buffer);
      Atomics.store(words, at, 9000);
      Atomics.store(words, at + 1, 9000);
    },
    { states: 30, runs: 5, memoryless: false },
  );
  assert.is(result.failure, undefined, result.failure?.message);
});

test("locals that nobody has written are zero in every call", () => {
  const module = race.wasm(shared);
  const spec = race.spec({
    memory: () => module.memory(),
    wasm: module,
    agents: ["wasm", "wasm"],
    agent: (_, _id, c) => c!,
    ops: { call: { run: (c) => c.left_behind!(c.word!()) } },
    final: (_, results) => {
      if (`${results}` !== "0,0,0,0") return `they found ${results}`;
    },
  });
  const calls = [["call"], ["call"]] as const;
  const { failure } = race.check(spec, calls, calls);
  assert.is(failure, undefined, failure?.message);
});

test("the module's memory is shared if it made it", () => {
  const module = race.wasm(shared);
  const spec = race.spec({
    memory: () => module.memory(),
    wasm: module,
    agents: ["js", "wasm"],
    agent: (memory, _id, c) => ({ c, memory }),
    stateless: true,
    init: 0,
    ops: {
      call: {
        run: ({ c, memory }) => {
          if (c !== undefined) {
            c.call!(1, 4);
            return undefined;
          }
          const words = new Int32Array(memory.buffer);
          Atomics.add(words, where / 4, 1);
        },
        model: (n: number) => [n + 1, undefined],
      },
      look: {
        run: ({ c }) => c!.variable!(0) + c!.variable!(1),
        model: (n: number) => [n, n + 7],
      },
    },
  });
  const where = module.enter(module.memory(), 0).where!();
  const result = race.check(spec, [["call"]], [["call"], ["look"]], [["look"]]);
  assert.is(result.failure, undefined, result.failure?.message);
  assert.ok(result.complete);
  assert.is(result.states, 12); // 2 * 3 * 2: a read of what is constant is no step
});

for (const [name, ok] of [["right_add", true], ["wrong_add", false]] as const) {
  test(`variables in shared memory: ${name}`, () => {
    const module = race.wasm(shared);
    const spec = race.spec({
      memory: () => module.memory(),
      wasm: module,
      agents: ["wasm"],
      agent: (_, _id, c) => c!,
      stateless: true,
      init: 0,
      ops: {
        add: { run: (c) => c[name]!(), model: (n: number) => [n + 1, n] },
      },
    });
    const result = race.check(spec, [["add"], ["add"]], [["add"]], [["add"]]);
    assert.is(result.ok, ok, result.failure?.message);
    if (ok) assert.ok(result.complete);
    else {
      assert.match(result.failure!.kind, /^(data-race|not-linearizable)$/);
      assert.match(result.failure!.table, name);
    }
  });
}

test("a thread's own variables are an agent's own", () => {
  for (const bytes of [own, shared]) {
    const module = race.wasm(bytes);
    const beside = bytes === own;
    const at = (c: WasmExports) => beside ? module.at : c.where!();
    const spec = race.spec({
      memory: () => beside ? new SharedArrayBuffer(4) : module.memory(),
      wasm: module,
      agents: ["wasm"],
      agent: (_, _id, c) => c!,
      stateless: false,
      ops: { count: { run: (c) => c.count_own!(at(c)) } },
      final: (_, results) => assert.equal(results, [[5, 6], [5]]),
    });
    const result = race.check(spec, [["count"], ["count"]], [["count"]]);
    assert.is(result.failure, undefined, result.failure?.message);
    assert.ok(result.complete);
  }
});

test("an agent that is run ahead in a loop keeps its own memory", () => {
  for (const bytes of [own, shared]) {
    const module = race.wasm(bytes);
    const beside = bytes === own;
    const at = (c: WasmExports) => beside ? module.at : c.word!();
    const spec = race.spec({
      memory: () => beside ? new SharedArrayBuffer(4) : module.memory(),
      wasm: module,
      agents: ["wasm"],
      agent: (_, _id, c) => c!,
      stateless: false,
      ops: { look: { run: (c) => c.looks!(at(c), 12) } },
      final: (_, results) => assert.equal(results, [[12, 12], [12]]),
    });
    // A sampled execution goes on where the agent was run ahead.
    const few = { states: 1, runs: 30 };
    const result = race.check(spec, [["look"], ["look"]], [["look"]], few);
    assert.is(result.failure, undefined, result.failure?.message);
  }
});

test("sleeps until woken, until time is over, and not at all", () => {
  const module = race.wasm(own);
  const { at } = module;
  for (const sleep of ["sleep", "sleep64"] as const) {
    const n = (value: number) => sleep === "sleep" ? value : BigInt(value);
    const spec = race.spec({
      memory: () => new SharedArrayBuffer(16),
      wasm: module,
      agents: ["wasm", "js"],
      agent: (memory, _id, c) => ({
        c,
        words: sleep === "sleep"
          ? new Int32Array(memory)
          : new BigInt64Array(memory),
      }),
      stateless: true,
      ops: {
        sleep: {
          run: ({ c, words }) => {
            const begun = performance.now();
            const end = c![sleep]!(at, n(0), 5_000_000n);
            assert.is(c![sleep]!(at + 8, n(1), -1n), 1, "not equal");
            if (end === 2) assert.is(performance.now() - begun, 5);
            return [end, Number(Atomics.load(words as Int32Array, 0))];
          },
        },
        wake: {
          run: ({ words }) => {
            Atomics.store(words as Int32Array, 0, n(1) as number);
            return Atomics.notify(words as Int32Array, 0);
          },
        },
      },
      final: (_, [[result]]) => void seen.add(String(result)),
    });
    const seen = new Set<string>();
    const result = race.check(spec, [["sleep"]], [["wake"]], {
      timeouts: true,
      rescue: true,
    });
    assert.is(result.failure, undefined, result.failure?.message);
    // Woken; too late to sleep; timed out, before the store or after it.
    assert.equal([...seen].sort(), ["0,1", "1,1", "2,0", "2,1"]);
  }
});

test("C wakes JavaScript", () => {
  const module = race.wasm(own);
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(4),
    wasm: module,
    agents: ["wasm", "js"],
    agent: (memory, _id, c) => ({ c, words: new Int32Array(memory) }),
    stateless: true,
    init: 0,
    ops: {
      set: {
        run: ({ c }) => {
          c!.store_uint32_t_uint32_t!(module.at, 1);
          c!.wake!(module.at, 1);
        },
        model: () => [1, undefined],
      },
      wait: {
        run: ({ words }) => void Atomics.wait(words, 0, 0),
        model: (set: number) => set === 1 ? [1, undefined] : null,
      },
    },
  });
  const result = race.check(spec, [["set"]], [["wait"]]);
  assert.is(result.failure, undefined, result.failure?.message);
  assert.ok(result.complete);
});

// ---- what is refused --------------------------------------------------------

test("says what it cannot explore", () => {
  const module = race.wasm(own);
  const memory = () => new SharedArrayBuffer(8);
  const run = (run: (c: WasmExports) => unknown) => () =>
    alone(module, memory, run);
  assert.throws(run((c) => c.calls_unheard_of!()), /"unheard_of" of "env"/);
  assert.throws(
    run((c) => c.load_uint32_t_uint32_t!(module.at + 8)),
    /load of wasm of element 2/,
  );
  assert.throws(
    run((c) => c.load_uint32_t_uint32_t!(module.at + 2)),
    /load of wasm of element 0.5/,
  );
  assert.throws(
    () => race.wasm(own, { from: -1 }),
    /from must be an address: received -1/,
  );
  assert.throws(() => race.wasm(own).memory(), /--shared-memory/);
  assert.throws(() => race.wasm(shared).enter({} as never, 0), TypeError);
  const spec = { memory, agent: () => null, ops: {} };
  assert.throws(
    () => race.spec({ ...spec, agents: ["wasm"] }),
    /there is no module/,
  );
  assert.throws(
    () => race.spec({ ...spec, agents: ["c" as "js"] }),
    /Agents are "js" or "wasm": received c/,
  );
});

test("says why it cannot rewrite a module", () => {
  const fails = (bytes: Uint8Array) => {
    try {
      rewrite(bytes, 0, 0);
    } catch (error) {
      assert.instance(error, BadModule);
      return (error as Error).message;
    }
    return "it was rewritten";
  };
  assert.match(fails(new Uint8Array(8)), "Not a module of WebAssembly 1");
  assert.match(fails(own.slice(0, own.length - 5)), "cut short");
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  assert.match(fails(Uint8Array.from(header)), "must import its memory");
});
