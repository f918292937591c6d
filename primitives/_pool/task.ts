/**
 * The tasks of a pool, as a program declares them.
 *
 * @module
 */

import { brief, describe } from "../_memory/describe.ts";
import { assertBoolean, assertConfig } from "../_memory/region.ts";
import type { CodecOf, IsStructured, ValueCodec } from "../_message/codec.ts";
import type { Codec } from "../_message/message.ts";
import { values } from "../_value/codec.ts";
import { inPlace, inPlaceResult } from "../_message/in_place.ts";
import type { Spec } from "./jobs.ts";
import { fieldOf, MOST_TASKS, signatureOf } from "./wire.ts";

/** A kind of task: what goes to the worker, and what comes back. */
export interface Task<Request, Reply> {
  /** Carries the request; `valueCodec` unless given. */
  readonly request: Codec<Request>;
  /** Carries the result; `valueCodec` unless given. */
  readonly reply: Codec<Reply>;
  /**
   * Whether it may be done again if its worker dies; `false` unless given.
   */
  readonly idempotent?: boolean | undefined;
}

/**
 * The codecs of a task: where `structuredClone` does not copy the type, one
 * must be named.
 */
export type TaskConfig<Request, Reply> =
  & TaskCodec<"request", Request>
  & TaskCodec<"reply", Reply>
  & Pick<Task<Request, Reply>, "idempotent">;

/** The codec of a task. Every codec of a task also carries `undefined`. */
export type TaskCodec<Name extends string, T> = IsStructured<T> extends true
  ? { readonly [Key in Name]?: CodecOf<T> | CodecOf<Exclude<T, undefined>> }
  : { readonly [Key in Name]: CodecOf<T> | CodecOf<Exclude<T, undefined>> };

/** A codec, whatever it carries. */
// deno-lint-ignore no-explicit-any
export type AnyCodec = Codec<any>;

/** What a codec carries. */
export type ValueOf<C extends AnyCodec> = C extends Codec<infer Value> ? Value
  : never;

/** A kind of task, whatever goes there and comes back. */
// deno-lint-ignore no-explicit-any
export type AnyTask = Task<any, any>;

/** The tasks of a pool by their names. */
export interface Tasks {
  /** A task, which `task` made. */
  readonly [name: string]: AnyTask;
}

/** The request of a task. */
export type RequestOf<T extends AnyTask> = T extends
  { readonly request: Codec<infer Request> } ? Request : never;

/** The result of a task. */
export type ReplyOf<T extends AnyTask> = T extends
  { readonly reply: Codec<infer Reply> } ? Reply : never;

/**
 * Declares a kind of task. The program that has the pool and its workers import
 * the same declarations. With a codec that cannot carry the type of the request
 * or of the result, it does not compile.
 *
 * @example Bytes to bytes, and values of types of yours
 * ```ts
 * import { codec, task } from "@weft/sync/pool";
 *
 * interface Job {
 *   width: number;
 *   name: string;
 * }
 * const tasks = {
 *   compress: task({ request: codec.binary, reply: codec.binary }),
 *   draw: task<Job, string[]>({ idempotent: true }),
 * };
 * console.log(Object.keys(tasks)); // compress, draw
 * ```
 *
 * @throws {TypeError} If a name is unknown, a codec is not a codec, or
 * `idempotent` is not a boolean.
 */
export function task<Request = unknown, Reply = unknown>(
  ...config: [IsStructured<Request>, IsStructured<Reply>] extends [true, true]
    ? [config?: TaskConfig<Request, Reply>]
    : [config: TaskConfig<Request, Reply>]
): Task<Request, Reply>;
/**
 * The same, where the codecs say what goes there and comes back.
 *
 * @throws {TypeError} As above.
 */
export function task<
  Request extends AnyCodec = ValueCodec,
  Reply extends AnyCodec = ValueCodec,
>(
  config: {
    readonly request?: Request | undefined;
    readonly reply?: Reply | undefined;
    readonly idempotent?: boolean | undefined;
  },
): Task<ValueOf<Request>, ValueOf<Reply>>;
export function task(config: Partial<AnyTask> = {}): AnyTask {
  assertConfig("task", config, ["request", "reply", "idempotent"]);
  const { request = values, reply = values, idempotent = false } = config;
  assertBoolean("idempotent", idempotent);
  return {
    request: codecOf("request", request),
    reply: codecOf("reply", reply),
    idempotent,
  };
}

function codecOf<T>(of: string, codec: unknown): Codec<T> {
  const it = codec as Codec<T> | null;
  if (
    typeof it?.name === "string" && typeof it.encode === "function" &&
    typeof it.decode === "function"
  ) return it;
  throw new TypeError(
    `The codec of a ${brief(of)} must be valueCodec, one of codec, or your ` +
      `own { name, encode, decode }: received ${describe(codec)}`,
  );
}

/** The task of that name; throws if there is none. */
export function specOf(specs: Map<string, Spec>, name: string): Spec {
  const spec = specs.get(name);
  if (spec !== undefined) return spec;
  throw new TypeError(
    `There is no task ${describe(name)}: there are ${
      brief([...specs.keys()].join(", "), 300)
    }`,
  );
}

/** The tasks as a pool knows them; throws if there is something else. */
export function specsOf(tasks: Tasks): Map<string, Spec> {
  if (typeof tasks !== "object" || tasks === null) {
    throw new TypeError(
      `Tasks must be an object of tasks by name: received ${describe(tasks)}`,
    );
  }
  const specs = new Map<string, Spec>();
  for (const [name, declared] of Object.entries(tasks)) {
    if (typeof declared !== "object" || declared === null) {
      throw new TypeError(
        `Task ${brief(name)} must be made by task(): received ${
          describe(declared)
        }`,
      );
    }
    const { idempotent = false, ...it } = declared;
    const request = codecOf(`request of task ${name}`, it.request);
    const given = codecOf(`reply of task ${name}`, it.reply);
    const reply = given === inPlace ? inPlaceResult : given;
    specs.set(name, {
      name,
      index: specs.size,
      request,
      reply,
      requestField: fieldOf(request),
      replyField: fieldOf(reply),
      idempotent,
    });
  }
  if (specs.size > 0 && specs.size < MOST_TASKS) return specs;
  throw new TypeError(
    `A pool has 1 to ${MOST_TASKS - 1} tasks: received ${specs.size}`,
  );
}

/** Throws unless a worker declares the tasks as the pool does. */
export function assertSame(
  specs: Map<string, Spec>,
  tasks: Readonly<Record<string, string>>,
): void {
  for (const [name, signature] of Object.entries(tasks)) {
    const spec = specs.get(name);
    if (spec === undefined) continue; // for another pool
    const expected = signatureOf(spec);
    if (signature === expected) continue;
    throw new TypeError(
      `Task ${describe(name)} is declared as ${brief(expected)} by the pool, ` +
        `and as ${brief(signature)} by its worker`,
    );
  }
}
