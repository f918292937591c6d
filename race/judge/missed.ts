/**
 * Whether a timed sleep missed its wake, where no model says what may wait.
 *
 * @module
 */
import type { Agent } from "../engine/state/agent/agent.ts";
import { execute } from "../engine/state/agent/operation.ts";
import type { World } from "../engine/state/core.ts";
import { STOP, walk } from "../engine/step/walk.ts";
import type { Engine } from "../engine/step/replay.ts";
import * as k from "../engine/kinds.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** An agent that looks at memory more often before it sleeps is in a loop. */
const LOOKS = 20_000;

/**
 * Whether an agent sleeps although it would go on if it looked at memory now.
 * The word that it sleeps on must have another value. That alone may mean that
 * more agents wait: then the agent would look, and sleep again.
 */
export function missedWake(engine: Engine, agent: Agent): boolean {
  const { status, target, index, a } = agent;
  // What a walk has begun and awaits would go on in the next agent's place.
  if (engine.scenario.async) return false;
  if (status !== k.BLOCKED || target!.view[index] === a) return false;
  const { world } = engine;
  const undo: (() => void)[] = [];
  const time = lastTime(agent); // later, its time might be up
  let looks = 0;
  let wakes = false;
  const { end } = walk(
    engine,
    agent,
    agent.save(),
    () => {
      if (looks++ === 0) return "not-equal";
      if (looks > LOOKS) return STOP;
      if (agent.kind === k.CLOCK) return time;
      if (agent.kind === k.NOTIFY) {
        const count = sleepersAt(world, agent);
        wakes ||= count > 0;
        return count;
      }
      return answer(agent, undo);
    },
    true,
    true,
  );
  for (const back of undo.reverse()) back();
  return wakes || end !== "";
}

/** What the clock showed when the agent looked at it last. */
function lastTime({ n, sig, res, deadline, timeout }: Agent): number {
  for (let i = n - 1; i >= 0; i--) if (sig[i]! % 32 === k.CLOCK) return res[i];
  return deadline - timeout;
}

/** How many others a notification would wake. */
function sleepersAt({ waiters }: World, { id, address, a }: Agent): number {
  const others = waiters.filter((waiter) =>
    waiter.agent !== id && waiter.address === address
  );
  return Math.min(others.length, a);
}

/** Does an operation so that it can be undone; `STOP` if the agent sleeps. */
function answer(agent: Agent, undo: (() => void)[]): Any {
  const { kind, index, a, b, timeout } = agent;
  const { view }: { view: Any } = agent.target!;
  if (kind === k.WAIT) {
    if (view[index] !== a) return "not-equal";
    return timeout <= 0 ? "timed-out" : STOP;
  }
  if (k.writes(kind)) {
    const old = view[index];
    undo.push(() => void (view[index] = old));
  }
  return execute(kind, view, index, a, b);
}
