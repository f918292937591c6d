/**
 * Explores race scenarios: as tests, one for each, or one after the other with
 * what it took (`race.ts`).
 *
 * @module
 */
import type { Result } from "../../race/mod.ts";
import { race } from "../../race/mod.ts";
import { suite } from "./harness.ts";
import { LOOKS, type Scenario, type Scenarios } from "./scenario.ts";
import { weft } from "./weft.ts";

/** Explores one scenario; fails unless it is complete and without failure. */
export async function explore(scenario: Scenario): Promise<Result> {
  const { spec, agents, options = {}, sampled = false } = scenario;
  const result = await race.check(spec, ...agents, {
    states: 2_000_000,
    time: 60_000,
    looks: LOOKS,
    ...options,
  });
  const { failure } = result;
  if (failure !== undefined) {
    throw new Error(
      `${failure.kind}: ${failure.message}\n\n${failure.table}\n` +
        `schedule "${failure.schedule}"`,
    );
  }
  if (!result.complete && !sampled) {
    throw new Error(`not complete: ${result.summary}`);
  }
  return result;
}

/** Declares a test for each of a primitive's scenarios. */
export function exploreAll(title: string, scenarios: Scenarios): void {
  const test = suite(`${title}, every interleaving`, 120_000);
  for (const scenario of scenarios(weft)) {
    if (scenario.deep) continue;
    test(scenario.name, async () => void await explore(scenario));
  }
}
