/**
 * What ports need of the engine.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any
type Any = any;

/** What the agent on the stack has done with a port. */
export interface PortState {
  onmessage: Any;
  /** By listener: what calls it, and whether only once. */
  readonly listeners: Map<Any, { call: Any; once: boolean }>;
  open: boolean;
  /** Whether it was closed, or given away. */
  gone: boolean;
}

/** A port that nothing was done with. */
export const freshPort = (): PortState => ({
  onmessage: null,
  listeners: new Map(),
  open: false,
  gone: false,
});

/** The engine, as ports see it. */
export interface PostOffice {
  /** What the agent on the stack has done with a port. */
  portState(port: number): PortState;
  /** The number of a new channel. */
  newChannel(): number;
  /** Gives a port a name for reports. */
  namePort(port: number, name: string): void;
  /** Posts data to a port; `ports` go along with it. */
  send(to: number, key: string, data: Any, ports: number[]): void;
  /** The next message to a port, in an object; undefined if there is none. */
  take(port: number): Any;
  /** Lets messages arrive at a port from now on, or no longer. */
  openPort(port: number): void;
  closePort(port: number): void;
}
