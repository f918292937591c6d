/**
 * Waits that settle a promise, and timers, in virtual time.
 *
 * @module
 */
import type { Agent } from "./agent/agent.ts";
import { addTimer } from "./agent/snapshot.ts";
import type { World } from "./core.ts";
import * as k from "../kinds.ts";
import type { Performer, Target } from "../platform/views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The parts of the engine that timers need. */
export interface Loop extends Performer {
  readonly world: World;
  /** Promises and timers of the agent on the stack. */
  readonly settlers: Map<number, (value: Any) => void>;
  /** Notes that the agent on the stack needs an event loop. */
  needAsync(): void;
  /** Does something that concerns one agent only, so no other can step in. */
  local(kind: number, a: number, perform: (agent: Agent) => Any): Any;
}

/** Does a `waitAsync` of the agent on the stack. */
export function waitAsync(
  engine: Loop,
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
  engine: Loop,
  fn: () => void,
  delay: number,
  repeat: boolean,
): Any {
  engine.needAsync();
  const every = repeat ? delay : -1;
  const start = (): number => {
    const id: number = engine.local(k.SET_TIMER, delay, (agent) => {
      const due = engine.world.now + delay;
      const timer = { id: agent.serial++, due, every, promise: -1 };
      agent.timers = addTimer(agent.timers, timer);
      return timer.id;
    });
    engine.settlers.set(id, fn);
    return id;
  };
  const timer = {
    virtual: start(),
    ref: () => timer,
    unref: () => timer,
    hasRef: () => true,
    refresh: () => {
      if (!engine.settlers.has(timer.virtual)) return timer; // it was cleared
      clearTimer(engine, timer);
      timer.virtual = start();
      return timer;
    },
    [Symbol.toPrimitive]: () => timer.virtual + 1,
  };
  return timer;
}

/**
 * Clears a timer of the agent on the stack. As numbers, timers begin with 1:
 * `null` stands for 0, which is none. A number may also be that of a promise.
 */
export function clearTimer(engine: Loop, timer: Any): void {
  const id: number = timer?.virtual ?? Number(timer) - 1;
  if (!Number.isInteger(id) || id < 0) return;
  const cleared: number = engine.local(k.CLEAR_TIMER, id, (agent) => {
    const { timers } = agent;
    agent.timers = timers.filter((other) =>
      other.id !== id || other.promise >= 0
    );
    return timers.length - agent.timers.length;
  });
  if (cleared === 1) engine.settlers.delete(id);
}

/** The value that stands for a message in an agent's inbox. */
export const MESSAGE = "message";

/** The first number of what was posted; those of promises are lower. */
const POSTED = 2 ** 20;

/**
 * Posts `fn` to the event loop of the agent on the stack. It gets the first
 * number that none in the loop has, so that the rounds of an agent that posts
 * again and again are equal.
 */
export function post(engine: Loop, fn: () => void): number {
  engine.needAsync();
  const id: number = engine.local(k.POST, 0, (agent) => {
    let promise = POSTED;
    while (agent.inbox.some((other) => other.promise === promise)) promise++;
    agent.pure++;
    agent.inbox = [...agent.inbox, { promise, value: MESSAGE }];
    return promise;
  });
  engine.settlers.set(id, fn);
  return id;
}

/** Removes a function that was posted to the event loop. */
export function unpost(engine: Loop, id: number): void {
  engine.local(k.UNPOST, id, (agent) => {
    agent.inbox = agent.inbox.filter(({ promise }) => promise !== id);
  });
  engine.settlers.delete(id);
}
