// it explores
// Tests the engine: what code under test may do, what is refused, and mistakes
// that the engine once made.
import * as assert from "uvu/assert";
import { Unsupported } from "../../race/engine/kinds.ts";
import { Memory } from "../../race/engine/state/memory.ts";
import { type Options, race, type Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { bodies } from "./corpus/known_bad.ts";
import { locks, ring } from "./corpus/families.ts";
import { load } from "./corpus/load.ts";
import { fails, holds, words } from "./asserts.ts";

const right = await load();
const test = suite("race engine");

const memory = () => new SharedArrayBuffer(64);

// ---- replay -----------------------------------------------------------------

test("does not do a plain write again when it replays", () => {
  const after = (_: Int32Array, [seen]: unknown[]) =>
    assert.is(seen, 2, "an old write came back");
  holds(bodies({ after }, (w) => {
    w[1] = 1;
    Atomics.store(w, 0, 1);
    while (Atomics.load(w, 0) !== 2);
    return w[1];
  }, (w) => {
    while (Atomics.load(w, 0) !== 1);
    w[1] = 2;
    Atomics.store(w, 0, 2);
  }));
});

test("sees a plain read of a word that is written later, and one in a loop", () => {
  const read = bodies({}, (w) => w[0], (w) => void (w[0] = 1));
  fails(read, "data-race");
  const loop = bodies({}, (w) => {
    while (w[0] === 0);
  }, (w) => Atomics.load(w, 1));
  fails(loop, "livelock");
  const once = (w: Int32Array) => w[1];
  const often = (w: Int32Array) => w[1]! + w[2]! + w[1]!;
  assert.is(bodies({}, often, often).states, bodies({}, once, once).states);
});

test("a call that reads constants alone is a call at any time", () => {
  const spec = race.spec({
    memory,
    agent: words,
    init: 0,
    ops: {
      add: {
        run: (w) => void Atomics.add(w, 0, 1),
        model: (n: number) => [n + 1, undefined],
      },
      // The wrong word, which nobody writes.
      get: { run: (w) => w[1], model: (n: number) => [n, n] },
    },
  });
  fails(race.check(spec, [["add"]], [["get"]]), "not-linearizable");
});

test("a call that does nothing is a call at any time", async () => {
  const specOf = (async: boolean) =>
    race.spec({
      memory,
      agent: (memory) => ({ w: words(memory), kept: undefined as unknown }),
      init: 0,
      ops: {
        // An old value, if another agent has set a new one since.
        get: {
          run: (handle) => {
            const value = handle.kept ??= Atomics.load(handle.w, 0);
            return async ? Promise.resolve(value) : value;
          },
          model: (n: number) => [n, n],
        },
        set: {
          run: ({ w }, n: number) => void Atomics.store(w, 0, n),
          model: (_: number, n: number) => [n, undefined],
        },
      },
      ...async && { async },
    });
  for (const async of [false, true]) {
    const program = [[["get"], ["get"]], [["set", 1]]] as const;
    for (const reduce of [true, false]) {
      const spec = specOf(async);
      const result = await race.check(spec, ...program, { reduce });
      fails(result, "not-linearizable");
      const { schedule, table } = result.failure!;
      assert.match(table, /no operation/);
      const again = await race.replay(spec, program, schedule);
      fails(again, "not-linearizable");
    }
    const alone = [["get"], ["get"], ["set", 1]] as const;
    assert.ok((await race.check(specOf(async), alone)).complete);
  }
});

test("survives finally, using, catch-all and native callbacks", () => {
  const { Mutex } = right;
  const guarded = (memory: SharedArrayBuffer) => {
    const mutex = new Mutex(memory);
    mutex.lock();
    return { [Symbol.dispose]: () => mutex.unlock() };
  };
  const within = <T>(memory: SharedArrayBuffer, body: () => T): T => {
    const mutex = new Mutex(memory);
    mutex.lock();
    try {
      return body();
    } finally {
      mutex.unlock();
    }
  };
  type Add = (memory: SharedArrayBuffer, total: Int32Array) => number;
  const ways: Record<string, Add> = {
    "try and finally": (memory, total) =>
      within(memory, () => {
        const before = total[0]!;
        [1].map(() => total[0] = before + 1);
        return before;
      }),
    "using": (memory, total) => {
      using _guard = guarded(memory);
      const before = total[0]!;
      total[0] = before + 1;
      return before;
    },
    "catch all": (memory, total) => {
      const mutex = new Mutex(memory);
      mutex.lock();
      let before = 0;
      try {
        before = total[0]!;
        total[0] = before + 1;
      } catch {
        // swallows everything
      }
      mutex.unlock();
      return before;
    },
    "a generator": (memory, total) => {
      function* steps(): Generator<number, number, void> {
        const before = total[0]!;
        yield before;
        total[0] = before + 1;
        return before;
      }
      return within(memory, () => {
        const run = steps();
        let step = run.next();
        while (!step.done) step = run.next();
        return step.value;
      });
    },
  };
  for (const [name, add] of Object.entries(ways)) {
    const program = race.spec({
      memory: () => new SharedArrayBuffer(16),
      agent: (memory) => ({ memory, total: new Int32Array(memory, 8, 1) }),
      init: 0,
      ops: {
        add: {
          run: ({ memory, total }) => add(memory, total),
          model: (n: number) => [n + 1, n],
        },
      },
    });
    const calls = [["add"], ["add"]] as const;
    const { states, failure } = race.check(program, calls, calls);
    assert.is(failure, undefined, `${name}: ${failure?.message}`);
    assert.is(states, 877, name);
  }
});

test("tells handles with state from those without", () => {
  const pushes = [["push", 1], ["push", 2], ["push", 3]] as const;
  const pops = [["pop"], ["pop"], ["pop"]] as const;
  const found = ring(right);
  assert.is(race.check(found, pushes, pops).states, 484);
  assert.is(found.scenario.stateless, false);
  const plain = locks(right);
  assert.is(race.check(plain, [["lock"], ["unlock"]]).failure, undefined);
  assert.is(plain.scenario.stateless, undefined);
});

test("notices what handles hide until late", () => {
  // Only the third call differs, and only in an argument.
  const program = race.spec({
    memory,
    agent: (memory) => ({ words: words(memory), calls: 0 }),
    ops: {
      go: {
        run: (h) => {
          h.calls++;
          Atomics.store(h.words, 0, h.calls > 2 ? 7 : 1);
        },
      },
    },
  });
  const { final: _, ...rest } = program.definition;
  const seen = race.spec({
    ...rest,
    final: (memory: SharedArrayBuffer) =>
      words(memory)[0] === 7 ? "seven" : undefined,
  });
  const calls = [["go"], ["go"], ["go"]] as const;
  fails(race.check(seen, calls, [["go"]]), "invariant");
});

for (const style of ["a field", "a generator", "a variable, calls later"]) {
  test(`notices what handles seldom keep, in ${style}`, () => {
    // Only one of many histories is kept, and their ends are one state.
    const program = race.spec({
      memory,
      agent: (memory) => {
        const w = words(memory);
        let seen = 0;
        const look = () => void (seen = Atomics.load(w, 0));
        function* looks() {
          for (;;) yield look();
        }
        const looking = looks();
        const handle = {
          seen: 0,
          look: () => {
            if (style === "a generator") looking.next();
            else if (style === "a field") handle.seen = Atomics.load(w, 0);
            else look();
          },
          rest: () => void Atomics.load(w, 0),
          tell: () => {
            Atomics.load(w, 0);
            if (Math.max(seen, handle.seen) === 25) throw new Error("seen");
          },
          count: () => {
            for (let i = 1; i <= 30; i++) Atomics.store(w, 0, i % 30);
          },
        };
        return handle;
      },
      ops: {
        look: { run: (handle) => handle.look() },
        rest: { run: (handle) => handle.rest() },
        tell: { run: (handle) => handle.tell() },
        count: { run: (handle) => handle.count() },
      },
    });
    const calls = style.endsWith("later")
      ? [["look"], ["rest"], ["tell"]] as const
      : [["look"], ["tell"]] as const;
    for (const reduce of [true, false]) {
      program.scenario.stateless = undefined;
      fails(race.check(program, calls, [["count"]], { reduce }), "exception");
    }
  });
}

test("makes each agent's handle once before the exploration", () => {
  const program = race.spec({
    memory,
    agent: (memory, id) => {
      const view = words(memory);
      return { view, ticket: Atomics.add(view, 0, 1), id };
    },
    ops: {
      check: {
        run: ({ view, ticket, id }) => {
          assert.is(ticket, id);
          Atomics.add(view, 1, 1);
          return Atomics.load(view, 0);
        },
      },
    },
    final: (_, results) => {
      assert.equal(results, [[3, 3], [3], [3]]);
    },
  });
  holds(race.check(program, [["check"], ["check"]], [["check"]], [["check"]]));
});

test("gives an agent the same new memory in each replay", () => {
  holds(bodies({}, (w) => {
    const own = new Int32Array(new SharedArrayBuffer(4));
    Atomics.add(own, 0, 1);
    Atomics.add(w, 0, 1);
    own[0]! += 1;
    assert.is(Atomics.load(own, 0), 2);
  }, (w) => Atomics.add(w, 0, 1)));
});

test("gives each call and each handle new memory of its own", () => {
  for (const stateless of [undefined, true, false]) {
    const program = race.spec({
      memory,
      ...stateless !== undefined && { stateless },
      agent: (memory: SharedArrayBuffer) => ({
        shared: words(memory),
        kept: words(new SharedArrayBuffer(4)),
      }),
      ops: {
        go: {
          run: ({ shared, kept }) => {
            Atomics.store(kept, 0, 5);
            const own = words(new SharedArrayBuffer(4));
            const { length } = words(new SharedArrayBuffer(4 * own.length));
            assert.is(Atomics.add(own, 0, length), 0);
            Atomics.add(shared, 0, 1);
          },
        },
      },
    });
    for (const reduce of [true, false]) {
      const go = [["go"], ["go"]] as const;
      holds(race.check(program, go, go, { reduce }));
    }
  }
});

test("memory of another length is other memory", () => {
  for (const reduce of [true, false]) {
    holds(bodies({ reduce }, (w) => {
      for (let i = 1; i < 4; i++) Atomics.store(w, 0, i);
    }, (w) => {
      for (let i = 0; i < 2; i++) {
        const count = 1 + Atomics.load(w, 0) % 2;
        const own = words(new SharedArrayBuffer(4 * count));
        assert.is(Atomics.add(own, 0, 1), 0);
        assert.is(Atomics.add(own, count - 1, 1), count === 1 ? 1 : 0);
      }
    }));
  }
});

test("gives the same random numbers and clock in each replay", () => {
  holds(bodies({}, (w) => {
    const roll = Math.random();
    const time = [performance.now(), Date.now(), new Date().getTime()];
    Atomics.add(w, 0, 1);
    assert.is(time[1], time[2]);
    return [roll, Math.random(), ...time];
  }, (w) => Atomics.add(w, 0, 1)));
});

// ---- spinning ---------------------------------------------------------------

test("does not take the same answers twice for a spin", () => {
  const section = [["lock"], ["unlock"]] as const;
  holds(race.check(locks(right), section, section, section));
});

test("sees a spin inside a loop, and one over several words", () => {
  const nested = (w: Int32Array) => {
    for (;;) {
      while (Atomics.load(w, 0) === 0 && Atomics.load(w, 1) === 0);
      if (Atomics.load(w, 2) === 1) return;
    }
  };
  fails(bodies({}, nested, (w) => Atomics.add(w, 3, 1)), "livelock");
  holds(bodies({}, nested, (w) => {
    Atomics.store(w, 2, 1);
    Atomics.store(w, 1, 1);
  }));
});

test("follows a spin of hundreds of rounds to its end", () => {
  holds(bodies({}, (w) => {
    for (let i = 0; i < 200 && Atomics.load(w, 0) === 0; i++) {
      (Atomics as { pause?: () => void }).pause?.();
    }
  }, (w) => Atomics.store(w, 1, 1)));
});

// ---- views ------------------------------------------------------------------

test("sees the plain accesses of every method of a view", () => {
  type Use = (view: Int32Array) => unknown;
  const uses: Record<string, Use> = {
    set: (v) => (v.set([9, 8], 1), [...v]),
    "set of itself": (v) => (v.set(v.subarray(0, 2), 1), [...v]),
    fill: (v) => [...v.fill(7, 1, 3)],
    slice: (v) => [...v.slice(1)],
    subarray: (v) => [...v.subarray(1, 3)],
    copyWithin: (v) => [...v.copyWithin(0, 2)],
    indexOf: (v) => v.indexOf(3),
    includes: (v) => v.includes(4),
    at: (v) => v.at(-1),
    map: (v) => [...v.map((x) => x * 2)],
    filter: (v) => [...v.filter((x) => x > 2)],
    reduce: (v) => v.reduce((a, b) => a + b, 0),
    find: (v) => v.find((x) => x > 1),
    some: (v) => v.some((x) => x === 3),
    every: (v) => v.every((x) => x > 0),
    join: (v) => v.join("-"),
    text: (v) => String(v),
    reverse: (v) => [...v.reverse()],
    sort: (v) => [...v.sort((a, b) => b - a)],
    toSorted: (v) => [...v.toSorted()],
    with: (v) => [...v.with(1, 5)],
    entries: (v) => [...v.entries()],
    keys: (v) => [...v.keys()],
    spread: (v) => Math.max(...v),
    destructuring: (v) => {
      const [a, b] = v;
      return [a, b];
    },
    "for of": (v) => {
      const out = [];
      for (const x of v) out.push(x);
      return out;
    },
    from: (v) => [...Int32Array.from(v)],
    copy: (v) => [...new Float64Array(v)],
    "set from it": (v) => {
      const own = new Int32Array(4);
      own.set(v);
      return [...own];
    },
    narrow: (v) => [...new Uint8Array(v.buffer, 0, 8)],
    length: (v) => [v.length, v.byteLength, v.byteOffset],
    tag: (v) => Object.prototype.toString.call(v),
    instance: (v) => v instanceof Int32Array && ArrayBuffer.isView(v),
    constructor: (v: Int32Array) => v.constructor === Int32Array,
    negative: (v) => "-1" in v,
  };
  for (const [name, use] of Object.entries(uses)) {
    const plain = new Int32Array(new SharedArrayBuffer(16));
    plain.set([1, 2, 3, 4]);
    const expected = use(plain);
    const program = race.spec({
      memory: () => {
        const memory = new SharedArrayBuffer(20);
        new Int32Array(memory).set([1, 2, 3, 4]);
        return memory;
      },
      agent: (memory) => new Int32Array(memory, 0, 4),
      ops: {
        use: { run: (view) => use(view) },
        wait: { run: (v) => Atomics.add(new Int32Array(v.buffer), 4, 1) },
      },
      final: (memory, [results]) => {
        assert.equal(results![0], expected, name);
        assert.equal([...new Int32Array(memory, 0, 4)], [...plain], name);
      },
    });
    holds(race.check(program, [["use"]], [["wait"]]));
    const silent = ["length", "tag", "instance", "constructor", "negative"];
    if (silent.includes(name) || name === "keys") continue;
    const writer = race.spec({
      ...program.definition,
      ops: {
        use: program.definition.ops.use!,
        wait: { run: (v: Int32Array) => void (v[1] = 2) },
      },
      final: () => {},
    });
    const wrote = ["set", "set of itself", "fill", "reverse", "sort"];
    const { failure } = race.check(writer, [["use"]], [["wait"]]);
    if (["at"].includes(name)) continue; // it reads another element
    assert.is(failure?.kind, "data-race", `${name} ${wrote.includes(name)}`);
  }
});

test("refuses what it cannot simulate", () => {
  const refused = (what: () => unknown, words: RegExp) =>
    assert.throws(
      what,
      (error: unknown) =>
        error instanceof Unsupported && words.test(error.message),
    );
  const early = new SharedArrayBuffer(8);
  const view = new Int32Array(early);
  refused(
    () => race.agents({ memory: () => early }, () => Atomics.load(view, 0)),
    /made before/,
  );
  refused(
    () => race.agents({ memory: () => early }, () => void (view[0] = 1)),
    /cannot be seen/,
  );
});

test("memory grows before it is viewed, or not at all", () => {
  const grown = (first: boolean) => () => {
    const memory = new SharedArrayBuffer(8, { maxByteLength: 64 });
    if (first) words(memory)[0] = 1;
    memory.grow(64);
    return memory;
  };
  const last = (memory: SharedArrayBuffer) => Atomics.add(words(memory), 15, 1);
  holds(race.agents({ memory: grown(false) }, last, last));
  assert.throws(
    () => race.agents({ memory: grown(true) }, last, last),
    /let it grow before/,
  );
});

test("says what memory it wants", () => {
  const memory = () => new ArrayBuffer(8) as unknown as SharedArrayBuffer;
  assert.throws(() => race.agents({ memory }, () => {}), /SharedArrayBuffer/);
});

test("explores the memory of a WebAssembly module", () => {
  const result = race.agents(
    {
      memory: () =>
        new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }),
    },
    (memory) => Atomics.add(new Int32Array(memory.buffer), 300, 1),
    (memory) => Atomics.add(new Int32Array(memory.buffer), 300, 1),
    {
      after: (memory, results) => {
        assert.is(new Int32Array(memory.buffer)[300], 2);
        assert.equal(results.toSorted(), [0, 1]);
      },
    },
  );
  assert.ok(result.complete);
});

