// Threads of C serve what JavaScript calls, and call what it serves.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { CallRing, codec, connect, serve } from "../../mod.ts";
import { guestOf } from "../_run/guest.ts";
import { suite } from "../_run/harness.ts";
import { spawn } from "../_run/workers.ts";
import type { GuestJob } from "./api.ts";
import { rejection } from "./parts.ts";

const test = suite("weft_calls");

const SOURCE = fileURLToPath(new URL("./guest.c", import.meta.url));
const GUEST = new URL("./guest.ts", import.meta.url);

/** Where the ring lies, behind what the module has for itself. */
const AT = 1 << 19;

const module = guestOf(SOURCE);

/** C reads and writes JSON. */
const json = { codec: codec.json };

/** A ring in the memory of a thread of C, which serves or calls. */
async function guest(calls?: GuestJob["calls"]) {
  const pages = { initial: 16, maximum: 16, shared: true };
  const memory = new WebAssembly.Memory(pages);
  const config = { slots: 4, request: 64, reply: 64 };
  const ring = CallRing.init(memory, AT, config);
  const job: GuestJob = { module: await module, memory, at: AT };
  const thread = await spawn(GUEST, calls ? { ...job, calls } : job);
  assert.is(await thread.next(), "ready");
  return { ring, thread };
}

/** What `guest.c` serves. */
interface Api {
  echo(...args: unknown[]): unknown[];
  nothing(): void;
  fails(): never;
  spin(signal: AbortSignal): void;
  ends(): number;
  told(): unknown;
  other(): void;
}

test("connect calls a server of C", async () => {
  const { ring, thread } = await guest();
  const remote = connect<Api>(ring, { ...json, timeout: 60_000 });
  const texts = Array.from({ length: 8 }, (_, i) => "ü".repeat(i * 100));
  const echoed = await Promise.all(texts.map((text) => remote.echo(text, 1)));
  assert.equal(echoed, texts.map((text) => [text, 1]));
  assert.is(await remote.nothing(), undefined);
  const error = await rejection(remote.fails()) as Error & { code: string };
  assert.instance(error, RangeError);
  assert.is(error.message, 'no "luck" in ü');
  assert.is(error.code, "ENOENT");
  // Values of JavaScript are no JSON.
  const values = await rejection(connect<Api>(ring).echo(1));
  assert.instance(values, TypeError);
  assert.match(values.message, "another codec");
  const unknown = await rejection(remote.other());
  assert.instance(unknown, TypeError);
  assert.match(unknown.message, '"other" is served: there are echo, nothing');
  const long = await rejection(remote.echo("x".repeat(5000)));
  assert.instance(long, RangeError);
  assert.match(long.message, "The request is longer");
  const control = new AbortController();
  const spinning = rejection(remote.spin(control.signal));
  await new Promise((resolve) => setTimeout(resolve, 20));
  control.abort(new Error("enough"));
  assert.is((await spinning).message, "enough");
  assert.is(await remote.ends(), 1);
  assert.is(await remote.told(), "enough");
  const brief = connect.blocking<Api>(ring, { ...json, timeout: 20 });
  assert.throws(() => brief.spin(new AbortController().signal));
  assert.is(await remote.told(), "The call "); // as much as the slot has room
  const other = new AbortController();
  const spun = remote.spin(other.signal).catch((reason) => reason);
  await new Promise((resolve) => setTimeout(resolve, 20));
  other.abort([1, "two"]);
  assert.equal(await spun, [1, "two"]);
  assert.equal(await remote.told(), [1, "two"]);
  assert.is(connect.blocking<Api>(ring, json).ends(), 3);
  ring.close();
  assert.is(await thread.next(), texts.length + 12);
  thread.stop();
});

test("C calls what serve serves", async () => {
  const text = "ab".repeat(500);
  const { ring, thread } = await guest([
    ["add", "[1,2.5]"],
    ["repeat", '["ab",500]'],
    ["length", JSON.stringify([text])],
    ["nothing", ""],
    ["fail", ""],
    ["thrown", ""],
    ["other", ""],
  ]);
  const serving = serve(ring, {
    add: (a: number, b: number) => a + b,
    repeat: (text: string, n: number) => text.repeat(n),
    length: async (text: string) => await text.length,
    nothing() {},
    fail() {
      throw new RangeError('no "file" ü');
    },
    thrown() {
      throw [1, "two"];
    },
  }, json);
  const EIO = 29; // in bare wasm32
  const expected = [
    [0, 2, "3.5"],
    [0, 2, JSON.stringify(text)],
    [0, 2, "1000"],
    [0, 1, ""],
    [EIO, 3, 'no "file" ü'],
    [EIO, 4, '[1,"two"]'],
  ];
  for (const answer of expected) assert.equal(await thread.next(), answer);
  const [result, what, message] = await thread.next<[number, number, string]>();
  assert.equal([result, what], [EIO, 3]);
  assert.match(message, 'No method "other" is served: there are add, repeat');
  ring.close();
  assert.is(await serving, 7);
  thread.stop();
});
