// limit: 600 s
// Every workload at its smallest: each checks its own results.
import * as fs from "node:fs";
import * as assert from "uvu/assert";
import { WORKLOADS } from "../bench/workloads/all.ts";
import { suite } from "./harness.ts";

const test = suite("workloads", 250_000);

for (const { name, measure } of WORKLOADS) {
  test(`${name} does its work`, async () => {
    const tables = await measure({ tiny: true });
    assert.ok(tables.length > 0);
    for (const table of tables) {
      assert.ok(table.findings.length > 1, table.title);
      for (const finding of table.findings) {
        const figure = finding[table.figure];
        assert.ok(Number(figure) > 0, `${table.title}: ${figure}`);
      }
    }
  });
}

test("the pool of the examples is short enough to be read", () => {
  const pool = new URL("../docs/examples/pool.ts", import.meta.url);
  const lines = fs.readFileSync(pool, "utf8").split("\n").length - 1;
  assert.ok(lines < 120, `${lines} lines`);
});