test("puts the globals back, whatever happens", () => {
  const all = () => [
    Atomics.load,
    Int32Array,
    performance,
    Date,
    setTimeout,
    DataView.prototype.getInt8,
    MessageChannel,
    queueMicrotask,
    fetch,
  ];
  const before = all();
  const random = Math.random;
  assert.throws(() =>
    race.agents({ memory }, () => {
      throw new Error("no");
    })
  );
  assert.throws(() => race.agents({ memory }, () => void fetch("data:,")));
  assert.equal(all(), before);
  assert.is(Math.random, random);
});

// ---- time -------------------------------------------------------------------

test("lets a timed wait end at any moment, or only when all is quiet", () => {
  const wait = (w: Int32Array) => Atomics.wait(w, 0, 0, 10);
  const wake = (w: Int32Array) => {
    Atomics.store(w, 0, 1);
    Atomics.notify(w, 0);
  };
  const seen = (timeouts: boolean) => {
    const all = new Set<unknown>();
    const after = (_: Int32Array, [how]: unknown[]) => void all.add(how);
    holds(bodies({ after, timeouts }, wait, wake));
    return [...all].sort();
  };
  assert.equal(seen(true), ["not-equal", "ok", "timed-out"]);
  assert.equal(seen(false), ["not-equal", "ok"]);
});

