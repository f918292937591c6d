/**
 * The weak orders of native programs: GenMC follows every execution of a header
 * that they allow, and finds what goes wrong if an order is left out.
 *
 * @module
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "./harness.ts";
import { run } from "./native.ts";

const GENMC = process.env.GENMC ?? "genmc";

/** What a program of bench/genmc is compiled to do. */
export interface Orders {
  /** What its agents do. */
  readonly roles: readonly string[];
  /** An order that is left out. */
  readonly mistakes: readonly string[];
}

/** Tests the orders of `title`, by the program of bench/genmc for `stem`. */
export function testOrders(
  title: string,
  stem: string,
  { roles, mistakes }: Orders,
): void {
  const test = suite(`${title} in GenMC`, 300_000);
  const program = fileURLToPath(
    new URL(`../../bench/genmc/weft_${stem}.c`, import.meta.url),
  );
  const check = (...flags: string[]) =>
    run(
      GENMC,
      ["--check-liveness", "--unroll=6", "--", ...flags, program],
      250,
    );

  for (const role of roles) {
    test(`${role}: nothing is wrong in any execution`, async () => {
      const { code, output } = await check(role);
      assert.is(code, 0, output);
      assert.match(output, /No errors were detected/);
    });

    for (const mistake of mistakes) {
      test(`${role} ${mistake}: an execution goes wrong`, async () => {
        const { output } = await check(role, mistake);
        assert.match(
          output,
          /Error: (Liveness|Safety) violation|Error: Non-atomic/,
        );
      });
    }
  }
}
