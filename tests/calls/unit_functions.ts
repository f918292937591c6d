// also: node
import process from "node:process";
import * as assert from "uvu/assert";
import {
  agentId,
  CallRing,
  type CallRingConfig,
  ClosedError,
  type Codec,
  codec,
  connect,
  type Remote,
  serve,
  type ServeApiOptions,
} from "../../mod.ts";
import { Functions } from "../../primitives/_calls/client/functions.ts";
import { hostsOf } from "../../primitives/_calls/hosts.ts";
import { suite } from "../_run/harness.ts";
import { listened } from "../_run/listened.ts";
import { asAgent, wordsOf } from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";
import { api } from "./functions_api.ts";
import { collecting, rejection } from "./parts.ts";

const AGENT = new URL("./functions_agent.ts", import.meta.url);
const TELLER = new URL("./functions_teller.ts", import.meta.url);

const test = suite("calls: functions");

type Api = typeof api;

const pause = (ms = 2) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for what takes some turns of the event loop. */
async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (isSo()) return;
    await pause();
  }
  assert.unreachable(`never: ${isSo}`);
}

/** Waits until all slots are free. */
const freed = (ring: CallRing) => until(() => ring.pending === 0);

class Denied extends Error {
  override readonly name = "Denied";
  constructor(readonly user: string) {
    super(`${user} may not`);
  }
}

/** Serves what calls back while `run` calls it. */
async function within(
  run: (remote: Remote<Api>, ring: CallRing) => Promise<void>,
  { codec, limit, ...config }:
    & Partial<CallRingConfig>
    & Pick<ServeApiOptions, "codec" | "limit"> = {},
): Promise<void> {
  const ring = CallRing.create({ slots: 3, request: 64, reply: 64, ...config });
  const errors = [Denied];
  const limited = limit === undefined ? {} : { limit };
  const served = serve(ring, api, { codec, errors, ...limited });
  api.clear();
  try {
    await run(connect<Api>(ring, { codec, errors } as never), ring);
  } finally {
    ring.close();
  }
  await served;
  await freed(ring);
}

const json = codec.json as Codec<unknown>;

for (const slots of [1, 3]) {
  for (const given of [undefined, json]) {
    const name = `${slots} slots, ${given === undefined ? "values" : "json"}`;

    test(`functions are called back in order: ${name}`, () =>
      within(async (remote) => {
        assert.equal(await remote.each(3, (n) => 2 * n), [0, 2, 4]);
        const late = async (n: number) => {
          await pause();
          return `${n}`.repeat(50);
        };
        const texts = ["0", "1", "2"].map((text) => text.repeat(50));
        assert.equal(await remote.each(3, late), texts);
        assert.equal(await remote.all(3, late), texts);
        const seen: number[] = [];
        const fired = remote.fire(4, (n) => seen.push(n));
        assert.is(await fired, "fired");
        assert.equal(seen, [0, 1, 2, 3], "before the result");
        const both = [remote.each(2, (n) => n), remote.each(2, (n) => -n - 1)];
        assert.equal(await Promise.all(both), [[0, 1], [-1, -2]]);
      }, { slots, codec: given }));
  }
}

test("no other call takes the slot of one that is called back", () =>
  within(async (remote) => {
    const each = (by: number) =>
      remote.each(2, async (n) => {
        await pause();
        return by * n;
      });
    const all = await Promise.all([1, 2, 3, 4].map(each));
    assert.equal(all, [[0, 1], [0, 2], [0, 3], [0, 4]]);
    await remote.keep((n) => n);
    const told = await Promise.all([1, 2, 3, 4].map((n) => remote.tell(n)));
    assert.equal(told, [[1], [2], [3], [4]]);
  }, { limit: 1, slots: 2 }));

test("what has a place of its own is among the first 255 arguments", () =>
  within(async (remote) => {
    const fn = () => 1;
    const places = [...Array(255).keys()];
    assert.equal(await remote.places(...places.map(() => fn)), places);
    const { signal } = new AbortController();
    for (const special of [fn, [1].values(), signal]) {
      const before = Array(254).fill(0);
      assert.equal(await remote.places(...before, special, 1), [254]);
      for (const more of [1, 2, 47]) {
        // With a function in front, which is not kept.
        const args = [fn, ...before, ...Array(more - 1).fill(0), special];
        const { name, message } = await rejection(remote.places(...args));
        assert.is(name, "RangeError");
        assert.match(message, "the first 255 arguments: received one as args[");
        assert.match(message, `args[${254 + more}]`);
      }
    }
  }, { request: 4096, reply: 4096 }));