test("passes time when nobody can run", () => {
  const after = (_: Int32Array, results: unknown[]) =>
    assert.equal(results, [30, 20]);
  holds(bodies({ after, timeouts: false }, (w) => {
    Atomics.wait(w, 0, 0, 30);
    return performance.now();
  }, (w) => {
    Atomics.wait(w, 1, 0, 20);
    return performance.now();
  }));
});

// ---- hints ------------------------------------------------------------------

test("lets a hint be as old as happens-before allows, and no older", () => {
  const seen = (reader: (w: Int32Array) => unknown) => {
    const all = new Set<string>();
    const program = race.spec({
      memory,
      agent: words,
      hints: (at) => at === 0,
      ops: {
        write: {
          run: (w) => {
            Atomics.store(w, 0, 1);
            Atomics.store(w, 0, 2);
            Atomics.store(w, 1, 1);
          },
        },
        read: { run: reader },
      },
      final: (_, [, [result]]) => void all.add(JSON.stringify(result)),
    });
    const result = race.check(program, [["write"]], [["read"]]);
    holds(result);
    return [...all].sort();
  };
  // The value that it has read limits what it can read next.
  assert.equal(seen((w) => [w[0], w[0]]), [
    "[0,0]",
    "[0,1]",
    "[0,2]",
    "[1,1]",
    "[1,2]",
    "[2,2]",
  ]);
  // An agent that has seen the flag has seen everything before it.
  assert.equal(seen((w) => Atomics.load(w, 1) === 1 ? w[0] : "early"), [
    '"early"',
    "2",
  ]);
  // An atomic load always returns the newest value.
  assert.equal(
    seen((w) => [Atomics.load(w, 0), w[0]]).includes("[2,1]"),
    false,
  );
});

