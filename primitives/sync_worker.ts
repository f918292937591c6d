/**
 * A worker whose functions block: async functions as if they were not.
 *
 * @module
 */

// First, for what mod.ts says of zip.
import { values } from "./_value/codec.ts";
import { brief, describe } from "./_memory/describe.ts";
import type { Disposer } from "./_memory/dispose.ts";
import { LastWords, starting } from "./_worker/last_words.ts";
import { load } from "./_worker/module.ts";
import { parent } from "./_worker/parent.ts";
import { Client } from "./_calls/client/client.ts";
import { disposableBy, type Invoke } from "./_calls/remote.ts";
import { close } from "./_calls/ring/call.ts";
import type { Slots } from "./_calls/ring/slots.ts";
import { bytesFor, checked } from "./_calls/ring/words.ts";
import { slotsOf } from "./_calls/wire.ts";
import { CALL_RING } from "./_memory/layout.ts";
import {
  format,
  fromHandle,
  type Handle,
  inNewMemory,
} from "./_memory/region.ts";
import {
  type AnyWorker,
  HERE,
  type NodePort,
  outputWaits,
  processOf,
  sendOutput,
  threads,
  writeOutput,
} from "./_worker/threads.ts";
import { json } from "./_message/codec.ts";
import { isError } from "./_message/thrown.ts";
import { spinning } from "./_wait/spin.ts";
import { assertOptions } from "./_wait/wait.ts";
import { agentId } from "./agent.ts";
import { CallError, type CallRing, type CallRingConfig } from "./call_ring.ts";
import {
  type ApiCodec,
  type BlockingRemote,
  ClosedError,
  type ConnectOptions,
  type OptionsOf,
  serve,
} from "./calls.ts";

export type {
  ApiCodec,
  BlockingRemote,
  ConnectOptions,
  OptionsOf,
} from "./calls.ts";
export { CallError } from "./call_ring.ts";
export type { AnyWorker } from "./_worker/threads.ts";

/**
 * How to start and to call a worker whose functions have the types of `Api`.
 */
export interface SyncWorkerOptions<Api = object>
  extends Omit<ConnectOptions<Api>, "ref" | "errors"> {
  /**
   * The bytes of most requests, 262,144 unless given; longer ones take longer.
   */
  readonly request?: number | undefined;
  /** The bytes of most results, 262,144 unless given. */
  readonly reply?: number | undefined;
  /**
   * Options of the `Worker` of `node:worker_threads`, which is started if a URL
   * was given: `execArgv`, `env`, `resourceLimits` and others.
   */
  readonly worker?: object | undefined;
}

/**
 * The functions of a worker. Each blocks until its result is there. The worker
 * ends with the block of a `using`.
 */
export type SyncWorker<Api> = BlockingRemote<Api> & Disposer;

/** How long a worker that has nothing else to do blocks for the next call. */
const NAP = 2;
/** Calls that may be under way: those whose time was over may go on. */
const SLOTS = 8;
const BYTES = 262_144;

/** The first message to a worker. */
interface Hello {
  readonly "weft sync worker": true;
  readonly ring: Handle<"call_ring">;
  readonly memory: SharedArrayBuffer;
  /** Where its output goes. */
  readonly port: NodePort | undefined;
  /** The module that it serves, unless it serves by itself. */
  readonly module: string | undefined;
  /** Whether `codec.json` carries the values. */
  readonly isJson: boolean;
}

const isHello = (data: unknown): data is Hello =>
  typeof data === "object" && data !== null && "weft sync worker" in data;

/**
 * A ring for `serve` and `connect`. It is no `CallRing`, whose methods nobody
 * calls here.
 */
type Ring = Pick<CallRing, "handle" | "buffer" | "byteOffset">;

function ringOf(handle: Handle<"call_ring">): Ring {
  const [memory, byteOffset] = fromHandle("call_ring", handle);
  return { handle, buffer: memory as SharedArrayBuffer, byteOffset };
}

function newRing(config: CallRingConfig): Ring {
  const words = checked(config);
  const bytes = bytesFor(...words);
  return inNewMemory(bytes, (buffer) => {
    format("call_ring", CALL_RING, buffer, 0, bytes, words);
    return ringOf({ kind: "call_ring", buffer, byteOffset: 0 });
  });
}

// ---- the caller -------------------------------------------------------------

/** The functions that write what output is left when this thread ends. */
let endings: Set<() => void> | undefined;

