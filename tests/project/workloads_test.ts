// limit: 1800 s
// it is long
// Every workload at its smallest: each checks its own results.
import * as fs from "node:fs";
import * as assert from "uvu/assert";
import { WORKLOADS } from "../../bench/workloads/all.ts";
import { pageFrom } from "../../bench/workloads/page.ts";
import { suite } from "../_run/harness.ts";

/** In ms. The first run also waits until libraries of C are compiled. */
const LIMIT = 900_000;
const test = suite("workloads", LIMIT);

const FOLDER = new URL("../../docs/workloads/", import.meta.url);

for (const { name, measure } of WORKLOADS) {
  test(`${name} does its work`, async () => {
    const tables = await measure({ tiny: true });
    assert.ok(tables.length > 0);
    for (const table of tables) {
      assert.ok(table.findings.length > 1, table.title);
      for (const finding of table.findings) {
        // Of the study's own program all runs may hang: that is its figure.
        const figure = finding[table.figure] ?? finding["hung"];
        assert.ok(Number(figure) > 0, `${table.title}: ${figure}`);
      }
    }
  });
}

test("the page is what its figures make of it", () => {
  const page = new URL("../../docs/workloads.md", import.meta.url);
  assert.is(fs.readFileSync(page, "utf8"), pageFrom(FOLDER));
});

test("each figure has its charts, and each chart its figure", () => {
  const files = fs.readdirSync(FOLDER);
  const json = files.filter((file) => file.endsWith(".json"));
  const ids = json.flatMap((file): string[] =>
    JSON.parse(fs.readFileSync(new URL(file, FOLDER), "utf8"))
      .tables.map(({ id }: { id: string }) => id)
  );
  const charts = ids.flatMap((id) => [`${id}-dark.svg`, `${id}-light.svg`]);
  assert.equal(files.toSorted(), [...json, ...charts].toSorted());
});