test("a plain write of a hint is reported", () => {
  const program = race.spec({
    memory,
    agent: words,
    hints: [[0, 4]],
    ops: {
      write: { run: (w) => void (w[0] = 1) },
      read: { run: (w) => w[0] },
    },
  });
  fails(race.check(program, [["write"]], [["read"]]), "data-race");
});

test("lets a hint be written plainly, if the specification says so", () => {
  const seen = new Set<string>();
  const program = race.spec({
    memory,
    agent: words,
    hints: [[0, 4, "written"]],
    ops: {
      write: {
        run: (w) => {
          w[0] = 1;
          Atomics.store(w, 1, 1);
        },
      },
      read: { run: (w) => [w[0], Atomics.load(w, 1), w[0]] },
      atomic: { run: (w) => Atomics.load(w, 0) },
    },
    final: (_, [, [result]]) => void seen.add(JSON.stringify(result)),
  });
  holds(race.check(program, [["write"]], [["read"]]));
  // Who has seen the flag has seen the write; without it, both are possible.
  assert.ok(seen.has("[0,1,1]") && seen.has("[1,0,1]"), [...seen].join(" "));
  assert.not(seen.has("[0,1,0]") || seen.has("[1,1,0]"));
  for (const other of ["write", "atomic"]) {
    fails(race.check(program, [["write"]], [[other]]), "data-race");
  }
});

