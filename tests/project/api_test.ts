// The report of the public declarations is as new as the code.
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { changes, current, expected } from "./api.ts";

const test = suite("API");

test("docs/api.txt is what the modules export", () => {
  const now = expected();
  const found = changes(current(), now);
  if (found.length > 0) {
    throw new Error(
      `docs/api.txt is old; "deno task api" writes it anew:\n${
        found.join("\n")
      }`,
    );
  }
  assert.is(current(), now, `"deno task api" writes docs/api.txt anew`);
});

test("the report has each module, and what it declares", () => {
  const now = expected();
  for (
    const line of [
      "## ./mutex",
      "class Mutex extends Region<",
      "  lock(): MutexGuard",
      "  static create(): Mutex",
      "## ./race",
      "Mutex of ./mutex",
    ]
  ) assert.ok(now.includes(`\n${line}`), line);
  assert.not.match(now, /undefined of|\[object/);
});

test("the report has what a class inherits from bases that nobody imports", () => {
  const now = expected();
  const classOf = (head: string) =>
    now.slice(now.indexOf(`\n${head}`) + 1).split(/\n(?! )/, 1)[0]!;
  const ring = classOf("class RecordRing ");
  for (
    const member of [
      `all of Region<"record_ring">`, // behind two classes and two mixins
      "all of AsyncIterable<Uint8Array<ArrayBuffer>, void, void>",
      "get closed(): boolean",
      "tryPush(src: Elements, timeout?: number): boolean",
    ]
  ) assert.ok(ring.includes(`\n  ${member}`), member);
  assert.is(ring.match(/\n {2}tryPush\(/g)?.length, 1); // not its base's, too
  assert.not.match(ring, /reserveRecord|copier|pendingAt/); // these are internal
  const queue = classOf("class LockFreeQueue<"); // its type is an alias
  assert.ok(queue.includes("\n  all of Queue<E>\n"));
  assert.ok(queue.includes("\n  repair(): number"));
  assert.not.match(classOf("class Mutex "), /all of/); // its head says it
});

test("a change says the module, the name and both lines", () => {
  const old = "## ./a\n\nclass A\n  f(): number\n  g(): void\nclass B\n";
  const now = "## ./a\n\nclass A\n  f(): string\n  g(): void\n  g(): void\n";
  assert.equal(
    changes(old, now),
    [
      "+ ./a A: f(): string",
      "+ ./a A: g(): void",
      "- ./a A: f(): number",
      "- ./a: class B",
    ].sort((a, b) => a.slice(2) < b.slice(2) ? -1 : 1),
  );
  assert.equal(changes(now, now), []);
});
