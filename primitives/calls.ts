/**
 * Typed calls between agents: an object of functions that one agent serves and
 * others call as if it were theirs.
 *
 * @module
 */

// First, for what mod.ts says of zip.
import { assertBlocking, slotsOf } from "./_calls/wire.ts";
import { Client } from "./_calls/client/client.ts";
import { Nap } from "./_calls/nap.ts";
import { remoteBy } from "./_calls/remote.ts";
import { finish, Underway } from "./_calls/ring/underway.ts";
import { Server } from "./_calls/server.ts";
import type {
  ApiCodec,
  BlockingRemote,
  CallPort,
  ConnectOptions,
  Remote,
} from "./_calls/types.ts";
import { inRange } from "./_memory/region.ts";
import type {
  CodecOfApi,
  IsStructuredApi,
  MethodsOf,
} from "./_message/codec.ts";
import { awaitOn } from "./_wait/pending.ts";
import { nextTurn } from "./_wait/turn.ts";
import { assertOptions } from "./_wait/wait.ts";
import { agentId } from "./agent.ts";
import type { CallRing, ServeOptions } from "./call_ring.ts";

export { transfer } from "./_calls/beside.ts";
export type {
  ApiCodec,
  AreCopied,
  BlockingArgument,
  BlockingArguments,
  BlockingMethod,
  BlockingRemote,
  BlockingRemoteItself,
  CallPort,
  ConnectOptions,
  IsRead,
  Remote,
  RemoteArgument,
  RemoteArguments,
  RemoteIterable,
  RemoteItself,
  RemoteMethod,
  RemoteObject,
} from "./_calls/types.ts";
export type { Disposer } from "./_memory/dispose.ts";
export type {
  AllTrue,
  CarriedOf,
  CarriedOfArgument,
  CodecOfApi,
  IsData,
  IsIterated,
  IsJson,
  IsJsonApi,
  IsStructured,
  IsStructuredApi,
  IteratedOf,
  JsonCodec,
  MethodsOf,
  OwnCodec,
  StaysHere,
  StructuredOf,
  There,
  ValueCodec,
  ValuesOf,
} from "./_message/codec.ts";
export type { Codec } from "./_message/message.ts";
export type { ErrorClass } from "./_message/own_errors.ts";
export { ClosedError } from "./_queue/queue.ts";
export type { AsyncOptions } from "./_wait/wait.ts";
export { CallError, CallRing, type ServeOptions } from "./call_ring.ts";

/** How to serve an object, awaiting. */
export interface ServeApiOptions extends ApiCodec, ServeOptions {}

/** The type of {@linkcode serve}. */
export interface Serve {
  /** Serves the methods of `api`, awaiting. */
  (ring: CallRing, api: object, options?: ServeApiOptions): Promise<number>;
  /**
   * Serves the methods of `api`, blocking while there are no calls, until the
   * ring is closed and no call is left; returns how many it served. A method
   * must return its result, and no promise.
   *
   * @throws {TypeError} As `serve`, or if this agent may not block.
   */
  blocking(ring: CallRing, api: object, options?: ApiCodec): number;
}

/**
 * The options of `connect`. If `structuredClone` does not copy the arguments
 * and the results of all methods, they must name a codec that carries them, or
 * a port beside the ring.
 */
export type OptionsOf<Api, Options> = IsStructuredApi<
  MethodsOf<Api>
> extends true ? [options?: Options]
  : [
    options:
      & Options
      & (
        | { readonly codec: CodecOfApi<Api> }
        | { readonly port: CallPort }
      ),
  ];

/** The type of {@linkcode connect}. */
export interface Connect {
  /** The methods of the object that is served, which return promises. */
  <Api>(
    ring: CallRing,
    ...options: OptionsOf<Api, ConnectOptions<Api>>
  ): Remote<Api>;
  /**
   * The same with methods that block until the result is there, and throw.
   *
   * @throws {TypeError} As `connect`, or if this agent may not block.
   */
  blocking<Api>(
    ring: CallRing,
    ...options: OptionsOf<Api, Omit<ConnectOptions<Api>, "ref">>
  ): BlockingRemote<Api>;
}
/** Microtasks in which an async handler that awaits nothing has its result. */
const TICKS = 4;
/** The ms that methods have, whose callers gave up, before a server ends. */
const GRACE = 2000;

