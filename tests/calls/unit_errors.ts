// also: node
// Errors that calls end by.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  CallRing,
  type Codec,
  codec,
  connect,
  serve,
  transfer,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { assertSuppressed, suppressed } from "../_run/suppressed.ts";
import { api } from "./api.ts";
import {
  between,
  CODECS,
  echo,
  refuses,
  rejection,
  type Thrown,
  thrown,
} from "./parts.ts";

const test = suite("errors of calls");

// ---- errors -----------------------------------------------------------------

test("errors arrive whole, whatever the slots' size", async () => {
  await fc.assert(
    fc.asyncProperty(
      thrown,
      fc.constantFrom(4, 64, 4096),
      fc.boolean(),
      async ({ Class, name, message, code, cause }, reply, nested) => {
        const inner = new TypeError("inner", { cause });
        const error: Thrown = new Class(message, {
          cause: nested ? inner : cause,
        });
        if (name !== null) error.name = name;
        if (code !== null) error.code = code;
        const fails = {
          fail: () => {
            throw error;
          },
        };
        await between(fails, async (ring) => {
          const end = await rejection(connect<typeof fails>(ring).fail());
          const got = end as Thrown;
          assert.is(got.name, error.name);
          assert.is(got.message, error.message);
          assert.is(got.stack, error.stack);
          assert.is(got.code, error.code);
          if (name === null) assert.instance(got, Class);
          if (nested) {
            assert.instance(got.cause, TypeError);
            const { stack, cause: of } = got.cause as Error;
            assert.equal([stack, of], [inner.stack, cause]);
          } else assert.equal(got.cause, cause);
        }, { reply });
      },
    ),
    { numRuns: 30 },
  );
});

test("an error whose causes form a graph arrives soon", async () => {
  const parts = (n: number, cause?: unknown) =>
    Array.from({ length: n }, (_, i) => new Error(`part ${i}`, { cause }));
  /** Each part of an aggregate has the aggregate as its cause. */
  const shared = (n: number) => {
    const all = new AggregateError(parts(n), "shared");
    for (const part of all.errors) part.cause = all;
    return all;
  };
  /** Of each level, each error has the whole level below as its causes. */
  const layers = (n: number) => {
    let all = new AggregateError(parts(n), "layer 0");
    for (let i = 1; i <= n; i++) {
      all = new AggregateError(parts(n, all), `layer ${i}`);
    }
    return all;
  };
  /** Data of which JSON has a million times more parts than it has itself. */
  const data = (n: number) => {
    let all: unknown[] = [];
    for (let i = 0; i < n; i++) all = [all, all, all];
    return new Error("data", { cause: all });
  };
  const many = (n: number) => new AggregateError(parts(n * 100), "many");
  const makes = { shared, layers, data, many };
  const fails = {
    fail: (what: keyof typeof makes, n: number) => {
      throw makes[what](n);
    },
  };
  await between(fails, async (ring) => {
    const remote = connect<typeof fails>(ring);
    for (const n of [1, 2, 3, 5, 8, 30]) {
      for (const what of Object.keys(makes) as (keyof typeof makes)[]) {
        const begin = performance.now();
        const error = await rejection(remote.fail(what, n)) as AggregateError;
        const ms = performance.now() - begin;
        assert.ok(ms < 8000, `${what} of ${n}: ${ms} ms`);
        if (what === "data") continue;
        const { errors, name } = error;
        assert.is(name, "AggregateError");
        assert.ok(errors.length === n || what === "many");
        assert.is(errors[0].message, "part 0");
        if (what !== "shared") continue;
        assert.is(errors[n - 1].cause.message, "shared");
        assert.is(errors[n - 1].cause.cause, undefined);
      }
    }
  }, { reply: 65536 });
});

test("an error arrives with its errors and its code, whatever they are", async () => {
  const path = { path: "name", why: "required" };
  const all: Record<string, Error & { errors?: unknown; code?: unknown }> = {
    list: Object.assign(new Error("list"), { errors: ["late", path] }),
    object: Object.assign(new TypeError("object"), { errors: { name: path } }),
    code: Object.assign(new RangeError("code"), { code: { number: 7 } }),
    renamed: Object.assign(new AggregateError([new Error("one")], "renamed"), {
      name: "SeveralError",
    }),
  };
  const fails = {
    fail: (what: string) => {
      throw all[what];
    },
  };
  await between(fails, async (ring) => {
    const remote = connect<typeof fails>(ring);
    const of = async (what: string) =>
      await rejection(remote.fail(what)) as AggregateError & { code?: unknown };
    assert.equal((await of("list")).errors, ["late", path]);
    assert.equal((await of("object")).errors as unknown, { name: path });
    assert.equal((await of("code")).code, { number: 7 });
    const { name, errors: [one] } = await of("renamed");
    assert.is(name, "SeveralError");
    assert.is(one.message, "one");
  });
});