/** The address of a module, of which a URL or an absolute path is given. */
function addressOf(module: URL | string): string {
  const text = String(module);
  if (/^([a-z]:)?[\\/]/i.test(text)) {
    const address = new URL("file:///");
    address.pathname = text.replaceAll("%", "%25"); // it escapes ? and #
    return address.href;
  }
  try {
    return new URL(text).href;
  } catch {
    throw new TypeError(
      "syncWorker needs a URL, or the absolute path of a module: received " +
        describe(text),
    );
  }
}

/** Starts a thread that runs this module and serves another. */
function startThread(module: URL | string, options: object): AnyWorker {
  const Thread = threads()?.Worker;
  const here = import.meta.url;
  // In a bundle, both modules are in one file, whatever its name is.
  const isItself = /\/sync_worker\.[jt]s$/.test(here) && here !== HERE;
  if (Thread !== undefined && isItself) {
    const code = `import(${JSON.stringify(here)})` +
      `.then(({ serveModule }) => serveModule())`;
    // With `eval`, Node would load no module of `--import` in the worker.
    const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
    return new Thread(entry, options);
  }
  throw new TypeError(
    `syncWorker cannot start ${brief(String(module))} from a bundle, or in ` +
      "this runtime: give it a function that makes a Worker, whose module " +
      "calls serveSync",
  );
}

/** The events of a worker of Node's, or of the web. */
type Watched = AnyWorker & {
  on?(event: "error" | "exit", listener: (what: unknown) => void): void;
  addEventListener?(
    event: "error",
    listener: (event: ErrorEvent) => void,
  ): void;
};

/** A worker, as the thread sees it that blocks on it. */
class Caller {
  readonly #worker: AnyWorker;
  readonly #slots: Slots;
  readonly #words = new LastWords();
  readonly #port: NodePort | undefined;
  #begun = false;
  #seen = 0;

  constructor(
    ring: Ring,
    start: () => AnyWorker,
    module: string | undefined,
    isJson: boolean,
  ) {
    this.#slots = slotsOf(ring, agentId());
    const worker = start();
    if (typeof worker?.postMessage !== "function") {
      throw new TypeError(
        `make must return a Worker: received ${describe(worker)}`,
      );
    }
    this.#worker = worker;
    const channel = outputWaits()
      ? new (threads()!.MessageChannel)()
      : undefined;
    this.#port = channel?.port1;
    try {
      const hello: Hello = {
        "weft sync worker": true,
        ring: ring.handle,
        memory: this.#words.memory,
        port: channel?.port2,
        module,
        isJson,
      };
      const transfer = channel === undefined ? [] : [channel.port2 as never];
      worker.postMessage(hello, transfer);
      this.#watch(worker, module !== undefined);
      (worker as { unref?(): void }).unref?.();
    } catch (error) {
      this.end(); // nobody else can
      throw error;
    }
    if (channel === undefined) return;
    channel.port1.on("message", writeOutput);
    channel.port1.unref();
    if (endings === undefined) {
      endings = new Set();
      processOf()?.on?.("exit", () => endings!.forEach((end) => end()));
    }
    endings.add(this.flush);
  }

