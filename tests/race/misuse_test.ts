// A wrong argument of a user is an error; it must not make a test check less.
import * as assert from "uvu/assert";
import { Mutex } from "../../mod.ts";
import { race } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race misuse");

const memory = () => new SharedArrayBuffer(8);
const agent = (memory: SharedArrayBuffer) => new Int32Array(memory);
const counter = race.spec({
  memory,
  agent,
  init: 0,
  ops: {
    add: {
      run: (w) => Atomics.add(w, 0, 1),
      model: (n: number) => [n + 1, n],
    },
  },
});
const sound = [["add"]] as const;

/** `race` without its types, for arguments that only JavaScript can pass. */
// deno-lint-ignore no-explicit-any
const loose = race as any;

test("the types of a specification may be written out", () => {
  const written = race.spec({
    memory,
    agent: (memory) => new Int32Array(memory),
    init: 0,
    ops: {
      add: {
        run: (w: Int32Array, n: number): number => Atomics.add(w, 0, n),
        model: (sum: number, n: number) => [sum + n, sum],
      },
    },
    recover: (w: Int32Array, dead: number) => Atomics.load(w, dead),
    recovered: (sum: number) => sum,
  });
  assert.ok(race.check(written, [["add", 1]], [["add", 2]]).complete);
  race.spec({
    memory,
    agent,
    // @ts-expect-error: agent() makes an Int32Array
    ops: { get: { run: (map: Map<number, number>) => map.get(0) } },
  });
});

test("an unknown option is refused", () => {
  const unknown = /Unknown option "kil": the options are progress, kill/;
  assert.throws(() => loose.check(counter, sound, { kil: true }), unknown);
  assert.throws(() => loose.assert(counter, { kil: true }), unknown);
  assert.throws(() => loose.property(counter, { kil: true }), unknown);
  assert.throws(
    () => loose.replay(counter, [sound], "0", { kil: true }),
    unknown,
  );
  assert.throws(
    () => loose.agents({ memory }, () => {}, { kil: true }),
    unknown,
  );
});

test("a name that a specification does not have is refused", () => {
  const { definition } = counter;
  assert.throws(
    () => loose.spec({ ...definition, invarient: () => {} }),
    /^A specification has no "invarient"; it may have memory, agent, /,
  );
  const add = { ...definition.ops.add, modle: () => [0] };
  assert.throws(
    () => loose.spec({ ...definition, ops: { add } }),
    /^The operation "add" has no "modle"; it may have run, model, /,
  );
  assert.throws(
    () => loose.agents({ memory, after: () => "wrong" }, () => {}),
    /^The memory has no "after"; .*; options are the last argument$/,
  );
});

test("an option of the wrong type is refused", () => {
  const refused = (options: unknown, message: RegExp) =>
    assert.throws(() => loose.check(counter, sound, options), message);
  refused({ kill: 1 }, /"kill" must be boolean: received 1/);
  refused({ states: "all" }, /"states" must be number: received "all"/);
  const range =
    /^The option "states" must be an integer from 1 on: received NaN$/;
  assert.throws(
    () => loose.check(counter, sound, { states: NaN }),
    (error: Error) => error instanceof RangeError && range.test(error.message),
  );
  refused({ progress: "wait-free" }, /"progress" must be "lock-free"/);
  refused({ then: true }, /"then" must be "explore"/);
  refused(true, /The options must be an object: received true/);
  assert.ok(race.check(counter, sound, { kill: undefined, time: 1e9 }).ok);
});

test("an option that would have no effect is refused", () => {
  const memory = () => new SharedArrayBuffer(4);
  const after = /^The option "then" is for race\.replay\(\)/;
  const then = { then: "explore" };
  assert.throws(() => loose.check(counter, sound, then), after);
  assert.throws(() => loose.assert(counter, then), after);
  assert.throws(() => loose.property(counter, then), after);
  assert.throws(() => loose.agents({ memory }, () => {}, then), after);
  assert.ok(loose.replay(counter, [sound], "0", then).ok);
  const deep = /^The option "depth" needs the option sample: "pct"/;
  for (const sample of [undefined, "random", "order"]) {
    const options = { sample, depth: 2, runs: 1 };
    assert.throws(() => loose.check(counter, sound, options), deep);
    assert.throws(() => loose.replay(counter, [sound], "0", options), deep);
  }
});

