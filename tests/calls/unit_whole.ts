// also: node
import * as assert from "uvu/assert";
import { CallRing, codec, connect, serve } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { spawn } from "../_run/workers.ts";
import { between, rejection } from "./parts.ts";
import { Account, add } from "./whole_api.ts";

const test = suite("calls: functions and classes that are served");

// deno-lint-ignore no-explicit-any
const any = (value: unknown) => value as any;

test("a function is called as itself", () =>
  between(add, async (ring) => {
    const remote = connect<typeof add>(ring);
    assert.is(await remote(1, 2), 3);
    assert.is(await Reflect.apply(remote, undefined, [2, 2]), 4);
    assert.is(await remote.version, "1.2");
    assert.is(any(remote).then, undefined);
    assert.is(await Promise.resolve(remote), remote);
    assert.is(String(remote), "[remote object]");
    const error = await rejection(any(remote).sub(1));
    assert.match(error.message, 'No method "sub" is served: there are none');
  }).then((count) => assert.is(count, 4)));

test("arguments and results are those of a method", async () => {
  const limited = async (
    each: (n: number) => Promise<string>,
    signal: AbortSignal,
  ) => {
    const text = await each(7);
    await new Promise((end) => signal.addEventListener("abort", end));
    return text + signal.reason.message;
  };
  await between(limited, async (ring) => {
    const remote = connect<typeof limited>(ring);
    const control = new AbortController();
    const each = (n: number) => {
      setTimeout(() => control.abort(new Error("enough")), 5);
      return `${n}`;
    };
    const error = await rejection(remote(each, control.signal));
    assert.is(error.message, "enough");
  });
  const long = (text: string) => text + text;
  await between(long, async (ring) => {
    const remote = connect<typeof long>(ring, { codec: codec.json });
    const text = "weft".repeat(1000); // in pieces
    assert.is(await remote(text), text + text);
  }, { codec: any(codec.json) });
  const count = function* (to: number) {
    for (let n = 0; n < to; n++) yield n;
  };
  await between(count, async (ring) => {
    const seen: number[] = [];
    for await (const n of connect<typeof count>(ring)(3)) seen.push(n);
    assert.equal(seen, [0, 1, 2]);
  });
});

test("what a function throws is thrown", () => {
  const fail = (what: string) => {
    throw new RangeError(what);
  };
  return between(fail, async (ring) => {
    const error = await rejection(any(connect(ring))("broken"));
    assert.instance(error, RangeError);
    assert.is(error.message, "broken");
  });
});

test("new makes an instance of a class that is served", () =>
  between(Account, async (ring) => {
    const remote = connect<typeof Account>(ring);
    const account = await new remote(5);
    assert.is(await account.put(2), 7);
    assert.is(await account.sum, 7);
    assert.is(any(account).then, undefined);
    assert.throws(() => any(account)(1), TypeError); // it is no function
    account[Symbol.dispose]();
    assert.match((await rejection(account.put(1))).message, "was released");
    assert.instance(await rejection(new remote(-1)), RangeError);
    assert.is(await remote.open(), "opened");
    assert.is(await remote.currency, "EUR");
    assert.match((await rejection(any(remote)(1))).message, /without .new/);
  }));

test("an object is not called, and no instance of it is made", () =>
  between({ add }, async (ring) => {
    const remote = any(connect(ring));
    for (const call of [remote(1, 2), new remote(1)]) {
      const error = await rejection(call);
      assert.instance(error, TypeError);
      assert.is(error.message, "No function itself is served: there are add");
    }
    assert.is(await remote.add(1, 2), 3);
  }));

test("methods of an object may have names that functions have", async () => {
  const api = {
    call: (n: number) => n + 1,
    name: () => "n",
    apply: () => 2,
    length: 3,
  };
  await between(api, async (ring) => {
    const remote = any(connect(ring));
    assert.is(await remote.call(1), 2);
    assert.is(await remote.name(), "n");
    assert.is(await remote.apply(), 2);
    assert.is(await remote.length, 3);
  });
});

for (const blocking of [false, true]) {
  test(`a caller that blocks, ${blocking ? "and a server" : ""}`, async () => {
    for (const isClass of [false, true]) {
      const ring = CallRing.create({ request: 64, reply: 64 });
      const url = new URL("./whole_agent.ts", import.meta.url);
      const thread = await spawn(url, { ring: ring.handle, blocking, isClass });
      await thread.next();
      if (isClass) {
        const remote = connect.blocking<typeof Account>(ring);
        const account = new remote(3);
        assert.is(account.put(1), 4);
        account[Symbol.dispose]();
        assert.throws(() => new remote(-1), /a sum of -1/);
        assert.is(remote.currency(), "EUR");
      } else {
        const remote = connect.blocking<typeof add>(ring);
        assert.is(remote(1, 2), 3);
        assert.is(remote.version(), "1.2");
        assert.is(await connect<typeof add>(ring)(2, 2), 4);
        assert.is(JSON.stringify(remote), '"[remote object]"');
      }
      ring.close();
      await thread.next();
      thread.stop();
    }
  });
}

test("what is no object and no function is refused", async () => {
  const ring = CallRing.create({ request: 64, reply: 64 });
  for (const api of [5, null, "text", undefined]) {
    const error = await rejection(serve(ring, any(api)));
    assert.instance(error, TypeError);
    assert.match(error.message, "an object of functions, or a function");
  }
  const thenable = Object.assign(() => 1, { then: () => 2 });
  assert.match((await rejection(serve(ring, thenable))).message, '"then"');
});

test("JSON of what stands for an object is made without a call", async () => {
  class Sum {
    toJSON(_key?: string) {
      return { sum: 1 };
    }
  }
  const api = { Sum, math: { add }, toJSON: (scale = 2) => scale };
  const count = await between(api, async (ring) => {
    const remote = connect<typeof api>(ring);
    assert.is(JSON.stringify(remote), '"[remote object]"');
    assert.is(
      JSON.stringify({ at: [remote.math.add] }),
      '{"at":["[remote math.add]"]}',
    );
    const sum = await new remote.Sum();
    assert.is(JSON.stringify({ sum }), '{"sum":"[remote object]"}');
    // Without a key it is the method of that name.
    assert.equal(await sum.toJSON(), { sum: 1 });
    assert.is(await remote.toJSON(), 2);
    assert.is(await remote.toJSON(5), 5);
  });
  // Making the instance, and three methods.
  assert.is(count, 4);
});

test("a property that was read is not deleted", () =>
  between({ add, version: "1" }, async (ring) => {
    const remote = any(connect(ring));
    assert.is(delete remote.version, true); // nothing is there yet
    assert.is(await remote.version, "1");
    assert.throws(() => delete remote.version, TypeError);
    assert.is(await remote.version, "1");
  }));