// ---- states -----------------------------------------------------------------

test("hashes a word that is back at its first value as one never written", () => {
  const memory = new Memory();
  const region = memory.add(new SharedArrayBuffer(8));
  const before = new Int32Array(2);
  const after = new Int32Array(2);
  memory.hash(before);
  memory.touch(region, 4, 4);
  region.words[1] = 5;
  memory.hash(after);
  assert.not.equal(after, before);
  region.words[1] = 0;
  memory.hash(after);
  assert.equal(after, before);
  assert.is(memory.strayWrite(), -1);
  region.words[0] = 1;
  assert.is(memory.strayWrite(), 0);
});

test("a sleep that only looks again hides no lost wake-up", () => {
  // It notifies nobody, and changes a word on which nobody sleeps.
  const sleeper = (waits: number) =>
    race.spec({
      memory,
      agent: words,
      ops: {
        sleep: {
          run: (w) => {
            while (Atomics.load(w, 1) === 0) Atomics.wait(w, 0, 0, waits);
          },
        },
        set: { run: (w) => void Atomics.store(w, 1, 1) },
      },
    });
  const check = (waits: number, options: Options) =>
    race.check(sleeper(waits), [["sleep"]], [["set"]], options) as Result;
  holds(check(1000, {}));
  fails(check(1000, { looks: 1000 }), "deadlock");
  holds(check(1000, { looks: 1000, rescue: true }));
  holds(check(999, { looks: 1000 }));
});