test("a number out of range is refused", () => {
  const refused = (options: Record<string, number>, where: string) => {
    const [[name, value]] = Object.entries(options) as [[string, number]];
    assert.throws(
      () => loose.assert(counter, { sample: "pct", runs: 1, ...options }),
      (error: unknown) =>
        error instanceof RangeError && error.message ===
          `The option "${name}" must be ${where}: received ${value}`,
    );
  };
  for (const name of ["states", "maxSteps", "spins"]) {
    for (const value of [0, -1, 1.5]) {
      refused({ [name]: value }, "an integer from 1 on");
    }
  }
  for (const name of ["runs", "timeouts", "spurious"]) {
    for (const value of [-1, 0.5, -Infinity]) {
      refused({ [name]: value }, "an integer from 0 on");
    }
  }
  // More would take for ever, or more memory than there is.
  for (const value of [0, -1, 1.5, 1001, 1e9, 2 ** 32, Infinity]) {
    refused({ depth: value }, "an integer from 1 to 1000");
  }
  for (const value of [0, -1, 1.5, 10_001, 1e9, 2 ** 32, Infinity]) {
    refused({ ops: value }, "an integer from 1 to 10000");
  }
  for (const name of ["begin", "end"]) {
    for (const value of [-1, 0.5, 10_001, 1e9, Infinity]) {
      refused({ [name]: value }, "an integer from 0 to 10000");
    }
  }
  refused({ programs: -1 }, "an integer from 0 on");
  refused({ time: -1 }, "a number from 0 on");
  refused({ looks: Infinity }, "a number from 0 on");
  refused({ seed: 0.5 }, "an integer");
  for (const value of [0, 17, 1.5]) {
    refused({ agents: value }, "an integer from 1 to 16");
  }
  const endless = { states: Infinity, time: Infinity, timeouts: Infinity };
  assert.ok(race.check(counter, sound, { ...endless, runs: Infinity }).ok);
  assert.ok(race.check(counter, sound, { seed: -1, spurious: 0 }).ok);
});

test("a list or a map is no object of options", () => {
  for (const options of [[], new Map([["kill", true]]), new Date(), /x/]) {
    const refused = /^The options must be an object: received /;
    assert.throws(() => loose.assert(counter, options), refused);
    assert.throws(() => loose.replay(counter, [sound], "0", options), refused);
  }
});

