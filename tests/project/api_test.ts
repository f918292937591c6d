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
