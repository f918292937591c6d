// also: node
// it waits
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { fileURLToPath } from "node:url";
import { CallError, ClosedError } from "../../mod.ts";
import { codec } from "../../primitives/channel.ts";
import {
  serveSync,
  type SyncWorker,
  syncWorker,
  type SyncWorkerOptions,
} from "../../primitives/sync_worker.ts";
import { starting } from "../../primitives/_worker/last_words.ts";
import { DISPOSE } from "../../primitives/_memory/dispose.ts";
import { suite } from "../_run/harness.ts";
import { start } from "../_run/workers.ts";

type Api = typeof import("./worker.ts");

const URLS = {
  module: new URL("./worker.ts", import.meta.url),
  served: new URL("./served.ts", import.meta.url),
};

/** A bundle, as Node gets it here, starts no module by its URL. */
const isBundle = !import.meta.url.endsWith("/unit.ts");

/** A worker of each kind that this runtime starts. */
const KINDS: [string, (options?: SyncWorkerOptions<Api>) => SyncWorker<Api>][] =
  [
    [
      "a function",
      (options) => syncWorker<Api>(() => start(URLS.served), options),
    ],
  ];
if (!isBundle) {
  KINDS.push(["a URL", (options) => syncWorker<Api>(URLS.module, options)]);
  const path = fileURLToPath(URLS.module);
  KINDS.push(["a path", (options) => syncWorker<Api>(path, options)]);
}

const test = suite("syncWorker");

/** What must not compile; never called. */
export function types() {
  const remote = syncWorker<Api>(URLS.module, { timeout: 5 });
  const sum: number = remote.add(1, 2);
  const text: string = remote.later("a");
  const both: string = remote.default("a");
  // @ts-expect-error: it takes numbers
  remote.add("1", 2);
  // @ts-expect-error: the result itself, and no promise
  remote.later("a").then;
  // @ts-expect-error: an option that there is not
  syncWorker<Api>(URLS.module, { time: 1 });
  // A function that is an argument is called back.
  syncWorker<{ call(f: () => void): void }>(URLS.module);
  // @ts-expect-error: no codec carries a function within an object
  syncWorker<{ call(f: { of: () => void }): void }>(URLS.module);
  return [sum, text, both];
}

/** What a call throws. */
function thrownBy(run: () => unknown): Error & { code?: unknown } {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not throw");
}

for (const [kind, make] of KINDS) {
  test(`${kind}: async functions and others return their results`, () => {
    const worker = make();
    assert.is(worker.add(1, 2), 3);
    assert.is(worker.later("grüß dich"), "grüß dich");
    assert.is(worker.default("ab"), "abab");
    assert.equal(
      worker.echo(new Map([[1, undefined]])),
      new Map([[1, undefined]]),
    );
    assert.is(worker.echo(undefined), undefined);
    for (let i = 0; i < 1000; i++) assert.is(worker.add(i, 1), i + 1);
    worker[DISPOSE]();
    assert.ok(thrownBy(() => worker.add(1, 2)) instanceof ClosedError);
  }, 60_000);

  test(`${kind}: values arrive equal, also those longer than a slot`, () => {
    const worker = make({ request: 64, reply: 64 });
    const json = kind === "a URL" ? make({ codec: codec.json }) : make();
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.equal(worker.echo(value), value);
        assert.equal(json.echo(value), value);
      }),
      { numRuns: 50 },
    );
    const long = "ä".repeat(10_000);
    assert.is(worker.echo(long), long);
    worker[DISPOSE]();
    json[DISPOSE]();
  }, 60_000);

  test(`${kind}: functions and iterators are called back`, () => {
    const worker = make();
    const told: number[] = [];
    const twice = (i: number) => 2 * told.push(i);
    assert.is(worker.each(20, twice), 420);
    assert.equal(told, [...told.keys()]);
    const later = (() => Promise.resolve(1)) as never;
    assert.match(thrownBy(() => worker.each(1, later)).message, "promise");
    assert.is(worker.sum([1, 2, 3].values()), 6);
    worker[DISPOSE]();
  }, 60_000);

  test(`${kind}: an error has both stacks, its code and its cause`, () => {
    const worker = make();
    const error = thrownBy(function here() {
      worker.fail("no");
    });
    assert.ok(error instanceof RangeError);
    assert.is(error.message, "no");
    assert.is(error.code, "EFAIL");
    assert.is((error.cause as { code: string }).code, "ENOENT");
    const [theirs, ours] = error.stack!.split("--- called by ---");
    assert.match(theirs!, /\bfail\b/);
    assert.match(ours!, /\bhere\b/);
    assert.not.match(ours!, /flush|explain|sync_worker\.ts/);
    const refused = thrownBy(() => worker.echo(Symbol()));
    assert.ok(refused instanceof TypeError);
    assert.not.match(refused.stack!, /called by/, "it has one stack");
    worker[DISPOSE]();
  }, 60_000);

  test(`${kind}: after a timeout, others are called`, () => {
    // Starting counts, too, and takes long on a busy machine.
    const worker = make({ timeout: 3000 });
    worker.add(1, 2); // it has started
    for (let i = 0; i < 2; i++) {
      assert.is(thrownBy(() => worker.never()).name, "TimeoutError");
      assert.is(worker.later("a"), "a");
    }
    worker[DISPOSE]();
  }, 60_000);

  test(`${kind}: a worker that ends by itself says why`, () => {
    const worker = make();
    const error = thrownBy(() => worker.breakLater("oops"));
    assert.ok(error instanceof CallError && error.abandoned);
    assert.match(error.message, "oops");
    assert.is((error.cause as Error).message, "oops");
    assert.match(thrownBy(() => worker.add(1, 2)).message, "oops");
    const other = make();
    const exited = thrownBy(() => other.exit(3));
    assert.ok(exited instanceof CallError);
    assert.match(exited.message, "code 3");
  }, 60_000);
}