test("a field that is of the wrong type is refused, with its value", () => {
  const { definition } = counter;
  const odd = [null, 0, 1.5, -1, NaN, Infinity, "x", [0], { a: "x" }, 5n];
  const refuses = (name: string, what: string, values: unknown[]) => {
    for (const value of values) {
      assert.throws(
        () => loose.spec({ ...definition, [name]: value }),
        (error: Error) =>
          error instanceof TypeError &&
          error.message.startsWith(
            `A specification needs ${what} as its "${name}": received `,
          ),
        `${name} ${String(value)}`,
      );
    }
  };
  const checks = ["agent", "invariant", "final", "recover", "recovered"];
  for (const name of ["memory", ...checks]) refuses(name, "a function", odd);
  for (const name of ["stateless", "async"]) refuses(name, "a boolean", odd);
  refuses("wasm", "a result of race.wasm()", odd);
  const names = 'a list of "js" and "wasm"';
  refuses("agents", names, odd.filter((value) => !Array.isArray(value)));
  refuses("words", "byte offsets by name", [...odd, { a: 0.5 }, { a: -4 }]);
  const ranges = 'a function, or ranges such as [[0, 8], [8, 12, "written"]],';
  const wrong = [[0, 4], [[4, 0]], [[0]], [[0, 4, "writen"]], [["a", "b"]]];
  refuses("hints", ranges, [...odd, ...wrong]);
  loose.spec({ ...definition, hints: [[0, 0], [4, 8, "written"]] });

  const add = definition.ops.add;
  const operation = (name: string, what: string, values: unknown[]) => {
    for (const value of values) {
      assert.throws(
        () =>
          loose.spec({
            ...definition,
            ops: { add: { ...add, [name]: value } },
          }),
        (error: Error) =>
          error instanceof TypeError &&
          error.message.startsWith(
            `The operation "add" needs ${what} as its "${name}": received `,
          ),
        `${name} ${String(value)}`,
      );
    }
  };
  operation("run", "a function", odd);
  operation("model", "a function", odd);
  operation("lockFree", "a boolean", odd);
  operation("arg", "an arbitrary of fast-check", odd);
  const ids = odd.filter((value) => !Array.isArray(value));
  const list = "a list of ids from 0 to 15";
  operation("agents", list, [...ids, ["a"], [0.5], [-1], [16]]);

  assert.throws(
    () => loose.agents({}, () => {}),
    /^The memory needs a function as its "memory": received undefined$/,
  );
  for (const workers of [null, 5, "worker.js"]) {
    assert.throws(
      () => loose.agents({ memory, workers }, () => {}, () => {}),
      /^The memory needs ids of agents by the end of an address as its /,
    );
  }
  assert.throws(() => loose.junit(undefined, {}), /^A suite needs a name/);
  assert.throws(
    () => loose.junit("s", null),
    /^The outcomes must be an object/,
  );
});

test("an argument of any size is not the number of the same digits", () => {
  const spec = race.spec({
    memory,
    agent,
    init: 0,
    ops: {
      name: {
        run: (_, value: unknown) => typeof value,
        model: (_, value: unknown) => [0, typeof value],
      },
    },
  });
  assert.ok(race.check(spec, [["name", 5], ["name", 5n]]).ok);
});

test("a state may be no number", () => {
  const spec = race.spec({
    memory,
    agent,
    init: NaN,
    ops: { ask: { run: () => 0, model: (n: number) => [n, 0] } },
  });
  assert.ok(race.check(spec, [["ask"]]).ok);
});

test("a property in which no agent may call anything is refused", () => {
  const { definition } = counter;
  const add = { ...definition.ops.add, agents: [2] };
  const late = race.spec({ ...definition, ops: { add } });
  const refused = /^No agent may call an operation: /;
  assert.throws(() => race.assert(late), refused);
  assert.throws(() => race.property(late), refused);
  assert.ok(race.assert(late, { agents: 3, ops: 1, programs: 3 }).complete > 0);
});

test("options that are undefined are none", () => {
  assert.ok(loose.check(counter, sound, undefined).complete);
  assert.ok(loose.agents({ memory }, () => {}, undefined).complete);
  assert.ok(loose.assert(counter, undefined).complete > 0);
});

test("a model that changes its state is told so", () => {
  const pushes = race.spec({
    memory,
    agent,
    init: [] as number[],
    ops: {
      add: {
        run: (w) => Atomics.add(w, 0, 1),
        model: (list: number[]) => {
          list.push(1);
          return [list, list.length - 1];
        },
      },
    },
  });
  assert.throws(
    () => race.check(pushes, [["add"]], [["add"]]),
    /^The model of "add" changes the state that it is given/,
  );
});

test("a model that returns no outcome is told so", () => {
  for (const answer of [5, true, [], "wait", Promise.resolve([0, 0])]) {
    const { definition } = counter;
    const wrong = { ...definition.ops.add, model: () => answer };
    const spec = loose.spec({ ...definition, ops: { add: wrong } });
    assert.throws(
      () => loose.check(spec, sound),
      /^The model of "add" must return \[state, answer\], null /,
    );
  }
});

test("a check that returns an Error fails, also one without a message", () => {
  const body = (memory: SharedArrayBuffer) => Atomics.add(agent(memory), 0, 1);
  for (const wrong of [new Error("the sum is 1"), new Error(), "the sum"]) {
    const after = () => wrong;
    assert.throws(() => loose.agents({ memory }, body, { after }), /invariant/);
  }
  loose.agents({ memory }, body, { after: () => "" });
});

