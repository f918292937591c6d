/**
 * What agents do with ports. Posting is a step, like an operation on memory.
 * The other functions concern one agent only.
 *
 * @module
 */
import type { Agent } from "./agent/agent.ts";
import type { World } from "./core.ts";
import * as k from "../kinds.ts";
import { clone } from "../platform/copies.ts";
import type { PortState } from "../platform/office.ts";
import type { Performer } from "../platform/views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The parts of the engine that ports need. */
export interface Office extends Performer {
  readonly world: World;
  readonly current: Agent | null;
  /** What the agent on the stack has done with each port. */
  readonly ports: Map<number, PortState>;
  /** Whether handles are made. */
  readonly handles: { readonly making: boolean };
  /** Notes that the agent on the stack needs an event loop. */
  needAsync(): void;
  /** Calls `perform`, which concerns one agent only. No other can step in. */
  local(kind: number, a: number, perform: (agent: Agent) => Any): Any;
  /** Ends the exploration, because the code cannot be simulated. */
  refuse(message: string): never;
}

/** How many channels `memory()` has made, by the mail of its exploration. */
const made = new WeakMap<object, number>();

/** The number of a new channel; each replay gets the same. */
export function newChannel(engine: Office): number {
  const { world: { mail }, current: agent, handles } = engine;
  if (agent === null) {
    const at = made.get(mail) ?? 0;
    made.set(mail, at + 1);
    return mail.channel(`memory ${at}`);
  }
  if (handles.making) {
    return mail.channel(`handle ${agent.id} ${agent.channelsMade++}`);
  }
  engine.needAsync();
  const at: number = engine.local(k.CHANNEL, 0, (agent) => agent.serial++);
  return mail.channel(`agent ${agent.id} ${at}`);
}

/** Posts data to the port `to`, and transfers `ports` with it. */
export function send(
  engine: Office,
  to: number,
  key: string,
  data: Any,
  ports: number[],
): void {
  if (engine.handles.making) refuseEarly(engine, "post a message");
  engine.needAsync();
  const { id } = engine.world.mail.message(to, key, data, ports);
  engine.operate(k.SEND, null, 0, id, 0, Infinity);
}

/** The next message to a port, as `receiveMessageOnPort` answers it. */
export function take(engine: Office, port: number): Any {
  if (engine.handles.making) refuseEarly(engine, "receive a message");
  engine.needAsync();
  const id: number = engine.operate(k.TAKE, null, 0, port, 0, Infinity);
  if (id < 0) return undefined;
  const { data, ports } = engine.world.mail.at(id);
  for (const came of ports) engine.ports.delete(came);
  return { message: clone(data) };
}

/** Lets messages arrive at a port from now on. */
export function openPort(engine: Office, port: number): void {
  if (engine.handles.making) refuseEarly(engine, "listen to a port");
  engine.needAsync();
  engine.local(k.OPEN, port, (agent) => {
    const { agents, mail } = engine.world;
    const other = agents.find(({ open }) => open.includes(port));
    if (other !== undefined && other !== agent) {
      engine.refuse(
        `Cannot explore ${mail.nameOf(port)}: agents ${other.id} and ` +
          `${agent.id} both listen to it. A port belongs to one agent`,
      );
    }
    agent.open = [...agent.open, port];
  });
}

/** Lets no more messages arrive at a port. */
export function closePort(engine: Office, port: number): void {
  engine.local(k.CLOSE, port, (agent) => {
    agent.open = agent.open.filter((other) => other !== port);
  });
}

function refuseEarly(engine: Office, what: string): void {
  engine.refuse(`Cannot ${what} in agent(): do it in an operation`);
}
