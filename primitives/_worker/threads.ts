/**
 * Threads of Node, Deno and Bun, and the output of theirs that would come too
 * late: a thread of Node writes by messages to the thread that has made it,
 * which cannot receive them while it blocks.
 *
 * @module
 */

/** A `Worker` of the web, of Node or of Bun. */
export interface AnyWorker {
  /** Sends it a message. */
  postMessage(message: unknown, transfer: never[]): void;
  /** Ends it. */
  terminate(): unknown;
}

/** A port of Node's. */
export interface NodePort {
  postMessage(message: unknown): void;
  on(event: "message", listener: (piece: Piece) => void): void;
  unref(): void;
  close(): void;
}

/** What was written to which stream, and in which encoding. */
type Piece = readonly [
  stream: "stdout" | "stderr",
  chunk: string | Uint8Array,
  encoding: string | undefined,
];

/** The part of `node:worker_threads` that is used here. */
export interface Threads {
  readonly Worker: new (module: URL, options: object) => AnyWorker;
  readonly MessageChannel: new () => { port1: NodePort; port2: NodePort };
  receiveMessageOnPort(port: NodePort): { message: Piece } | undefined;
}

/** The address of this module. */
export const HERE: string = import.meta.url;

interface Stream {
  write(
    chunk: string | Uint8Array,
    encoding?: string | (() => void),
    done?: () => void,
  ): boolean;
}

interface Process {
  getBuiltinModule?(name: string): unknown;
  on?(event: string, listener: (what: never) => void): void;
  listenerCount?(event: string): number;
  readonly stdout: Stream;
  readonly stderr: Stream;
}

interface Scope {
  readonly process?: Process;
}

/** `process`, if the platform has one. */
export const processOf = (): Process | undefined =>
  (globalThis as unknown as Scope).process;

/** `node:worker_threads`, if the platform has it. */
export function threads(): Threads | undefined {
  return processOf()?.getBuiltinModule?.("node:worker_threads") as
    | Threads
    | undefined;
}

/** Whether a thread's output waits for the thread that has made it. */
export const outputWaits = (): boolean =>
  !("Deno" in globalThis) && threads() !== undefined;

/** In a thread: sends all output by `port`; `sent` is called for each piece. */
export function sendOutput(port: NodePort, sent: () => void): void {
  for (const name of ["stdout", "stderr"] as const) {
    processOf()![name].write = (chunk, encoding, done) => {
      const kind = typeof encoding === "string" ? encoding : undefined;
      port.postMessage([name, chunk, kind]);
      sent();
      const then = typeof encoding === "function" ? encoding : done;
      if (then !== undefined) queueMicrotask(then);
      return true;
    };
  }
}

/** Writes a piece of a thread's output, as if this thread had written it. */
export function writeOutput([name, chunk, encoding]: Piece): void {
  processOf()![name].write(chunk, encoding);
}