test("no list of errors is longer than all that may be told", async () => {
  const deep = new AggregateError([1, 2, 3], "deep");
  const caused = new Error("caused", { cause: "none is left for it" });
  const parts: unknown[] = Array.from({ length: 254 }, (_, i) => i);
  const whole = new AggregateError([...parts, caused, deep], "whole");
  const fails = {
    fail: () => {
      throw whole;
    },
  };
  await between(fails, async (ring) => {
    const error = await rejection(connect<typeof fails>(ring).fail());
    const { errors } = error as AggregateError;
    assert.is(errors.length, 256);
    assert.equal(errors[255].errors.map(String), ["Error: and 3 more"]);
  }, { reply: 65536 });
});

test("an error that is its own cause, or cannot be read, ends the call", async () => {
  const looped = new Error("looped");
  looped.cause = looped;
  const hostile = Object.defineProperty(new Error(), "message", {
    get: () => {
      throw new Error("no");
    },
  });
  const several = new AggregateError([new TypeError("one"), 2], "several");
  const both = suppressed(new TypeError("late"), new RangeError("early"));
  const { proxy: unreadable, revoke } = Proxy.revocable({}, {});
  revoke();
  const all: Record<string, unknown> = {
    ...{ looped, hostile, several, both, unreadable, text: "text" },
    ...{ nan: NaN, nothing: undefined, abort: new DOMException("a", "b") },
  };
  const fails = {
    fail: (what: string) => {
      throw all[what];
    },
  };
  await between(fails, async (ring) => {
    const remote = connect<typeof fails>(ring);
    const of = (what: string) =>
      rejection(remote.fail(what)) as Promise<AggregateError>;
    assert.is(((await of("looped")).cause as Error).message, "looped");
    assert.match((await of("hostile")).message, "cannot be read");
    const { errors, message } = await of("several");
    assert.is(message, "several");
    assert.instance(errors[0], TypeError);
    assert.is(errors[1], 2);
    assertSuppressed(await of("both"));
    assert.is(await of("text"), "text");
    assert.match(
      (await of("unreadable")).message,
      "threw a value that cannot be read",
    );
    assert.ok(Number.isNaN(await of("nan") as unknown));
    assert.is(await of("nothing") as unknown, undefined);
    assert.equal([(await of("abort")).name, (await of("abort")).message], [
      "b",
      "a",
    ]);
  });
  const { json } = codec;
  await between(fails, async (ring) => {
    const remote = connect<typeof fails>(ring, { codec: json });
    const of = (what: string) =>
      rejection(remote.fail(what)) as Promise<AggregateError>;
    assert.match((await of("nan")).message, "threw NaN");
    assert.is(await of("nothing") as unknown, undefined);
  }, { codec: json as Codec<unknown> });
});

for (const [name, codec] of CODECS) {
  test(`what cannot be carried is refused with its path: ${name}`, async () => {
    /** An argument and a result that it does not carry. */
    const [argument, result] = codec === undefined
      ? [() => {}, Symbol("none")]
      : [1n, NaN];
    const count = await between(
      { echo: echo.echo, odd: () => ({ a: [result] }) },
      async (ring) => {
        const api = connect<typeof echo & { odd(): unknown }>(ring, { codec });
        const sent = await rejection(api.echo(1, { b: [0, argument] }));
        assert.instance(sent, TypeError);
        assert.match((sent as Error).message, 'at [1]["b"][1]');
        assert.is(ring.pending, 0);
        const got = await rejection(api.odd());
        assert.instance(got, TypeError);
        assert.match((got as Error).message, 'at ["a"][0]');
        const long = await rejection(api.echo("x".repeat(100), [argument]));
        assert.match((long as Error).message, "at [1]");
      },
      { codec },
    );
    assert.is(count, 1); // nothing was sent of the other two
  });
}

test("an unknown method is an error that names those there are", async () => {
  await between(api, async (ring) => {
    const remote = connect<Record<string, () => void>>(ring);
    for (const name of ["sub", "constructor", "toString", "ü"]) {
      const error = await rejection(remote[name]!());
      assert.instance(error, TypeError);
      assert.is(
        (error as Error).message,
        `No method ${JSON.stringify(name)} is served: there are ` +
          "add, later, repeat, fail, spin, reason",
      );
    }
    assert.is(remote.then, undefined); // so it can be awaited
  });
});

test("wrong arguments are refused, before anything happens", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const any = (value: unknown) => value as never;
  refuses(() => connect(any({})), TypeError, "Calls need a CallRing");
  refuses(() => connect(ring, any({ tmeout: 1 })), TypeError, "tmeout");
  refuses(() => connect(ring, { timeout: -1 }), RangeError, "-1");
  refuses(() => connect(ring, any({ ref: 1 })), TypeError, "ref");
  const json = codec.json;
  for (const lost of [null, {}, { ...json, name: 7 }, { ...json, name: "" }]) {
    refuses(() => connect(ring, any({ codec: lost })), TypeError, "codec");
  }
  for (const lost of ["encode", "decode"]) {
    const given = any({ codec: { ...json, [lost]: 7 } });
    refuses(() => connect(ring, given), TypeError, "The codec of calls");
  }
  refuses(() => connect.blocking(ring, any({ ref: true })), TypeError, "ref");
  refuses(() => serve.blocking(ring, any(5)), TypeError, "5");
  refuses(() => serve.blocking(ring, {}), TypeError, "it has none");
  refuses(() => serve.blocking(ring, { then() {} }), TypeError, "then");
  for (const [request, reply] of [[8, 64], [64, 0]] as const) {
    const small = CallRing.create({ request, reply });
    refuses(() => connect(small), RangeError, "12 bytes or more");
  }
  const wrong = await rejection(serve(ring, api, any({ lmit: 1 })));
  assert.match((wrong as Error).message, "lmit");
  const none = await rejection(serve(ring, api, { limit: 0 }));
  assert.instance(none, RangeError);
  const name = "x".repeat(256);
  refuses(
    () => connect<Record<string, () => void>>(ring)[name],
    RangeError,
    "256",
  );
});