test("errors arrive from function to method and back", () =>
  within(async (remote) => {
    const error = await rejection(remote.each(1, () => {
      throw new Denied("Ann");
    }));
    assert.instance(error, Denied);
    assert.is((error as Denied).user, "Ann");
    assert.match(error.stack!, "unit_functions");
    const later = rejection(remote.each(1, () => Promise.reject(7)));
    assert.is(await later as unknown, 7);
    const nothing = rejection(remote.each(1, () => Promise.reject(undefined)));
    assert.is(await nothing as unknown, undefined);
    const unsent = await rejection(remote.each(1, () => () => 1));
    assert.match(unsent.message, "Cannot encode");
    const odd = await rejection(remote.odd((value) => value));
    assert.match(odd.message, "Cannot encode");
    assert.equal(await remote.each(1, (n) => n), [0]);
  }));

test("an error says which value a function threw, if that cannot be sent", () =>
  within(async (remote) => {
    const thrown: [value: unknown, text: string][] = [
      [Symbol("none"), "The function threw Symbol(none)"],
      [() => {}, "The function threw a function"],
    ];
    for (const [value, text] of thrown) {
      const fails = () => {
        throw value;
      };
      const error = await rejection(remote.each(1, fails));
      assert.instance(error, Error);
      assert.is(error.message, text);
    }
    // As it is, if it can be sent.
    const fails = () => {
      throw { code: 7 };
    };
    assert.equal(await rejection(remote.each(1, fails)), { code: 7 });
  }));

test("methods keep functions, and using releases them", () =>
  within(async (remote, ring) => {
    await remote.keep((n) => n + 1);
    await remote.keep(async (n) => {
      await pause();
      return n + 2;
    });
    assert.equal(await remote.tell(5), [6, 7]);
    assert.equal(await remote.tell(6), [7, 8]);
    assert.is(ring.pending, 1, "one slot for all functions that are kept");
    await remote.release();
    assert.equal(await remote.tell(5), [7]);
    await remote.release();
    await freed(ring);
    const error = await rejection(remote.released((n) => n));
    assert.match(error.message, "was released");
    await remote.keep((n) => n);
    assert.equal(await remote.tell(1), [1]);
  }));

test("a server notes nothing of talks that are over", () =>
  within(async (remote, ring) => {
    const { talks, invocations } = hostsOf(wordsOf(ring)).desk;
    const throws = () => {
      throw new Error("no");
    };
    for (let i = 0; i < 20; i++) {
      assert.equal(await remote.each(2, (n) => n + i), [i, i + 1]);
      assert.is((await rejection(remote.each(2, throws))).message, "no");
      assert.is(await remote.fire(2, (n) => n), "fired");
      assert.equal([talks.size, invocations.size], [0, 0], `${i}`);
    }
  }));

test("functions count as kept until each is released, whatever their call", () =>
  within(async (remote, ring) => {
    const { listeners } = hostsOf(wordsOf(ring)).desk;
    const keptNow = () =>
      [...listeners.values()].map(({ kept }) => kept).join();
    for (let round = 0; round < 3; round++) {
      for (const n of [1, 2, 3]) {
        await remote.keep((i) => i + n);
        assert.is(keptNow(), `${n}`);
      }
      assert.equal(await remote.tell(5), [6, 7, 8]);
      for (const left of [2, 1, 0]) {
        await remote.release();
        await until(() => (keptNow() || "0") === `${left}`);
      }
      await freed(ring);
    }
  }));

test("a release does not cost a caller the slot in which it listens", () =>
  within(async (_, ring) => {
    const { handle } = ring;
    const start = (keeps: boolean, count: number) =>
      spawn(TELLER, { ring: handle, keeps, count });
    const keeper = await start(true, 400);
    assert.is(await keeper.next(), "done");
    // Each call waits for the keeper's last function, and fills a slot.
    const tellers = await Promise.all(
      [1, 2, 3, 4].map(() => start(false, 200)),
    );
    for (const teller of tellers) assert.is(await teller.next(), "done");
    ring.close();
    await freed(ring); // the keeper hears of it
    for (const thread of [keeper, ...tellers]) thread.stop();
  }, { slots: 2 }));

