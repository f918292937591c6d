// limit: 300 s
// it explores
// The race scenarios of the classes, played by agents that use the kernel. The
// race tester explores the embedded modules themselves, step by step.
import { Buffer } from "node:buffer";
import * as assert from "uvu/assert";
import * as TEXT from "../../primitives/kernel/_text.ts";
import { all } from "../_run/depth.ts";
import { explore } from "../_run/mixed/explore.ts";
import { suite } from "../_run/harness.ts";
import { scenariosIn } from "../_run/scenario.ts";
import { stageOf } from "./stage.ts";
import { STEMS } from "../../wasm/kernel_build.ts";

const test = suite("kernel, every interleaving", 60_000);

/** How far each scenario is explored. */
const MOST = { states: all() ? 3_000 : 500, time: 10_000 };
/** How many scenarios of each folder. */
const SCENARIOS = 4;

const texts: Readonly<Record<string, string>> = TEXT;
const { weft, given } = await stageOf((stem) =>
  Buffer.from(texts[stem.toUpperCase()]!, "base64")
);

for (const folder of STEMS) {
  const scenarios = (await scenariosIn(folder))(weft).slice(0, SCENARIOS);
  for (const scenario of scenarios) {
    test(`${folder}: ${scenario.name}`, async () => {
      await explore(scenario, MOST);
    });
  }
  test(`${folder}: agents ran in its module`, () => {
    assert.ok((given.get(folder) ?? 0) > 0);
  });
}