async function serveAsync(
  ring: CallRing,
  api: object,
  options?: ServeApiOptions,
): Promise<number> {
  assertOptions(options, [
    "codec",
    "errors",
    "port",
    "limit",
    "signal",
    "ref",
  ]);
  const { codec, errors, port, limit, ...waiting } = options ?? {};
  let most = 0;
  const takeSlots = () => {
    const slots = slotsOf(ring, agentId());
    most = inRange("limit", limit ?? slots.count, 1, slots.count);
    return slots;
  };
  const own = { codec, errors, port };
  const server = new Server(takeSlots, api, own, false, waiting.ref);
  const { slots } = server;
  const underway = new Underway();
  /** Calls that were taken while as many were under way as may be. */
  const late: number[] = [];
  const begin = (at: number) => {
    const answer = server.handle(at, true);
    if (answer === undefined) return;
    underway.add(answer, at, () => {
      while (late.length > 0 && underway.size < most) begin(late.shift()!);
    });
  };
  const nap = new Nap(slots);
  try {
    for (;;) {
      // Methods that call back go on when their callers answer.
      while (underway.size >= most && !server.expects) {
        await underway.next();
      }
      let at = 0;
      if (!waiting.signal?.aborted) {
        at = slots.takeOrEnd();
        for (let i = 0; at === 0 && underway.size > 0 && i < TICKS; i++) {
          await undefined; // lets handlers end
        }
        if (at === 0 && underway.size === 0) at = nap.take();
      }
      at ||= await awaitOn(slots.coming, waiting);
      if (at < 0) break;
      if (server.took(at) || underway.size < most) begin(at);
      else late.push(at);
      const turn = nextTurn();
      if (turn !== undefined) await turn;
    }
  } finally {
    server.stop();
    do {
      await finish(underway, slots.words, GRACE, waiting.ref ?? true);
      server.forget();
      underway.clear();
      while (late.length > 0 && underway.size < most) begin(late.shift()!);
    } while (underway.size > 0);
    server.end();
  }
  return server.count;
}

function serveBlocking(
  ring: CallRing,
  api: object,
  options?: ApiCodec,
): number {
  assertOptions(options, ["codec", "errors", "port"]);
  assertBlocking("serve");
  const server = new Server(
    () => slotsOf(ring, agentId()),
    api,
    options ?? {},
    true,
  );
  try {
    while (server.serveNext());
    return server.count;
  } finally {
    server.stop();
    server.end();
  }
}

/**
 * Serves the methods of `api`, which others call by {@linkcode connect}, until
 * the ring is closed and no call is left; resolves with how many calls it
 * served. Methods whose callers gave up have two seconds then. Methods may be
 * async: up to `limit` of them run at a time, as many as the ring has slots
 * unless given. Any number of agents may serve one ring.
 *
 * An AbortSignal that is passed as an argument arrives as one that aborts when
 * the caller gives up: its signal aborted, its time was over, or it was
 * abandoned. `signal.aborted` is up to date in a method that never awaits, too.
 * `signal.reason` is a copy of the caller's, or a `TimeoutError`. An error that
 * is longer than a slot's request, less 12 bytes, loses its stack and causes,
 * and its message is cut. Another reason that does not fit, or that the codec
 * cannot carry, arrives as an `AbortError`.
 *
 * Objects of methods within `api`, its properties and its classes are served,
 * too. `api` may itself be a function or a class: then the remote is called, or
 * `new` makes instances of it. Instances and iterators stay here. Functions
 * that are arguments stay with the caller, and are called back.
 *
 * If a method throws, its caller gets the error. A request or a result may
 * be longer than a slot of the ring: it is sent in pieces. The server keeps
 * them for 30 seconds, for a caller that may have died.
 *
 * It changes shared memory by steps that {@linkcode CallRing} takes, too, which
 * the scenarios of `CallRing` prove; and a caller whose function was called
 * back posts its answer in the slot that it has, as its own scenarios prove.
 * Progress, fairness and what a terminated agent leaves behind are as there. C
 * twin: `weft_calls_serve`.
 *
 * @example A worker that counts
 * ```ts
 * import { CallRing, connect, serve } from "@weft/sync";
 *
 * const ring = CallRing.create();
 * const counter = {
 *   count: 0,
 *   add(n: number) {
 *     return this.count += n;
 *   },
 * };
 * const served = serve(ring, counter); // in a worker
 * const remote = connect<typeof counter>(ring);
 * await remote.add(2);
 * if ((await remote.add(3)) !== 5) throw new Error("wrong sum");
 * ring.close();
 * await served;
 * ```
 *
 * @throws {TypeError} If `ring` is not a CallRing, `api` has no methods or
 * has one named `then`, or an option is unknown or of a wrong type.
 * @throws {RangeError} If the ring has slots of less than 12 bytes for a
 * request or 4 for a reply, or `limit` is out of range.
 */
