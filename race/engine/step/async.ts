/**
 * Asynchronous code. It is replayed like other code, but an activation ends
 * when the event loop is empty. Promises are the real ones, so the platform
 * itself orders their reactions. The scheduler decides when a promise of
 * `waitAsync` settles and when a timer fires.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import { followAsync, isPosted, type Look } from "./loops/ahead.ts";
import { fireAlone, goOn, mustGoOn } from "./loops/alone.ts";
import { callText } from "../state/agent/operation.ts";
import * as k from "../kinds.ts";
import { Misuse, Unsupported } from "../kinds.ts";
import { realSetTimeout } from "../platform/native.ts";
import { clone, pack } from "../platform/copies.ts";
import { lendAll, takeBack } from "../platform/guests.ts";
import { portOf } from "../platform/ports.ts";
import type { Engine } from "./replay.ts";
import { TOKEN } from "../signals.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const soon: (fn: () => void) => void = (globalThis as Any).setImmediate ??
  ((fn: () => void) => realSetTimeout(fn, 0));

/** Waits until every reaction of a promise has run. */
export const settled = (): Promise<void> =>
  new Promise((resolve) => soon(resolve));

/** What an agent is told that explores something itself. */
export const INNER = "An exploration cannot begin within another one";

/** Runs an agent until it is suspended or awaits something. */
export async function activateAsync(
  engine: Engine,
  agent: Agent,
): Promise<void> {
  await activate(engine, agent);
  while (engine.asked !== null) {
    await followAsync(engine, agent, () => activate(engine, agent));
    await activate(engine, agent);
  }
  if (!mustGoOn(engine, agent)) return;
  const restore = goOn(engine, agent);
  try {
    await activate(engine, agent);
  } finally {
    restore();
  }
}

async function activate(engine: Engine, agent: Agent): Promise<void> {
  engine.current = agent;
  engine.unwinding = false;
  agent.snapshot = null;
  agent.pos =
    agent.drawn =
    agent.begun =
    agent.allocations =
      0;
  clear(engine);
  engine.asksAgain = false;
  lendAll(engine);
  let finished = false;
  program(engine, agent).then(() => finished = true, (error) => {
    if (engine.unwinding || engine.current !== agent) return;
    threw(engine, agent, error);
  });
  for (;;) {
    await settled();
    if (engine.unwinding) break;
    const { pos, n } = agent;
    if (engine.goesOn !== null) {
      if (pos === n) forgetCalls(engine, agent);
      engine.goesOn();
      engine.goesOn = null;
      continue;
    }
    if (pos < n) {
      if (event(engine, agent)) continue;
      if (engine.look !== null) break;
      engine.world.fail(
        "nondeterministic",
        `agent ${agent.id} did less on replay than before: code under test ` +
          `may depend only on shared memory and its arguments`,
      );
      break;
    }
    if (engine.look !== null) {
      if (goesRound(engine, agent, engine.look, finished)) continue;
      break;
    }
    if (engine.alone !== null) {
      if (finished) engine.alone.ended = true;
      else if (fireAlone(engine, agent)) continue;
      break;
    }
    if (!finished && engine.rehearsing && awaitsNothing(engine, agent)) {
      await new Promise((resolve) => realSetTimeout(resolve, OUTSIDE));
      if (finished || engine.unwinding || agent.n > n) {
        engine.refused ??= new Unsupported(
          `Cannot explore: agent ${agent.id} awaits something in ` +
            `${callText(agent.told)} that comes from outside, such as a ` +
            `file or the network; only wakes, timers and the agent's own ` +
            `messages are simulated`,
        );
        break;
      }
      // It awaits an exploration that waits for the end of this one.
      if (engine.asksAgain) {
        engine.refused ??= new Misuse(INNER);
        break;
      }
    }
    agent.snapshot = null;
    agent.status = finished ? k.DONE : k.IDLE;
    if (finished) forgetCalls(engine, agent);
    break;
  }
  engine.current = null;
  engine.unwinding = false;
  takeBack();
  if (engine.refused !== null) throw engine.refused;
}

/** As {@linkcode Engine.forgetCalls}, unless the agent only is looked at. */
function forgetCalls(engine: Engine, agent: Agent): void {
  if (engine.look === null && engine.alone === null) engine.forgetCalls(agent);
}