test("a function that nothing there stands for is released", () =>
  collecting((collect) =>
    within(async (remote, ring) => {
      await remote.keep((n) => n + 1);
      assert.equal(await remote.tell(5), [6]);
      assert.is(ring.pending, 1);
      api.clear();
      for (const run of collect) run();
      await freed(ring);
    })
  ));

test("a ring of one slot cannot carry later calls back", () =>
  within(async (remote) => {
    await remote.keep((n) => n + 1);
    const error = await rejection(remote.tell(5));
    assert.match(error.message, "a ring of 2 slots");
  }, { slots: 1 }));

test("several servers let half of the slots listen, all together", async () => {
  const ring = CallRing.create({ slots: 2, request: 64, reply: 64 });
  let open = () => {};
  const gate = new Promise<void>((resolve) => open = resolve);
  const kept: (() => unknown)[] = [];
  const served = {
    async keep(fn: () => unknown) {
      kept.push(fn);
      await gate;
    },
    plain: () => 1,
  };
  const servers = [serve(ring, served)];
  const remote = connect<typeof served>(ring, { timeout: 2000 });
  const calls = [remote.keep(() => 1)];
  await until(() => kept.length === 1);
  calls.push(remote.keep(() => 2));
  // It takes the second call at once.
  const there = CallRing.from(structuredClone(ring.handle));
  servers.push(asAgent(agentId() ^ 1, () => serve(there, served)));
  assert.is(kept.length, 2);
  open();
  await Promise.all(calls);
  for (let i = 0; i < 3; i++) assert.is(await remote.plain(), 1);
  const results = await Promise.allSettled(kept.map((fn) => fn()));
  const values = results.map((it) => it.status === "fulfilled" && it.value);
  assert.equal(values, [1, false]);
  ring.close();
  await Promise.all(servers);
  await freed(ring);
});

for (const [slots, how] of [[10, "go on"], [4, "wait"]] as const) {
  test(`4 callers whose functions call again ${how} with ${slots} slots`, () =>
    within(async (_, ring) => {
      const call = async () => {
        const remote = connect<Api>(ring, {
          timeout: slots === 4 ? 100 : 9999,
        });
        const again = async (n: number) => {
          const [sum] = await remote.each(1, () => n);
          return sum;
        };
        return await remote.each(2, again);
      };
      const calls = await Promise.allSettled([1, 2, 3, 4].map(call));
      for (const it of calls) {
        if (it.status === "fulfilled") assert.equal(it.value, [0, 1]);
        else assert.is((it.reason as Error).name, "TimeoutError");
      }
      const done = calls.filter(({ status }) => status === "fulfilled");
      assert.is(done.length === 4, slots > 4);
    }, { slots }));
}

test("methods that call back count for the limit, and others wait", () =>
  within(async (remote) => {
    let running = 0, most = 0;
    const each = () =>
      remote.each(2, async () => {
        most = Math.max(most, ++running);
        await pause();
        running--;
      });
    await Promise.all([each(), each(), each(), remote.fire(1, () => 0)]);
    assert.is(most, 1);
  }, { limit: 1, slots: 4 }));

test("a call that was given up is not called back any more", () =>
  within(async (remote) => {
    const control = new AbortController();
    const { signal } = control;
    const reason = new Error("enough");
    const call = rejection(remote.waitAfter(() => {}, signal));
    const before = api.answers();
    await until(() => api.answers() > before);
    control.abort(reason);
    assert.is(await call, reason);
    const seen: unknown[] = [];
    await until(() => seen.push(...api.reasons()) > 0);
    assert.is((seen[0] as Error).message, "enough");
    // It is aborted by the function itself, while nobody waits in a slot.
    const other = new AbortController();
    const early = rejection(remote.waitAfter(() => {
      other.abort(reason);
    }, other.signal));
    assert.is(await early, reason);
    await pause(30);
    await pause(30);
    const left = await remote.reasons();
    assert.is(left.length, 0, "its function was not answered");
  }, { request: 256 }));

test("an abort ends a call whose function has not ended", () =>
  within(async (remote) => {
    const control = new AbortController();
    const reason = new Error("enough");
    let begun = false;
    const endless = rejection(remote.waitAfter(() => {
      begun = true;
      return new Promise<void>(() => {});
    }, control.signal));
    await until(() => begun);
    control.abort(reason);
    assert.is(await Promise.race([endless, pause(1000)]), reason);
  }, { request: 256 }));