export const serve: Serve = /* @__PURE__ */ Object.assign(
  serveAsync,
  { blocking: serveBlocking },
) as Serve;
function connectAsync(ring: CallRing, options?: ConnectOptions): object {
  assertOptions(options, ["codec", "errors", "port", "timeout", "ref"]);
  const client = new Client(
    () => slotsOf(ring, agentId()),
    options ?? {},
    false,
  );
  return remoteBy(client.ends());
}

function connectBlocking(ring: CallRing, options?: ConnectOptions): object {
  assertOptions(options, ["codec", "errors", "port", "timeout"]);
  const client = new Client(
    () => slotsOf(ring, agentId()),
    options ?? {},
    true,
  );
  return remoteBy(client.ends());
}

/**
 * The object that {@linkcode serve} serves in another agent: its methods return
 * promises, and those of `connect.blocking` block. Give it the type of the
 * object: `connect<typeof api>(ring)`.
 *
 * Arguments and results are what the codec carries; with one that cannot carry
 * them, `connect` does not compile. A method that returns nothing gives
 * undefined with any codec. An argument that is an AbortSignal
 * ends the call when it aborts, and its twin does so in the handler. A blocking
 * call cannot see it abort.
 *
 * What the method throws is thrown here: an error with its name, message,
 * stack, code and cause, in one of the language's own classes if it was of one,
 * or in one of the option `errors`; any other value as the codec carries it. A
 * call fails with
 *
 * - a TypeError with a path, if the codec cannot carry an argument, or a
 *   RangeError if the request is longer than the ring can carry in pieces; then
 *   nothing was sent;
 * - a TypeError that lists the methods, if there is none of that name;
 * - a {@linkcode ClosedError}, if the ring was closed before the call, or
 *   closed and no server took the call for one or two seconds;
 * - a {@linkcode CallError}, if its server was abandoned (`ring.abandon(id)`);
 * - `signal.reason`, or a `TimeoutError`.
 *
 * @example Errors and time
 * ```ts
 * import { CallRing, connect, serve } from "@weft/sync";
 *
 * const ring = CallRing.create();
 * const api = {
 *   read(name: string): string {
 *     throw new RangeError(`no file ${name}`, { cause: "the disk is empty" });
 *   },
 * };
 * const served = serve(ring, api); // in a worker
 * const remote = connect<typeof api>(ring, { timeout: 10_000 });
 * const error = await remote.read("a").catch((error) => error);
 * if (!(error instanceof RangeError)) throw error;
 * console.log(error.message, error.cause); // no file a, the disk is empty
 * ring.close();
 * await served;
 * ```
 *
 * @throws {TypeError} If `ring` is not a CallRing, or an option is unknown or
 * of a wrong type.
 * @throws {RangeError} If the ring has slots of less than 12 bytes for a
 * request or 4 for a reply, or the timeout is negative or NaN.
 */
export const connect: Connect = /* @__PURE__ */ Object.assign(
  connectAsync,
  { blocking: connectBlocking },
) as unknown as Connect;