test("a codec that decodes no list of arguments fails the call", async () => {
  const odd: Codec<unknown> = {
    ...codec.json as Codec<unknown>,
    name: "odd",
    decode: () => 7,
  };
  const served = { add: (n: number) => n + 1, give: () => transfer({}) };
  await between(served, async (ring) => {
    const remote = connect<typeof served>(ring, { codec: odd });
    const error = await rejection(remote.add(5));
    assert.instance(error, TypeError);
    const what = "arguments of add must be an array: the codec decoded 7";
    assert.match((error as Error).message, what);
    // Nor is a transfer a value of such a codec.
    const result = await rejection(remote.give());
    assert.instance(result, TypeError);
    assert.match((result as Error).message, "The result");
  }, { codec: odd });
});

// ---- errors of one's own ----------------------------------------------------

class Denied extends Error {
  override readonly name = "Denied";
  constructor(readonly user: string, readonly tries: number) {
    super(`${user} may not`);
  }
}

class Other extends Denied {}

test("an error of a class of one's own arrives as one, with its fields", async () => {
  const served = {
    deny(user: string): never {
      const more = { code: "E7", loop: {} as object, since: 7n };
      const error = Object.assign(new Denied(user, 3), more);
      error.loop = { error };
      throw error;
    },
    other(): never {
      throw new Other("Bob", 1);
    },
  };
  const ring = CallRing.create({ request: 64, reply: 64 });
  const serving = serve(ring, served, { errors: [Denied] });
  const remote = connect<typeof served>(ring, { errors: [Denied] });
  const error = await rejection(remote.deny("Ann")) as Denied & {
    code: string;
  };
  assert.ok(error instanceof Denied && error instanceof Error);
  assert.is(error.message, "Ann may not");
  assert.is(error.name, "Denied");
  assert.equal([error.user, error.tries, error.code], ["Ann", 3, "E7"]);
  assert.not.ok("loop" in error || "since" in error, "JSON cannot carry them");
  assert.match(error.stack!, /deny/);
  // A class that is not named, or not by both sides, is an Error.
  const other = await rejection(remote.other());
  assert.ok(other instanceof Error && !(other instanceof Denied));
  const plain = await rejection(connect<typeof served>(ring).deny("Ann"));
  assert.ok(plain instanceof Error && !(plain instanceof Denied));
  assert.is((plain as Error).name, "Denied");
  assert.equal((plain as unknown as Denied).tries, 3);
  ring.close();
  await serving;
});

test("fields of any error arrive, as far as JSON carries them", async () => {
  const served = {
    parse(): never {
      const loc = { line: 3, column: 7 };
      const error = Object.assign(new SyntaxError("no", { cause: cause() }), {
        loc,
        ["__proto__x"]: null,
        none: undefined,
        call: () => 1,
        huge: Array.from({ length: 100_001 }, () => 0),
      });
      Object.defineProperty(error, "hidden", { value: 1 });
      Object.defineProperty(error, "stops", {
        enumerable: true,
        get() {
          throw new Error("a getter");
        },
      });
      Object.defineProperty(error, "__proto__", { value: 1, enumerable: true });
      throw error;
    },
  };
  const cause = () => Object.assign(new Error("why"), { errno: -2 });
  await between(served, async (ring) => {
    const error = await rejection(connect<typeof served>(ring).parse());
    assert.instance(error, SyntaxError);
    assert.equal(Object.entries(error as object), [
      ["loc", { line: 3, column: 7 }],
      ["__proto__x", null],
      ["__proto__", 1],
    ]);
    assert.equal(Object.entries((error as Error).cause as object), [
      ["errno", -2],
    ]);
  });
});

test("classes of errors are checked before anything is served", () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  const bad = (errors: unknown) => ({ errors: errors as [] });
  for (
    const [errors, what] of [
      [7, "received 7"],
      [[7], "received 7"],
      [[Map], "extend Error"],
      [[Denied, Denied], '"Denied"'],
      [[class extends Error {}], 'names of their own: received ""'],
    ] as const
  ) {
    refuses(() => connect(ring, bad(errors)), TypeError, what);
    refuses(() => connect.blocking(ring, bad(errors)), TypeError, what);
    refuses(() => serve.blocking(ring, echo, bad(errors)), TypeError, what);
  }
});