test("all calls of one signal have one listener", () =>
  within(async (remote) => {
    const { control, signal, listeners } = listened();
    let begun = 0;
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    const calls = [1, 2].map(() =>
      rejection(remote.waitAfter(() => {
        begun++;
        return gate;
      }, signal))
    );
    await until(() => begun === 2);
    assert.equal(listeners, { now: 1, most: 1 });
    control.abort("enough");
    assert.equal(await Promise.all(calls), ["enough", "enough"]);
    open();
    await until(() => listeners.now === 0);
    assert.is(listeners.most, 1);
  }, { request: 256 }));

/** Arguments that cannot be read, what they throw, and where. */
const unreadable: [arg: object, message: RegExp, isBegun: boolean][] = [
  [
    {
      get next() {
        throw new Error("no next");
      },
    },
    /no next/,
    false,
  ],
  [
    new Proxy({}, {
      has() {
        throw new Error("not there");
      },
    }),
    /not there/,
    false,
  ],
  [
    {
      [Symbol.asyncIterator]() {
        throw new Error("no iterator");
      },
    },
    /no iterator/,
    true, // the arguments before it were opened
  ],
];

test("an argument that cannot be read rejects the call", () =>
  within(async (remote, ring) => {
    // deno-lint-ignore no-explicit-any
    const any = remote as any;
    for (const [arg, message, isBegun] of unreadable) {
      let returned = 0;
      const numbers = {
        next: () => ({ done: false, value: 1 }),
        return: () => ({ done: true, value: returned++ }),
        [Symbol.iterator]: () => numbers,
      };
      let call: Promise<unknown> | undefined;
      assert.not.throws(() => call = any.each(numbers, arg));
      assert.match((await rejection(call!)).message, message);
      assert.is(returned, isBegun ? 1 : 0);
    }
    assert.is(ring.pending, 0);
  }));

test("a function may take long for arguments that came in pieces", () =>
  within(async (remote) => {
    // Its caller keeps its slot meanwhile, listens in one, and calls in one.
    const length = await remote.spell(500, async (text) => {
      await pause(20);
      const calls = [1, 2].map(() => remote.each(1, (n) => n));
      assert.equal(await Promise.all(calls), [[0], [0]]);
      return text.length;
    });
    assert.is(length, 500);
  }, { slots: 3, request: 256 }));

test("a slot that a caller has left is taken by its next call", () =>
  within(async (remote, ring) => {
    for (let ticks = 0; ticks < 40; ticks++) {
      const control = new AbortController();
      const { signal } = control;
      const reason = new Error("enough");
      // It gives up while it answers the function, and calls again at once.
      const early = rejection(remote.waitAfter(async () => {
        await undefined;
        void (async () => {
          for (let i = 0; i < ticks; i++) await undefined;
          control.abort(reason);
        })();
      }, signal));
      assert.is(await early, reason);
      assert.equal(await remote.each(1, (n) => n), [0]);
    }
    await freed(ring);
  }, { slots: 1, limit: 1, request: 256 }));

test("the end of a server ends what waits for an answer", async () => {
  const ring = CallRing.create({ slots: 3, request: 64, reply: 64 });
  const control = new AbortController();
  const { signal } = control;
  const serving = serve(ring, api, { signal }).catch(() => "ended");
  const remote = connect<Api>(ring);
  const error = rejection(remote.each(1, async (n) => {
    control.abort();
    await pause(5);
    return n;
  }));
  assert.is(await serving, "ended");
  const next = serve(ring, api);
  assert.match((await error).message, "before the caller answered");
  ring.close();
  await next;
  await freed(ring);
});

test("a method that calls back after the end fails, and its server ends", async () => {
  const ring = CallRing.create({ slots: 3, request: 64, reply: 4096 });
  let goOn!: (_: unknown) => void;
  const gate = new Promise((resolve) => goOn = resolve);
  let kept!: Each;
  type Each = (n: number) => Promise<number>;
  const late = {
    keep: (fn: Each): void => void (kept = fn),
    afterGate: async (fn: Each): Promise<number> => {
      await gate;
      return await fn(1);
    },
  };
  // The second call begins only when the first has ended.
  const served = serve(ring, late, { limit: 1 });
  const remote = connect<typeof late>(ring);
  const fn = (n: number) => Promise.resolve(n);
  await remote.keep(fn);
  const errors = [1, 2].map(() => rejection(remote.afterGate(fn)));
  await pause();
  ring.close();
  await pause();
  goOn(undefined);
  assert.is(await served, 3);
  for (const error of await Promise.all(errors)) {
    assert.is(error.name, "ClosedError");
    assert.match(error.message, "before the caller answered");
  }
  assert.match((await rejection(kept(1))).message, "The server has ended");
  await freed(ring);
});