test("a check that returns false fails, and a promise is refused", () => {
  const body = (memory: SharedArrayBuffer) => Atomics.add(agent(memory), 0, 1);
  const fails = (options: unknown, definition: unknown = { memory }) => {
    assert.throws(
      () => loose.agents(definition, body, options),
      /the check returned false/,
    );
  };
  fails({ after: () => false });
  fails({}, { memory, invariant: (m: SharedArrayBuffer) => agent(m)[0] !== 1 });
  const refused = /must not be asynchronous/;
  for (const check of [async () => {}, () => Promise.reject(new Error("x"))]) {
    assert.throws(
      () => loose.agents({ memory }, body, { after: check }),
      refused,
    );
    assert.throws(
      () => loose.agents({ memory, invariant: check }, body),
      refused,
    );
  }
  assert.ok(loose.agents({ memory }, body, { after: () => true }).complete);
});

test("what is no specification, and options that are none, are told", () => {
  const { definition } = counter;
  const needed = /^The first argument must be a result of race\.spec\(\): /;
  for (const given of [definition, undefined, null]) {
    assert.throws(() => loose.check(given, sound), needed);
    assert.throws(() => loose.replay(given, [sound], "0"), needed);
    assert.throws(() => loose.assert(given), needed);
    assert.throws(() => loose.property(given), needed);
  }
  assert.throws(() => loose.spec(null), /^A specification must be an object/);
  assert.throws(
    () => loose.spec({ memory, ops: null }),
    /^A specification needs operations by name as its "ops": received null$/,
  );
  assert.throws(() => loose.agents(null, () => {}), /^The memory must be an /);
  assert.throws(
    () => loose.wasm("x"),
    /^A module's bytes must be a Uint8Array/,
  );
  assert.throws(
    () => loose.wasm(new Uint8Array(8), { form: 1 }),
    /^Unknown option "form": the options are from, imports$/,
  );
  assert.throws(
    () => loose.agents({ memory }, () => {}, null),
    /^The options must be an object: received null/,
  );
  assert.throws(
    () => loose.agents({ memory }, () => {}, { after: "wrong" }),
    /^The option "after" must be function: received "wrong"/,
  );
});

test("an exploration within another one is refused, and breaks nothing", () => {
  const inner = () => race.agents({ memory }, () => {});
  const refused = /^An exploration cannot begin within another one$/;
  const add = (memory: SharedArrayBuffer) => Atomics.add(agent(memory), 0, 1);
  const quietly = (memory: SharedArrayBuffer) => {
    try {
      inner();
    } catch {
      add(memory);
    }
  };
  assert.throws(() => race.agents({ memory }, inner), refused);
  assert.throws(
    () => race.agents({ memory }, add, { after: () => void inner() }),
    refused,
  );
  const allocate = () => (inner(), memory());
  assert.throws(() => race.agents({ memory: allocate }, add), refused);
  const { states } = race.agents({ memory }, add, add);
  assert.is(race.agents({ memory }, quietly, quietly).states, states);
});

test("an asynchronous exploration within another one is refused", async () => {
  const inner = race.spec({
    async: true,
    memory,
    agent,
    ops: { add: { run: async (w) => await Atomics.add(w, 0, 1) } },
  });
  const explores = () => race.check(inner, [["add"]]);
  const add = (memory: SharedArrayBuffer) => Atomics.add(agent(memory), 0, 1);
  const told = async (run: () => unknown) => {
    try {
      await run();
      return "nothing";
    } catch (error) {
      return (error as Error).message;
    }
  };
  const bodies = [
    async (memory: SharedArrayBuffer) => {
      await explores();
      add(memory);
    },
    async (memory: SharedArrayBuffer) => {
      await null; // by then, only the end tells that it waits for ever
      await explores();
      add(memory);
    },
    async (memory: SharedArrayBuffer) => {
      race.check(counter, sound);
      await null;
      add(memory);
    },
    (memory: SharedArrayBuffer) => {
      explores();
      add(memory);
    },
  ];
  const refused = "An exploration cannot begin within another one";
  for (const [i, body] of bodies.entries()) {
    const message = await told(() => race.agents({ memory }, body));
    assert.is(message, refused, `body ${i}`);
  }
  const allocate = () => (explores(), memory());
  const message = await told(() =>
    race.agents({ memory: allocate }, async (memory) => {
      await null;
      add(memory);
    })
  );
  assert.is(message, refused);
  assert.ok((await explores()).complete);
});

