/**
 * What asynchronous code asks of the platform: waits that settle a promise,
 * and timers, in virtual time.
 *
 * @module
 */
import { addTimer } from "./core.ts";
import * as k from "./kinds.ts";
import type { Engine } from "./replay.ts";
import type { Target } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A `waitAsync` of the agent on the stack. */
export function waitAsync(
  engine: Engine,
  target: Target,
  index: number,
  value: Any,
  timeout: number,
): Any {
  engine.needAsync();
  const result = engine.operate(
    k.WAIT_ASYNC,
    target,
    index,
    value,
    0,
    timeout,
  );
  if (typeof result === "string") return { async: false, value: result };
  const promise = new Promise((resolve) => {
    engine.settlers.set(result, resolve);
  });
  return { async: true, value: promise };
}

/** Sets a timer of the agent on the stack. */
export function setTimer(
  engine: Engine,
  fn: () => void,
  delay: number,
  repeat: boolean,
): Any {
  engine.needAsync();
  const every = repeat ? delay : -1;
  const id: number = engine.local(k.SET_TIMER, delay, (agent) => {
    const due = engine.world.now + delay;
    const timer = { id: agent.serial++, due, every, promise: -1 };
    agent.timers = addTimer(agent.timers, timer);
    return timer.id;
  });
  engine.settlers.set(id, fn);
  const timer = {
    virtual: id,
    ref: () => timer,
    unref: () => timer,
    hasRef: () => true,
    refresh: () => timer,
    [Symbol.toPrimitive]: () => id,
  };
  return timer;
}

/** Clears a timer of the agent on the stack. */
export function clearTimer(engine: Engine, timer: Any): void {
  const id = Number(timer?.virtual ?? timer);
  if (!Number.isInteger(id)) return;
  engine.local(k.CLEAR_TIMER, id, (agent) => {
    agent.timers = agent.timers.filter((other) => other.id !== id);
  });
  engine.settlers.delete(id);
}