/** Forgets what belongs to an earlier activation. */
function clear(engine: Engine): void {
  engine.settlers.clear();
  engine.ports.clear();
  engine.goesOn = null;
}

/** Milliseconds to wait for anything that comes from outside. */
const OUTSIDE = 250;

/** Whether no simulated event can make the agent go on. */
function awaitsNothing(
  { world, closed }: Engine,
  { id, inbox, timers, open }: Agent,
): boolean {
  const simulated = inbox.length + timers.length + open.length > 0;
  if (simulated || closed.has(id)) return false;
  if (world.waiters.some(({ agent }) => agent === id)) return false;
  closed.add(id);
  return true;
}

/** Runs the next recorded event. */
function event(engine: Engine, agent: Agent): boolean {
  const { pos } = agent;
  const signature = agent.sig[pos]!;
  const kind = signature % 32;
  if (kind !== k.EVENT && kind !== k.ARRIVE) return false;
  const settle = engine.settlers.get(Math.floor(signature / 32));
  agent.pos = pos + 1;
  try {
    if (kind === k.ARRIVE) deliver(engine, agent.res[pos]);
    else settle?.(agent.res[pos]);
  } catch (error) {
    if (engine.unwinding) return true;
    threw(engine, agent, error);
  }
  return true;
}

/**
 * Runs what an agent that is run ahead has posted to itself, if that is the
 * next operation of its loop. If not, it has left the loop.
 */
function goesRound(
  engine: Engine,
  agent: Agent,
  look: Look,
  finished: boolean,
): boolean {
  const at = agent.n - look.period + look.done % look.period;
  const signature = agent.sig[at]!;
  const settle = engine.settlers.get(Math.floor(signature / 32));
  if (finished || !isPosted(agent, at) || settle === undefined) {
    look.escaped = true;
    return false;
  }
  if (look.done++ >= look.limit) return false;
  try {
    settle(agent.res[at]);
  } catch (error) {
    if (!engine.unwinding) threw(engine, agent, error);
  }
  return true;
}

/** Hands a message that has arrived to the agent on the stack. */
function deliver(engine: Engine, id: number): void {
  const { data, port, ports } = engine.world.mail.at(id);
  for (const other of ports) engine.ports.delete(other);
  const came = ports.map((port) => portOf(port, pack));
  portOf(port, pack).deliver(clone(data), came);
}

/** Handles an error that the agent's code threw. */
function threw(engine: Engine, agent: Agent, error: unknown): void {
  if (engine.look !== null) engine.look.escaped = true;
  else if (engine.alone !== null) engine.alone.ended = true;
  else engine.threw(agent, error);
  engine.suspend();
}

/**
 * Runs the agent's program from where its record begins. A call begins once
 * nothing of those before it is left to run.
 */
async function program(engine: Engine, agent: Agent): Promise<void> {
  const handle = engine.handles.of(agent);
  for (let at = agent.first; at < agent.calls.length; at++) {
    engine.calls = true;
    const { pos } = agent;
    let result: unknown;
    try {
      result = engine.call(agent, handle, at);
    } finally {
      engine.calls = false;
    }
    result = await result;
    if (engine.unwinding || engine.current !== agent) return;
    if (agent.pos === pos) engine.idles(agent);
    if (at === agent.oi) {
      if (engine.look !== null || engine.alone !== null) return;
      engine.finishCall(agent, result);
    }
    if (at + 1 === agent.calls.length) return;
    await new Promise<void>((resolve) => engine.goesOn = resolve);
    if (engine.unwinding || engine.current !== agent) return;
  }
}

/**
 * Ignores rejections by tokens. If a token is thrown in a reaction, it rejects
 * a promise that nobody handles; while agents run, this is not an error.
 */
export function rejections(): () => void {
  const handle = (event: Any) => event.preventDefault?.();
  // The same token, if a function that the platform called threw it.
  const ignore = (event: Any) => {
    if (event.error === TOKEN) event.preventDefault();
  };
  const { process, Bun } = globalThis as Any;
  // Bun has the function, but not the event.
  const tells = typeof globalThis.addEventListener === "function";
  if (tells && Bun === undefined) {
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