test("globals that the user replaced are there again afterwards", () => {
  const { setTimeout, Date } = globalThis;
  const { load } = Atomics;
  const later =
    ((...args: Parameters<typeof setTimeout>) =>
      setTimeout(...args)) as typeof setTimeout;
  class Today extends Date {}
  const look =
    ((...args: Parameters<typeof load>) => load(...args)) as typeof load;
  try {
    globalThis.setTimeout = later;
    globalThis.Date = Today as typeof Date;
    Atomics.load = look;
    const two = (memory: SharedArrayBuffer) => Atomics.load(agent(memory), 0);
    race.agents({ memory }, two, two);
    assert.is(globalThis.setTimeout, later);
    assert.is(globalThis.Date, Today);
    assert.is(Atomics.load, look);
  } finally {
    Object.assign(globalThis, { setTimeout, Date });
    Atomics.load = load;
  }
  race.agents({ memory }, (memory) => Atomics.load(agent(memory), 0));
  assert.is(Atomics.load, load);
});

test("whatever agents throw is told", () => {
  const told = (thrown: unknown): string => {
    try {
      race.agents({ memory }, () => {
        throw thrown;
      });
    } catch (error) {
      return (error as Error).message.split("\n")[0]!;
    }
    return "nothing";
  };
  assert.match(told(Object.create(null)), /^exception: .*: \{\}$/);
  assert.match(told({ code: 5 }), /^exception: .*: \{ code: 5 \}$/);
  assert.match(told("text"), /^exception: .*: text$/);
  const odd = Object.assign(new Error("odd"), { stack: 5 });
  assert.match(told(odd), /^exception: .*: 5$/);
});

test("generators are refused, whose bodies would not run", () => {
  const ops = { run: { *run() {} } };
  assert.throws(
    () => loose.spec({ memory, ops }),
    /^The operation "run" is a generator, so a call would run nothing of it/,
  );
  for (const body of [function* () {}, async function* () {}]) {
    assert.throws(
      () => loose.agents({ memory }, () => {}, body),
      /^Agent 1 is a generator, so a call would run nothing of it/,
    );
  }
});

test("agents that are no functions, and schedules that are no text", () => {
  const body = () => {};
  assert.throws(
    () => loose.agents({ memory }, body, { states: 9 }, { time: 9 }),
    /^Agent 1 needs a function: received \{ states: 9 \}/,
  );
  for (const schedule of [undefined, 3, [0, 1]]) {
    assert.throws(
      () => loose.replay(counter, [sound], schedule),
      /^A schedule is a text such as "0 1\*2": received /,
    );
  }
});

test("answers are compared by what they hold", () => {
  const verdict = (answer: unknown, right: unknown) => {
    const spec = race.spec({
      memory,
      agent,
      init: 0,
      ops: { ask: { run: () => answer, model: () => [0, right] } },
    });
    return race.check(spec, [["ask"]]).failure?.kind;
  };
  const nested = (depth: number): unknown =>
    depth === 0 ? [] : [nested(depth - 1)];
  const bytes = (byte: number) => new Uint8Array([byte]).buffer;
  const same: [unknown, unknown][] = [
    [{ a: 1, b: 2 }, { b: 2, a: 1 }],
    [new Set([1, 2]), new Set([2, 1])],
    [new Map([[1, 2], [3, 4]]), new Map([[3, 4], [1, 2]])],
    [nested(9), nested(9)],
    [bytes(1), bytes(1)],
    [new Date(5), new Date(5)],
  ];
  for (const [a, b] of same) assert.is(verdict(a, b), undefined);
  const different: [unknown, unknown][] = [
    [{ a: 1 }, { a: 2 }],
    [nested(9), nested(10)],
    [bytes(1), bytes(2)],
    [new Date(5), new Date(6)],
    [/a/, /b/],
    [new Map([[1, 2]]), new Map([[2, 1]])],
  ];
  for (const [a, b] of different) assert.is(verdict(a, b), "not-linearizable");
});