if (!isBundle) {
  test("a URL may be of another class than the global one, as under jsdom", () => {
    const usual = globalThis.URL;
    globalThis.URL = class extends usual {};
    try {
      const worker = syncWorker<Api>(URLS.module);
      assert.is(worker.add(1, 2), 3);
      worker[DISPOSE]();
    } finally {
      globalThis.URL = usual;
    }
  });
}

test("what the worker writes is written when the call returns", () => {
  const { process } = globalThis as unknown as {
    process: Record<"stdout" | "stderr", { write: unknown }>;
  };
  // There, the console of a worker writes by itself: see ending_test.ts.
  if ("Deno" in globalThis || "Bun" in globalThis) return;
  const [, make] = KINDS[0]!;
  const written: unknown[] = [];
  const { stdout, stderr } = process;
  const before = [stdout.write, stderr.write];
  stdout.write = (chunk: unknown) => written.push(["out", chunk]);
  stderr.write = (chunk: unknown) => written.push(["err", chunk]);
  try {
    const worker = make();
    worker.say("hello");
    assert.equal(written, [["out", "hello\n"], ["err", "hello!\n"]]);
    worker[DISPOSE]();
  } finally {
    [stdout.write, stderr.write] = before;
  }
}, 60_000);

test("a worker that cannot be told where to serve is ended", () => {
  const refused = new Error("no message");
  const calls: string[] = [];
  const make = (fails: string) => () => ({
    postMessage() {
      calls.push("postMessage");
      if (fails === "postMessage") throw refused;
    },
    unref() {
      calls.push("unref");
      throw refused;
    },
    terminate: () => calls.push("terminate"),
  });
  assert.is(thrownBy(() => syncWorker(make("postMessage"))), refused);
  assert.equal(calls.splice(0), ["postMessage", "terminate"]);
  assert.is(thrownBy(() => syncWorker(make("unref"))), refused);
  assert.equal(calls, ["postMessage", "unref", "terminate"]);
});

test("bad arguments are refused", async () => {
  const refuses = (run: () => unknown, Class: typeof Error, what: RegExp) => {
    const error = thrownBy(run);
    assert.ok(error instanceof Class, `${error}`);
    assert.match(error.message, what);
  };
  const wrong = (value: unknown) => value as URL;
  refuses(() => syncWorker(wrong(7)), TypeError, /received 7/);
  refuses(() => syncWorker(wrong({})), TypeError, /received \[object Object\]/);
  refuses(() => syncWorker(wrong(() => 7)), TypeError, /make .*received 7/);
  const options = (value: object) => value as SyncWorkerOptions;
  const { module } = URLS;
  const start = () => {
    throw new Error("nothing was to start");
  };
  for (
    const [given, Class, what] of [
      [{ time: 1 }, TypeError, /time/],
      [{ timeout: -1 }, RangeError, /-1/],
      [{ request: -1 }, RangeError, /-1/],
      [{ reply: 1.5 }, RangeError, /1\.5/],
      [{ worker: 3 }, TypeError, /received 3/],
      [{ worker: null }, TypeError, /received null/],
    ] as const
  ) {
    const makes = () => syncWorker(isBundle ? start : module, options(given));
    refuses(makes, Class as never, what);
  }
  for (const path of ["./worker.ts", ""]) {
    const received = new RegExp(`path.*received "${path}"`);
    refuses(() => syncWorker(path), TypeError, received);
  }
  const own = options({ codec: { ...codec.binary } });
  refuses(() => syncWorker(module, own), TypeError, /serveSync/);
  const serving = serveSync({}, { codc: codec.json } as never);
  const error = await serving.catch((error) => error);
  assert.instance(error, TypeError);
  assert.match(error.message, "codc");
  if (isBundle) refuses(() => syncWorker(module), TypeError, /bundle/);
});

/** A worker that does nothing, and its events. */
function idleWorker() {
  const heard = new Map<string, (event: object) => void>();
  const it = {
    terminated: 0,
    postMessage() {},
    terminate() {
      it.terminated++;
    },
    addEventListener(event: string, listener: (event: object) => void) {
      heard.set(event, listener);
    },
    fail: (event: object) => heard.get("error")!(event),
  };
  return it;
}

test("a worker that does not begin is given up, and later calls fail", () => {
  const made = idleWorker();
  const { patience } = starting;
  starting.patience = 20;
  try {
    const worker = syncWorker<Api>(() => made);
    for (let i = 0; i < 2; i++) {
      const error = thrownBy(() => worker.add(1, 2));
      assert.ok(error instanceof CallError);
      assert.match(error.message, "it has not called serveSync within 20 ms");
    }
    assert.is(made.terminated, 1);
    // A timeout that is shorter ends the call before.
    const hurried = syncWorker<Api>(() => idleWorker(), { timeout: 10 });
    assert.is(thrownBy(() => hurried.add(1, 2)).name, "TimeoutError");
  } finally {
    starting.patience = patience;
  }
});

test("an error of a worker of the web ends it, and calls tell of it", () => {
  for (
    const [event, why] of [
      [
        { message: "no luck", filename: "a.js", lineno: 7 },
        /no luck \(a.js:7\)$/,
      ],
      [{}, /^The worker has ended: it did not load$/],
    ] as const
  ) {
    const made = idleWorker();
    const worker = syncWorker<Api>(() => made);
    made.fail(event);
    const error = thrownBy(() => worker.add(1, 2));
    assert.ok(error instanceof CallError);
    assert.match(error.message, why);
    assert.is(made.terminated, 1);
  }
});
