// Property tests make sequences as long as they say.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "./harness.ts";
import fc from "./property.ts";

const TESTS = fileURLToPath(new URL("..", import.meta.url));

const test = suite("_run: property");

test("an array becomes as long as its most", () => {
  const lengths = fc.sample(fc.array(fc.nat(), { maxLength: 60 }), 200)
    .map(({ length }) => length);
  assert.ok(Math.max(...lengths) > 50, `${Math.max(...lengths)}`);
});

test("all tests have fast-check from property.ts", () => {
  const others = fs.readdirSync(TESTS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && name !== "_run/property.ts")
    .filter((name) =>
      /\bfrom "fast-check"/.test(fs.readFileSync(TESTS + name, "utf8"))
    );
  assert.equal(others, []);
});