test("offsets are those of memory(), also if it makes other views before", () => {
  const memory = () => {
    new Int32Array(new SharedArrayBuffer(8)); // of no use to agents
    return new SharedArrayBuffer(16);
  };
  const agent = (memory: SharedArrayBuffer) => new Int32Array(memory);
  const ops = {
    look: { run: (w: Int32Array) => w[2] },
    set: { run: (w: Int32Array) => void Atomics.store(w, 2, 1) },
  };
  const check = (more: object, options: Options = {}) =>
    race.check(
      race.spec({ memory, agent, ops, ...more }),
      [["look"]],
      [["set"]],
      options,
    ) as Result;
  const { failure } = check({ words: { flag: 8 } });
  assert.is(failure?.kind, "data-race");
  assert.match(failure!.message, /of flag/);
  assert.match(check({}).failure!.message, /of \[8\]/);
  holds(check({ hints: [[8, 12]] }));
  fails(check({ hints: [[0, 8]] }), "data-race");
  holds(check({}, { races: (at) => at !== 8 }));
  fails(check({}, { races: (at) => at === 8 }), "data-race");

  // An agent's own memory is none of that.
  const allocates = () => new Int32Array(new SharedArrayBuffer(8));
  const own = {
    memory,
    agent,
    ops: { wait: { run: () => void Atomics.wait(allocates(), 1, 0) } },
  };
  const asleep = race.check(race.spec(own), [["wait"]]) as Result;
  assert.match(asleep.failure!.message, /on \[2:4\]/);
});
