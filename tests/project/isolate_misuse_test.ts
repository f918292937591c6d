// What wasm/isolate.js says where it cannot find the element that loaded it.
import * as fs from "node:fs";
import * as vm from "node:vm";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const SCRIPT = fs.readFileSync(
  new URL("../../wasm/isolate.js", import.meta.url),
  "utf8",
);

const test = suite("isolate.js, loaded otherwise");

test("loaded as a module, it says how it is to be loaded", async () => {
  const told: string[] = [];
  const self = { location: { pathname: "/" } };
  const page = {
    self,
    document: { currentScript: null }, // as in a module
    navigator: { serviceWorker: {} },
    console: { error: (text: string) => told.push(text) },
  };
  await vm.runInNewContext(SCRIPT, page);
  assert.equal(told, [
    'isolate.js: load it by <script src="isolate.js"></script>: it is no module',
  ]);
});
