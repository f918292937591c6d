// Results as JUnit XML.
import * as assert from "uvu/assert";
import { race, type RaceError } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race JUnit");

const memory = () => new SharedArrayBuffer(4);
const add = (memory: SharedArrayBuffer) =>
  Atomics.add(new Int32Array(memory), 0, 1);

function thrown(message = ""): RaceError {
  try {
    race.agents({ memory }, add, { after: () => `${message}<&">\u0000` });
  } catch (error) {
    return error as RaceError;
  }
  throw new Error("nothing failed");
}

test("each outcome is a test case, with the table of what failed", () => {
  const right = race.agents({ memory }, add, add);
  const error = thrown("wrong");
  const xml = race.junit("a & b", {
    right,
    wrong: error.result,
    thrown: error,
    other: new TypeError("no"),
  });
  const lines = xml.split("\n");
  assert.is(lines[0], '<?xml version="1.0" encoding="UTF-8"?>');
  assert.is(lines[1], '<testsuite name="a &amp; b" tests="4" failures="3">');
  assert.is(
    lines[2],
    '<testcase classname="a &amp; b" name="right"><system-out>' +
      `${right.summary}</system-out></testcase>`,
  );
  const failure = '<failure type="invariant" message="wrong&lt;&amp;&quot;' +
    '&gt;\ufffd">| agent 0';
  assert.ok(lines[3]!.includes(`name="wrong">${failure}`), lines[3]);
  assert.ok(lines[4]!.includes('name="thrown"><failure type="invariant"'));
  assert.is(lines[4], lines[3]!.replace('"wrong"', '"thrown"'));
  assert.match(lines[4], "add [0] 1 -&gt; 0");
  assert.match(lines[5], '<failure type="TypeError" message="no">');
  assert.equal(lines.slice(6), ["</testsuite>", ""]);
});

test("no line of it is broken, and characters are those of XML", () => {
  const xml = race.junit("lines", { wrong: thrown("one\ntwo") });
  assert.is(xml.trim().split("\n").length, 4);
  assert.match(xml, "one&#10;two");
  // deno-lint-ignore no-control-regex
  assert.not.match(xml, /[\x00-\x08\x0b\x0c\x0e-\x1f]/);
});

test("an outcome that is neither a result nor an error is refused", () => {
  // deno-lint-ignore no-explicit-any
  const wrong = { a: 1 } as any;
  assert.throws(() => race.junit("x", wrong), /"a" must be a result or an err/);
});

test("errors with odd names and messages are failures, too", () => {
  const nameless = Object.assign(new Error("no"), { name: "" });
  const numbered = Object.assign(new Error(), { message: 5 });
  const xml = race.junit("s", {
    nameless,
    // deno-lint-ignore no-explicit-any
    numbered: numbered as any,
    "a\tb\ud800": new Error("]]>\u001b"),
  });
  assert.match(xml, 'failures="3"');
  assert.match(xml, '<failure type="Error" message="no">');
  assert.match(xml, '<failure type="Error" message="5">');
  assert.match(xml, 'name="a&#9;b\ufffd"');
  assert.match(xml, 'message="]]&gt;\ufffd"');
});
