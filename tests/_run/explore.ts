/**
 * Explores race scenarios, for tests (`parts/scenarios.ts`) and for the task
 * that prints what each took (`race.ts`).
 *
 * @module
 */
import type { Result } from "../../race/mod.ts";
import { race } from "../../race/mod.ts";
import { LOOKS, type Scenario, STEPS } from "./scenario.ts";

/** Explores one scenario; fails unless it is complete and without failure. */
export async function explore(scenario: Scenario): Promise<Result> {
  const { spec, agents, options = {}, sampled = false } = scenario;
  const result = await race.check(spec, ...agents, {
    states: 2_000_000,
    time: 800_000,
    looks: LOOKS,
    polls: false,
    maxSteps: STEPS,
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
