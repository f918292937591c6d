/**
 * The orders of native programs: GenMC follows every execution of a header that
 * they allow, and finds what goes wrong if one is left out. `GENMC` names it if
 * it is not on the PATH; without it, these tests are skipped.
 *
 * @module
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "./harness.ts";
import { run } from "./native.ts";

const GENMC = process.env.GENMC ?? "genmc";

/** What agents of a program of bench/genmc do, by its flags; and with each, the
 * orders that they need: without one, an execution goes wrong. */
export type Orders = Readonly<Record<string, readonly string[]>>;

/**
 * GenMC cuts off who spins, but takes some of our loops for spinning that look
 * again at what has changed. So it follows each loop for some rounds instead,
 * and `native.h` tells who sleeps for ever.
 */
const FLAGS = [
  "--disable-spin-assume",
  "--disable-mm-detector",
  "--disable-estimation",
  "--unroll=6",
  "--",
  // Its own passes cannot take apart a structure that a function returns.
  "-O1",
];

/** Tests the orders of `title`, by the program of bench/genmc for `stem`. */
export function testOrders(title: string, stem: string, orders: Orders): void {
  const test = suite(`${title} in GenMC`, 600_000);
  const program = fileURLToPath(
    new URL(`../../bench/genmc/weft_${stem}.c`, import.meta.url),
  );
  const check = (...flags: string[]) =>
    run(GENMC, [...FLAGS, ...flags, program], 550);

  for (const [role, mistakes] of Object.entries(orders)) {
    const flags = role.split(" ");
    test(`${role}: nothing is wrong in any execution`, async () => {
      const { code, output } = await check(...flags);
      assert.is(code, 0, output);
      assert.match(output, /No errors were detected/);
    });

    for (const mistake of mistakes) {
      test(`${role} ${mistake}: an execution goes wrong`, async () => {
        const { output } = await check(...flags, mistake);
        assert.match(output, /Error: (Safety violation|Non-atomic race)/);
      });
    }
  }
}