  /** Writes the output of the worker that has come so far. */
  readonly flush = (): void => {
    const { output } = this.#words;
    if (this.#port === undefined || output === this.#seen) return;
    this.#seen = output;
    const { receiveMessageOnPort } = threads()!;
    for (let next; (next = receiveMessageOnPort(this.#port)) !== undefined;) {
      writeOutput(next.message);
    }
  };

  /**
   * Learns that the worker has ended in a way that it could not tell, while
   * nobody blocked on it. Without a listener for errors, Node ends the process.
   */
  #watch(worker: Watched, isOurs: boolean): void {
    if (isOurs) worker.on?.("error", (error) => this.#ended(asError(error)));
    worker.on?.("exit", (code) => {
      this.#ended(new Error(`it exited with code ${code}`));
    });
    if (worker.on !== undefined) return;
    worker.addEventListener?.("error", ({ message, filename, lineno }) => {
      const what = message
        ? `${message} (${filename}:${lineno})`
        : "it did not load";
      this.#ended(new Error(what));
      void worker.terminate(); // one of a page would go on
    });
  }

  /** The worker has ended, and why. */
  #ended(why: Error): void {
    if (this.#slots.closed) return; // it has told, or was ended
    this.#words.say(why);
    close(this.#slots.words);
  }

  /** Blocks until the worker serves; if it does not soon, it is given up. */
  awaitBegin(): void {
    if (this.#begun || this.#slots.closed) return;
    this.#begun = this.#words.awaitBegin();
    if (this.#begun) return;
    const why = `it has not called serveSync within ${starting.patience} ms. ` +
      "In Chromium, a worker of a worker begins only while that one awaits";
    this.#ended(new Error(why));
    void this.#worker.terminate();
  }

  /** What a call throws that was thrown `error`, perhaps by the worker. */
  explain(error: unknown, isSent: boolean, called: unknown): unknown {
    const hasEnded = error instanceof CallError || error instanceof ClosedError;
    const cause = hasEnded ? this.#words.error : undefined;
    if (cause !== undefined) {
      const ended = new CallError(
        `The worker has ended: ${cause.message}`,
        true,
      );
      Object.defineProperty(ended, "cause", { value: cause });
      return ended;
    }
    if (isSent && isError(error)) addStack(error, called);
    return error;
  }

  end(): void {
    this.flush();
    close(this.#slots.words);
    void this.#worker.terminate();
    this.#port?.close();
    endings?.delete(this.flush);
  }
}

const framesOf = (stack = ""): string[] =>
  stack.split("\n").filter((line) =>
    line.includes("at ") || line.includes("@")
  );

/** Adds the stack of the caller to that of the worker. */
function addStack(error: Error, called: unknown): void {
  const here: { stack?: string } = {};
  (Error as { captureStackTrace?(on: object, from: unknown): void })
    .captureStackTrace?.(here, called);
  let frames = framesOf(here.stack);
  // The function has no frame in JavaScriptCore, as it ends with a call. These
  // are this function, the one that explains, and the one around the call.
  if (frames.length === 0) frames = framesOf(new Error().stack).slice(3);
  const { stack } = error;
  if (frames.length === 0) return;
  const both = [stack, "    --- called by ---", ...frames].join("\n");
  Object.defineProperty(error, "stack", {
    value: both,
    configurable: true,
    writable: true,
  });
}

/**
 * Starts a worker that serves what the module at `url` exports, and returns its
 * functions. Each blocks this agent until the result is there, also if the
 * function in the worker is async. Give it the type of the module. In place of
 * the URL it may have the absolute path of the module.
 *
 * It runs in Node (20.16 or newer), Deno and Bun. In a bundle, and in a worker
 * of a page, give it a function that makes the worker in place of the URL; the
 * worker's module calls {@linkcode serveSync}.
 *
 * - What a function throws is thrown here, as by `connect`. Its stack has the
 *   worker's frames, and then those of the caller.
 * - What the worker writes to its console has been written when the call
 *   returns: in Node by this thread, in Deno and Bun by the worker itself. In a
 *   page, the browser shows it when it likes.
 * - The worker does not keep the process alive, and ends with it, or by
 *   `using`. Deno keeps a process alive for a worker of the web that a function
 *   makes.
 * - If the worker ends by itself, by an error outside of all calls or by
 *   `process.exit`, the call fails with a {@linkcode CallError}, whose cause
 *   says why. Where its memory was exhausted it cannot tell: a `timeout` ends
 *   the call.
 * - A worker that a function makes has 30 s to call `serveSync`. In a page, an
 *   error outside of all calls is heard when this thread comes to its event
 *   loop, and Chromium starts a worker of a worker only while that one awaits.
 * - After a `timeout`, the function goes on in the worker. If it is async, the
 *   next call runs beside it, unless 8 such functions are pending. If it
 *   computes, the next call waits until it has ended, or for its own time.
 *
 * Between two calls that follow each other closely, the worker's event loop
 * stands still for 2 ms at most.
 *
 * C twin: none.
 *
 * @example A formatter that is async
 * ```ts ignore
 * import { syncWorker } from "@weft/sync/sync_worker";
 *
 * const url = new URL("./worker.ts", import.meta.url);
 * const format = syncWorker<typeof import("./worker.ts")>(url);
 * console.log(format.run("a=1", { semicolons: true }));
 * ```
 *
 * @throws {TypeError} If this agent may not block, or an option is unknown or
 * of a wrong type.
 * @throws {RangeError} If `request` or `reply` is out of range, or `timeout` is
 * negative or NaN.
 */
export function syncWorker<Api>(
  url: URL | string | (() => AnyWorker),
  ...[options]: OptionsOf<Api, SyncWorkerOptions<Api>>
): SyncWorker<Api> {
  const known = ["codec", "timeout", "request", "reply", "worker"];
  assertOptions(options, known);
  const { worker = {}, ...given }: SyncWorkerOptions = options ?? {};
  const isMade = typeof url === "function";
  // Not by `instanceof`, which fails for a URL of Node's among jsdom's globals.
  const isUrl = typeof url === "string" || describe(url) === "[object URL]";
  if (!isMade && !isUrl) {
    throw new TypeError(
      "syncWorker needs a URL, a path, or a function that makes a Worker: " +
        `received ${describe(url)}`,
    );
  }
  const { codec, timeout } = given;
  if (!isMade && codec !== undefined && codec !== json && codec !== values) {
    throw new TypeError(
      "A codec of yours cannot be sent to a worker: give syncWorker a function " +
        "that makes a Worker, whose module calls serveSync with that codec",
    );
  }
  if (typeof worker !== "object" || worker === null) {
    throw new TypeError(
      `worker must be an object of options: received ${describe(worker)}`,
    );
  }
  const module = isMade ? undefined : addressOf(url);
  const start = isMade ? url : () => startThread(url, worker);
  const { request = BYTES, reply = BYTES } = given;
  const ring = newRing({ slots: SLOTS, request, reply });
  const around = (invoke: Invoke): Invoke => (args, called) => {
    try {
      if (awaitsBegin) caller.awaitBegin();
      return invoke(args);
    } catch (error) {
      throw caller.explain(error, client.thrown === error, called);
    } finally {
      caller.flush();
    }
  };
  const client = new Client(
    () => slotsOf(ring, agentId()),
    { codec, timeout },
    true,
    around,
  );
  // A shorter timeout of the user's ends a call before.
  const awaitsBegin = isMade && (timeout ?? Infinity) > starting.patience;
  const caller = new Caller(ring, start, module, codec === json);
  return disposableBy(client.ends(), () => caller.end()) as SyncWorker<Api>;
}

// ---- the worker -------------------------------------------------------------

/** The first message of the thread that has made this one. */
function helloOf(): Promise<Hello> {
  const from = parent("serveSync", "syncWorker");
  return new Promise((resolve) => {
    const take = (data: unknown) => {
      if (isHello(data)) resolve(data);
    };
    if (from.on !== undefined) from.on("message", take);
    else from.addEventListener?.("message", ({ data }) => take(data));
  });
}

async function serveFor(
  hello: Hello,
  load: () => readonly [object] | Promise<readonly [object]>,
  { codec }: Pick<ApiCodec, "codec">,
): Promise<void> {
  const words = new LastWords(hello.memory);
  words.begin();
  const ring = ringOf(hello.ring);
  const slots = slotsOf(ring, agentId());
  const fail = (error: Error) => {
    words.say(error);
    close(slots.words);
    slots.abandon(slots.id);
    const refuse = () => {
      throw error;
    };
    for (let at; (at = slots.takeOrEnd()) > 0;) slots.handle(at, refuse);
  };
  if (hello.port !== undefined) sendOutput(hello.port, () => words.addOutput());
  const die = (error: unknown) => {
    fail(asError(error));
    (processOf() as { exit?(code: number): never }).exit?.(1);
  };
  processOf()?.on?.("uncaughtException", die);
  // Elsewhere this is an uncaught exception, unless the module listens itself.
  if ("Bun" in globalThis) {
    processOf()?.on?.("unhandledRejection", (error: unknown) => {
      if (processOf()?.listenerCount?.("unhandledRejection") === 1) die(error);
    });
  }
  processOf()?.on?.("exit", (code: number) => {
    if (!slots.closed) fail(new Error(`it exited with code ${code}`));
  });
  try {
    spinning.nap = NAP;
    const [api] = await load();
    await serve(ring as CallRing, api, { codec });
  } catch (error) {
    fail(asError(error));
  }
}

const asError = (error: unknown): Error =>
  isError(error) ? error : new Error(String(error));

/**
 * Serves the functions of `api` to the agent that has made this worker by a
 * function that it gave to {@linkcode syncWorker}. Resolves once that agent has
 * ended the worker's work. Call it before the first `await` of the module.
 *
 * @example A worker of a page
 * ```ts ignore
 * import { serveSync } from "@weft/sync/sync_worker";
 *
 * await serveSync({ read: async (url: string) => (await fetch(url)).text() });
 * ```
 *
 * @throws {TypeError} If this agent is not a worker.
 */
export async function serveSync(
  api: object,
  options?: ApiCodec,
): Promise<void> {
  assertOptions(options, ["codec"]);
  await serveFor(await helloOf(), () => [api], options ?? {});
}

/**
 * Serves the module that `syncWorker` was given.
 *
 * @ignore
 */
export async function serveModule(): Promise<void> {
  const hello = await helloOf();
  await serveFor(hello, () => load(hello.module!), {
    codec: hello.isJson ? json : undefined,
  });
}
