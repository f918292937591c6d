// Tests that docs/race_findings.md is about the checks there are.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { PACKAGES } from "./published/mod.ts";

const test = suite("race findings");

const page = fs.readFileSync(
  fileURLToPath(new URL("../../docs/race_findings.md", import.meta.url)),
  "utf8",
);

test("docs/race_findings.md is the page of these packages and checks", () => {
  const rows = page.split("\n")
    .filter((line) => /^\| \S+ (\d+\.\d|\(no package\))/.test(line))
    .map((line) => line.split("|").slice(1, 4).map((cell) => cell.trim()));
  const wanted = PACKAGES.flatMap(({ name, version, checks }) =>
    checks.map(({ title, verdict }) => [`${name} ${version}`, title, verdict])
  );
  assert.equal(rows, wanted, "deno task race:published writes it anew");
});

test("each finding says how much it matters, or stands among those that are none", () => {
  const none = page.indexOf("\n## Not findings\n");
  assert.ok(none > 0);
  for (const { name, version, model, checks } of PACKAGES) {
    for (const { title, finding } of checks) {
      if (finding === undefined) continue;
      const at = page.indexOf(`\n### ${name} ${version}: ${title}\n`);
      assert.ok(at > 0, title);
      assert.is(at > none, "none" in finding.standing, title);
      const text = page.slice(at, page.indexOf("```text", at))
        .replace(/\s+/g, " ");
      for (const words of Object.values(finding.standing)) {
        assert.ok(text.includes(`${words}.`), `${title}: ${words}`);
      }
      if ("severity" in finding.standing) {
        assert.match(finding.standing.severity, /^(high|medium|low): /);
        const evidence = model === undefined
          ? /\*\*Evidence\*\*: (on threads|the tester only)\./
          : /\*\*Evidence\*\*: by reading; the model does it (on|in) /;
        assert.match(text, evidence);
      }
    }
  }
});

test("the models do what the page says of them", async () => {
  const none = () => {
    throw new Error("A model is opened");
  };
  let count = 0;
  for (const { model, name, checks } of PACKAGES) {
    if (model === undefined) continue;
    for (const { title, verdict, explore } of checks) {
      const { failure, complete, summary } = await explore(none as never);
      const found = failure?.kind ?? (complete ? "complete" : summary);
      assert.is(found, verdict, `${name}: ${title}`);
      count++;
    }
  }
  assert.ok(count > 3);
});

test("each finding in a package says where it is and how to mend it", () => {
  for (const { name, checks } of PACKAGES) {
    for (const { title, verdict, finding } of checks) {
      assert.is(finding !== undefined, verdict !== "complete", name + title);
    }
  }
});
