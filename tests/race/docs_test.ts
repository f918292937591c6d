// What docs/race_testing.md shows is what is found.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { find } from "../../docs/race_example.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race docs");
const read = (name: string) =>
  fs.readFileSync(
    fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)),
    "utf8",
  );

test("the example is found, and its picture is up to date", () => {
  const { kind, schedule, failure } = find();
  assert.is(kind, "lost-wakeup");
  assert.is(failure.svg(), read("race_example.svg"));
  const page = read("race_testing.md");
  assert.ok(page.includes(`"${schedule}"`), schedule);
});

test("the code shown is the code of the example", () => {
  const source = read("race_example.ts").replace(/^ {2}/gm, "");
  const [, shown] = /```ts ignore\n(.*?)```/s.exec(read("race_testing.md"))!;
  for (const line of shown!.split("\n")) assert.ok(source.includes(line), line);
});
