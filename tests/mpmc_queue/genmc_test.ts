// limit: 900 s
// The weak orders of native programs: GenMC follows every execution of the
// header that they allow, and finds what goes wrong if one is left out.
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";

const test = suite("MpmcQueue in GenMC", 300_000);

const GENMC = process.env.GENMC ?? "genmc";
const PROGRAM = fileURLToPath(
  new URL("../../bench/genmc/weft_mpmc_queue.c", import.meta.url),
);

/** What each program does, and an order that is left out. */
const ROLES = ["-DPOP_WAITS", "-DPUSH_WAITS"];
const MISTAKES = ["-DNO_LIGHT", "-DNO_RELEASE"];

const check = (...flags: string[]) =>
  run(
    GENMC,
    ["--check-liveness", "--unroll=6", "--", ...flags, PROGRAM],
    250,
  );

for (const role of ROLES) {
  test(`${role}: nothing is wrong in any execution`, async () => {
    const { code, output } = await check(role);
    assert.is(code, 0, output);
    assert.match(output, /No errors were detected/);
  });

  for (const mistake of MISTAKES) {
    test(`${role} ${mistake}: an execution goes wrong`, async () => {
      const { output } = await check(role, mistake);
      assert.match(
        output,
        /Error: (Liveness|Safety) violation|Error: Non-atomic/,
      );
    });
  }
}
