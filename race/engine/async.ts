/**
 * Asynchronous code: the same replay, where an activation ends when the event
 * loop is empty. Promises are the real ones, so the order of their reactions
 * is the platform's own; what settles those of `waitAsync`, and what fires
 * timers, is the scheduler.
 *
 * @module
 */
import type { Agent } from "./agent.ts";
import { callText } from "./core.ts";
import * as k from "./kinds.ts";
import { Unsupported } from "./kinds.ts";
import { realSetTimeout } from "./native.ts";
import type { Engine } from "./replay.ts";
import { TOKEN } from "./signals.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const soon: (fn: () => void) => void = (globalThis as Any).setImmediate ??
  ((fn: () => void) => realSetTimeout(fn, 0));

/** Waits until every reaction of a promise has run. */
const settled = (): Promise<void> => new Promise((resolve) => soon(resolve));

/** Runs an agent until it must stop, or awaits something. */
export async function activateAsync(
  engine: Engine,
  agent: Agent,
): Promise<void> {
  const { settlers } = engine;
  engine.current = agent;
  engine.unwinding = false;
  agent.snapshot = null;
  agent.pos = agent.drawn = agent.allocations = 0;
  settlers.clear();
  let finished = false;
  program(engine, agent).then(() => finished = true, (error) => {
    if (engine.unwinding || engine.current !== agent) return;
    engine.threw(agent, error);
    engine.suspend();
  });
  for (;;) {
    await settled();
    if (engine.unwinding) break;
    const { pos, n } = agent;
    if (pos < n) {
      if (event(engine, agent)) continue;
      engine.world.fail(
        "nondeterministic",
        `agent ${agent.id} did less on replay than before: code under test ` +
          `must depend on shared memory and its arguments alone`,
      );
      break;
    }
    if (!finished && engine.rehearsing && awaitsNothing(engine, agent)) {
      await new Promise((resolve) => realSetTimeout(resolve, OUTSIDE));
      if (finished || engine.unwinding || agent.n > n) {
        engine.refused ??= new Unsupported(
          `Cannot explore: agent ${agent.id} awaits something in ` +
            `${callText(agent.call)} that is no wake, no timer and no ` +
            `message of its own, such as a file or the network`,
        );
        break;
      }
    }
    agent.snapshot = null;
    agent.status = finished ? k.DONE : k.IDLE;
    break;
  }
  engine.current = null;
  engine.unwinding = false;
  if (engine.refused !== null) throw engine.refused;
}

/** Milliseconds in which something from outside would have come. */
const OUTSIDE = 250;

/** Whether nothing that is simulated can make the agent go on. */
function awaitsNothing(
  { world, closed }: Engine,
  { id, inbox, timers }: Agent,
): boolean {
  if (inbox.length + timers.length > 0 || closed.has(id)) return false;
  if (world.waiters.some(({ agent }) => agent === id)) return false;
  closed.add(id);
  return true;
}

/** Runs the event that is next on record. */
function event(engine: Engine, agent: Agent): boolean {
  const { pos } = agent;
  const signature = agent.sig[pos]!;
  if (signature % 32 !== k.EVENT) return false;
  const settle = engine.settlers.get(Math.floor(signature / 32));
  agent.pos = pos + 1;
  try {
    settle?.(agent.res[pos]);
  } catch (error) {
    if (engine.unwinding) return true;
    engine.threw(agent, error);
    engine.suspend();
  }
  return true;
}

/** The agent's program, from where its record begins. */
async function program(engine: Engine, agent: Agent): Promise<void> {
  const handle = engine.handles.of(agent);
  for (let at = agent.first; at < agent.calls.length; at++) {
    const result = await engine.call(agent, handle, at);
    if (engine.unwinding || engine.current !== agent) return;
    if (at === agent.oi) engine.finishCall(agent, result);
  }
}

/**
 * A token that code under test throws in a reaction rejects a promise nobody
 * handles. While agents run that is no error.
 */
export function rejections(): () => void {
  const handle = (event: Any) => event.preventDefault?.();
  // The same token, thrown by a function that the platform called.
  const ignore = (event: Any) => {
    if (event.error === TOKEN) event.preventDefault();
  };
  const { process } = globalThis as Any;
  if (typeof globalThis.addEventListener === "function") {
    globalThis.addEventListener("unhandledrejection", handle);
    globalThis.addEventListener("error", ignore);
    return () => {
      globalThis.removeEventListener("unhandledrejection", handle);
      globalThis.removeEventListener("error", ignore);
    };
  }
  process?.on?.("unhandledRejection", handle);
  return () => process?.off?.("unhandledRejection", handle);
}
