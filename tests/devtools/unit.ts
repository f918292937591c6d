// also: node
// Tests what consoles show of primitives, once the module is imported.
import { OTHER } from "./other.ts"; // runs first
import * as assert from "uvu/assert";
import { inspect as show } from "node:util";
import {
  agentId,
  Barrier,
  Event,
  inspect,
  Mutex,
  PendingCall,
  type Region,
  RwLock,
} from "../../mod.ts";
import {
  type Formatter,
  formatter,
  type JsonML,
} from "../../primitives/tools/devtools.ts";
import { LAYOUT, type Stem } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { KINDS } from "../_run/kinds.ts";
import { wordsOf } from "../_run/model.ts";

const test = suite("devtools");

/** All text of an element. */
function textOf(element: JsonML | null): string {
  if (element === null) return "";
  if (typeof element === "string") return element;
  const [tag, attributes, ...within] = element as [string, object, ...JsonML[]];
  assert.match(tag, /^(span|div|table|tr|td)$/);
  for (const name of Object.keys(attributes)) assert.is(name, "style");
  return within.map(textOf).join(tag === "tr" ? " " : "");
}

const headerOf = (value: unknown) => textOf(formatter.header(value));

test("it stands behind the formatters of other libraries, once", () => {
  const { devtoolsFormatters } = globalThis as unknown as {
    devtoolsFormatters: Formatter[];
  };
  assert.is(devtoolsFormatters.length, 2);
  assert.ok(devtoolsFormatters[0] === OTHER);
  assert.ok(devtoolsFormatters[1] === formatter);
});

for (const kind of KINDS) {
  test(`a ${kind.stem} is a line, and opens`, () => {
    const view = kind.init(new SharedArrayBuffer(kind.byteLength + 4), 4);
    const before = [...wordsOf(view)];
    const line = headerOf(view);
    const name = kind.stem.split("_")
      .map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
    assert.ok(line === name || line.startsWith(`${name} { `), line);
    assert.ok(formatter.hasBody(view));
    const body = textOf(formatter.body(view));
    assert.match(body, `${name} at byte 4`);
    const { length: _, ...row }: Record<string, number> =
      LAYOUT[kind.stem as Stem];
    for (const word of Object.keys(row)) assert.match(body, `${word} `);
    assert.equal([...wordsOf(view)], before);
    assert.is(show(view), line);
    if ("Deno" in globalThis) assert.is(Deno.inspect(view), line);
  });
}

test("who owns a lock, and what is wrong with it", () => {
  const mutex = Mutex.create();
  assert.is(headerOf(mutex), "Mutex { owner 0, waiters 0 }");
  const guard = mutex.lock();
  assert.is(headerOf(mutex), `Mutex { owner ${agentId()}, waiters 0 }`);
  guard.unlock();
  const barrier = Barrier.create(3);
  assert.is(headerOf(barrier), "Barrier { arrived 0, parties 3, waiters 0 }");
  wordsOf(barrier)[LAYOUT.barrier.state] = 3 << 12 | 3;
  assert.equal(inspect(barrier).problems.length, 1);
  assert.match(headerOf(barrier), /}, 1 problem$/);
  assert.match(show(barrier), /}, 1 problem$/);
  assert.match(textOf(formatter.body(barrier)), "All parties have arrived");
  const event = Event.create();
  event.set();
  assert.is(headerOf(event), "Event { isSet, waiters 0 }");
  assert.match(show({ lock: RwLock.create() }), "lock: RwLock { owner 0");
});

test("a value that is no primitive is left to the console", () => {
  const others = [
    ...[undefined, null, 3, "mutex", {}, [], Mutex, Mutex.prototype],
    ...[Mutex.create().handle, new SharedArrayBuffer(8), PendingCall],
  ];
  for (const value of others) {
    assert.is(formatter.header(value), null);
    assert.is(formatter.body(value), null);
    assert.not.ok(formatter.hasBody(value));
  }
  // A view whose words name no primitive any more is shown as before.
  const barrier: Region = Barrier.create(2);
  wordsOf(barrier)[0] = 0;
  assert.is(formatter.header(barrier), null);
  assert.match(show(barrier), "byteOffset: 0");
});