test("a program that is no list of calls for each agent is refused", () => {
  const refused = (...program: unknown[]) =>
    assert.throws(
      () => loose.check(counter, ...program),
      /Agent 0 needs a list/,
    );
  refused(["add"]); // the agent's brackets are missing
  refused([["add", 1, 2]]);
  refused([[1]]);
  assert.throws(() => loose.check(counter), /A program needs an agent/);
  assert.throws(() => loose.agents({ memory }), /A program needs an agent/);
  assert.throws(
    () => loose.replay(counter, [], ""),
    /A program needs an agent/,
  );
  for (const program of [undefined, null, "abc", 5, {}, new Map()]) {
    assert.throws(
      () => loose.replay(counter, program, "0"),
      /^A program is a list of calls for each agent, such as .*: received /,
    );
  }
  const many = Array.from({ length: 17 }, () => sound);
  const most = (error: Error) =>
    error instanceof RangeError &&
    error.message === "A program has at most 16 agents: received 17";
  assert.throws(() => loose.check(counter, ...many), most);
  assert.throws(() => loose.replay(counter, many, "0"), most);
  const bodies = many.map(() => () => {});
  assert.throws(() => loose.agents({ memory }, ...bodies), most);
});

test("a specification without memory, operations or `init` is refused", () => {
  const refused = (definition: unknown, message: RegExp) =>
    assert.throws(() => loose.spec(definition), message);
  refused({}, /needs memory\(\) and ops/);
  refused({ memory }, /needs memory\(\) and ops/);
  refused({ memory, ops: { add: {} } }, /"add" has no run\(\)/);
  const add = { run: () => 0, model: (n: number) => [n, 0] };
  refused({ memory, ops: { add } }, /have models, but there is no init/);
});

test("a view or a handle is no memory, and the error says what is", () => {
  const of = (value: unknown) => () =>
    loose.agents({ memory: () => value }, () => {});
  const words = new Int32Array(new SharedArrayBuffer(8));
  const advice = "; return its buffer, from which each agent makes its own$";
  assert.throws(of(words), RegExp(`Memory, not Int32Array${advice}`));
  assert.throws(of(Mutex.create()), RegExp(`Memory, not Mutex${advice}`));
  assert.throws(of(new ArrayBuffer(8)), /Memory, not ArrayBuffer$/);
  assert.throws(of([words.buffer]), /Memory, not Array$/);
  assert.throws(of(null), /Memory, not null$/);
  assert.throws(of(undefined), /Memory, not undefined$/);
  const options = { initial: 1, maximum: 1, shared: true };
  of(new WebAssembly.Memory(options))();
});

test("races of one word are passed over, and others are found", () => {
  const both = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    words[0] = 1; // a race that is known
    words[1] = 1;
  };
  const kinds = (races: boolean | ((byteOffset: number) => boolean)) => {
    try {
      race.agents({ memory }, both, both, { races });
    } catch (error) {
      return (error as Error).message.split("\n")[0];
    }
    return "none";
  };
  assert.match(kinds(true), /^data-race: .* of \[0\]/);
  assert.match(kinds((at) => at !== 0), /^data-race: .* of \[4\]/);
  assert.is(kinds((at) => at > 4), "none");
  assert.is(kinds(false), "none");
});

test("samples pass over the races of one word, too", () => {
  const far = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    words[0] = 1;
    Atomics.add(words, 1, 1);
  };
  const options = { states: 1, runs: 20 };
  assert.throws(() => race.agents({ memory }, far, far, options), /data-race/);
  race.agents({ memory }, far, far, { ...options, races: (at) => at !== 0 });
});