test("iterators are arguments, and end with their loop", () =>
  within(async (remote) => {
    let ended = 0;
    const count = async function* (n: number) {
      try {
        for (let i = 0; i < n; i++) {
          if (i % 2 === 0) await pause();
          yield i;
        }
      } finally {
        ended++;
      }
    };
    assert.is(await remote.sum(count(5), 100), 10);
    assert.is(ended, 1);
    assert.is(await remote.sum(count(1000), 20), 21);
    assert.is(ended, 2);
    assert.is(await remote.sum([1, 2, 3].values(), 100), 6);
    const error = await rejection(remote.sum(
      // deno-lint-ignore require-yield
      (async function* () {
        await pause();
        throw new RangeError("no more");
      })(),
      100,
    ));
    assert.instance(error, RangeError);
  }));

for (const blocking of [false, true]) {
  const server = blocking ? "blocks" : "awaits";

  test(`a caller that blocks is called back by one that ${server}`, async () => {
    const { handle } = CallRing.create({ slots: 3, request: 64, reply: 64 });
    const ring = CallRing.from(handle);
    const thread = await spawn(AGENT, { ring: handle, blocking });
    await thread.next();
    const now = connect.blocking<Api>(ring);
    const remote = connect<Api>(ring);
    if (blocking) {
      assert.equal(now.eachNow(3, (n) => 2 * n), [0, 2, 4]);
      assert.is(now.sumNow([1, 2, 3, 4].values(), 5), 6);
      const late = async (n: number) => {
        await pause();
        return n;
      };
      assert.equal(await remote.eachNow(3, late), [0, 1, 2]);
      // Two talks are open at a time, and each gets its own answers.
      const both = [remote.eachNow(3, late), remote.eachNow(3, (n) => -n - 1)];
      assert.equal(await Promise.all(both), [[0, 1, 2], [-1, -2, -3]]);
      await remote.keepNow((n) => n + 1);
      assert.equal(await remote.tellNow(5), [6]);
    } else {
      assert.equal(now.each(3, (n) => 2 * n), [0, 2, 4]);
      assert.is(now.sum([1, 2, 3, 4].values(), 5), 6);
      assert.throws(
        () => now.each(1, (() => Promise.resolve(1)) as never),
        /returned a promise/,
      );
      assert.throws(
        () =>
          now.each(1, () => {
            throw new RangeError("mine");
          }),
        /mine/,
      );
      now.keep((n) => n);
      assert.throws(() => now.tell(1), /The caller blocks/);
    }
    ring.close();
    await thread.next();
    thread.stop();
  });
}

for (const blocking of [false, true]) {
  const server = blocking ? "blocks" : "awaits";

  test(`a server that ${server} learns that a caller died`, async () => {
    const { handle } = CallRing.create({ slots: 3, request: 64, reply: 64 });
    const ring = CallRing.from(handle);
    const thread = await spawn(AGENT, { ring: handle, blocking });
    await thread.next();
    const remote = connect<Api>(ring);
    let called!: (_: unknown) => void;
    const calling = new Promise((resolve) => called = resolve);
    const never = (): Promise<unknown> => {
      called(undefined);
      return new Promise(() => {});
    };
    void (blocking ? remote.triedNow(never) : remote.tried(never));
    await calling;
    // As if this agent had died then.
    assert.is(ring.abandon(agentId()), 1);
    let failures: string[] = [];
    for (let i = 0; failures.length === 0 && i < 500; i++) {
      await pause(20);
      failures = await connect<Api>(ring).failures();
    }
    assert.equal(failures, ["The caller has given up"]);
    ring.close();
    await thread.next();
    thread.stop();
  });
}

test("who gave up does not keep what its function was kept by", async () => {
  const ring = CallRing.create({ slots: 3, request: 64, reply: 256 });
  let later: ((n: number) => Promise<number>) | undefined;
  let goOn!: (_: unknown) => void;
  const gate = new Promise((resolve) => goOn = resolve);
  const api = {
    keep: async (
      fn: (n: number) => Promise<number>,
      _: AbortSignal,
    ): Promise<void> => {
      later = fn;
      await gate;
    },
  };
  const served = serve(ring, api);
  const remote = connect<typeof api>(ring);
  const control = new AbortController();
  const call = rejection(
    remote.keep((n) => Promise.resolve(n), control.signal),
  );
  await until(() => later !== undefined);
  control.abort();
  assert.is((await call).name, "AbortError");
  goOn(undefined);
  await freed(ring);
  assert.match((await rejection(later!(1))).message, "has given up");
  ring.close();
  await served;
});

test("a method need not await calls back that nobody answers", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  const ring = CallRing.create({ slots: 4, request: 64, reply: 64 });
  let kept: (() => unknown) | undefined;
  const api = {
    async tell(fn: () => unknown, signal: AbortSignal) {
      while (!signal.aborted) {
        fn();
        await pause();
      }
      fn();
      await pause();
    },
    keep: (fn: () => unknown) => void (kept = fn),
  };
  const served = serve(ring, api);
  const remote = connect<typeof api>(ring);
  const control = new AbortController();
  let called = 0;
  const call = rejection(remote.tell(() => called++, control.signal));
  await until(() => called > 0);
  control.abort();
  assert.is((await call).name, "AbortError");
  await remote.keep(() => pause(1000));
  kept!(); // the server ends before the caller answers
  ring.close();
  await served;
  kept!();
  // Who awaits it hears of it.
  assert.instance(await rejection(kept!() as Promise<unknown>), ClosedError);
  await pause(10);
  process.off("unhandledRejection", note);
  assert.equal(unhandled, []);
});

test("callers that listen leave slots to others", () =>
  collecting(() =>
    // so the server has their functions until the end
    within(async (remote, ring) => {
      const callers = [1, 2, 3, 4].map(() => connect<Api>(ring));
      for (const caller of callers) await caller.each(1, (n) => n);
      assert.is(ring.pending, 2);
      await callers[0]!.keep((n) => n + 1);
      await callers[1]!.keep((n) => n + 2);
      assert.equal(await remote.tell(1), [2, 3]);
      await callers[2]!.keep((n) => n + 3);
      const error = await rejection(remote.tell(1));
      assert.match(error.message, "2 slots for each");
    }, { slots: 4 })
  ));

test("a talk finds its server among several", async () => {
  const { handle } = CallRing.create({ slots: 4, request: 64, reply: 64 });
  const ring = CallRing.from(handle);
  const threads = await Promise.all(
    [1, 2].map(() => spawn(AGENT, { ring: handle, blocking: false })),
  );
  for (const thread of threads) await thread.next();
  const remote = connect<Api>(ring);
  const calls = [1, 10, 100].map((by) => remote.each(3, (n) => by * n));
  const results = await Promise.all(calls);
  assert.equal(results, [1, 10, 100].map((by) => [0, by, 2 * by]));
  // A long result goes in pieces, all of which another server may take.
  const long = "x".repeat(500);
  for (let i = 0; i < 4; i++) {
    assert.equal(await remote.each(2, () => long), [long, long]);
  }
  ring.close();
  for (const thread of threads) {
    await thread.next();
    thread.stop();
  }
});

test("nothing is kept of agents that have released all functions", () => {
  const functions = new Functions(
    codec.structured as Codec<unknown>,
    new Map(),
  );
  const { set } = Map.prototype;
  const maps = new Set<Map<unknown, unknown>>();
  Map.prototype.set = function (key, value) {
    maps.add(this);
    return Reflect.apply(set, this, [key, value]);
  };
  try {
    for (let agent = 1; agent < 50; agent++) {
      const [, , ids] = functions.take([() => 1, () => 2]);
      functions.keep(agent, ids);
      functions.end(ids);
      assert.ok(functions.isKept(agent));
      functions.release(agent, agent % 2 === 0 ? ids : undefined);
      assert.not.ok(functions.isKept(agent));
    }
  } finally {
    Map.prototype.set = set;
  }
  assert.ok(maps.size > 0);
  for (const { size } of maps) assert.is(size, 0);
});

test("a function that was released before it was kept is not kept", () => {
  const functions = new Functions(
    codec.structured as Codec<unknown>,
    new Map(),
  );
  const [, , ids] = functions.take([() => 1, () => 2]);
  functions.keep(7, ids.slice(0, 1));
  // The news came in another slot than the answer, and was read first.
  functions.release(7, ids);
  assert.not.ok(functions.isKept(7));
  functions.keep(7, ids.slice(1));
  assert.not.ok(functions.isKept(7));
  functions.end(ids);
  const [, , later] = functions.take([() => 3]);
  functions.keep(7, later);
  assert.ok(functions.isKept(7));
});
