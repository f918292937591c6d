/**
 * The types of objects that another agent serves.
 *
 * @module
 */

import type {
  CodecOfApi,
  IsData,
  IsIterated,
  IteratedOf,
  JsonCodec,
  StaysHere,
  There,
  ValueCodec,
} from "../_message/codec.ts";
import type { Codec } from "../_message/message.ts";
import type { Disposer } from "../_memory/dispose.ts";
import type { ErrorClass } from "../_message/own_errors.ts";

/** A MessagePort, of the web or of `node:worker_threads`. */
export interface CallPort {
  /** Sends a message. */
  postMessage(message: unknown, transfer: never[]): void;
  /** Begins to receive. */
  start(): void;
  /** Ends it. */
  close(): void;
}

/** How arguments and results become bytes: `valueCodec` unless given. */
export interface ApiCodec {
  /**
   * It carries the array of the arguments, and the result. Both sides must
   * give the same one.
   */
  readonly codec?: Codec<unknown> | JsonCodec | ValueCodec | undefined;
  /**
   * Classes of errors of yours. An error of one of them arrives as one, with
   * its fields that JSON carries; its constructor does not run. Both sides must
   * give them; their names tell them apart.
   */
  readonly errors?: readonly ErrorClass[] | undefined;
  /**
   * One end of a MessageChannel, of which the other side has the other end: by
   * it go shared memory, handles, and what `transfer` returns. Nothing else
   * uses it, and it may be closed once all calls have settled.
   */
  readonly port?: CallPort | undefined;
}

/** How to call an object whose methods have the types of `Api`. */
export interface ConnectOptions<Api = object> {
  /**
   * As for `serve`. It must carry the arguments and the results of all methods,
   * but for an AbortSignal.
   */
  readonly codec?: CodecOfApi<Api> | undefined;
  /** As for `serve`. */
  readonly errors?: readonly ErrorClass[] | undefined;
  /** As for `serve`. */
  readonly port?: CallPort | undefined;
  /**
   * Milliseconds that a call may take, `Infinity` unless given. Then it fails
   * with a DOMException named `TimeoutError`, and the handler's signal aborts.
   */
  readonly timeout?: number | undefined;
  /** Whether a pending call keeps the process alive; `true` unless given. */
  readonly ref?: boolean | undefined;
}

/** Whether a property is read as a value: by the codec, or by a port. */
export type IsRead<T> = [T] extends [
  SharedArrayBuffer | {
    readonly kind: string;
    readonly buffer: SharedArrayBuffer;
  },
] ? true
  : IsData<T>;

/**
 * An argument, as callers give it. A function may return a promise, also where
 * the method expects none.
 */
export type RemoteArgument<T> = unknown extends T ? T
  : T extends (...args: infer Args) => infer Result
    ? (...args: Args) => Awaited<Result> | PromiseLike<Awaited<Result>>
  : T extends AsyncIterable<infer Value>
    ? AsyncIterable<Value> | IterableIterator<Value>
  : T extends IterableIterator<infer Value>
    ? AsyncIterable<Value> | IterableIterator<Value>
  : T;

/** The same of an agent that blocks: its functions return no promises. */
export type BlockingArgument<T> = unknown extends T ? T
  : T extends (...args: infer Args) => infer Result
    ? (...args: Args) => Awaited<Result>
  : T extends AsyncIterable<infer Value> ? IterableIterator<Value>
  : T extends IterableIterator<infer Value> ? IterableIterator<Value>
  : T;

/** Whether no argument is a function or an iterator. */
export type AreCopied<Args extends unknown[]> = true extends
  { [At in keyof Args]: StaysHere<Args[At]> }[number] ? false : true;

/** The arguments, as callers give them. */
export type RemoteArguments<Args extends unknown[]> = {
  [At in keyof Args]: RemoteArgument<Args[At]>;
};

/** The same of an agent that blocks. */
export type BlockingArguments<Args extends unknown[]> = {
  [At in keyof Args]: BlockingArgument<Args[At]>;
};

/**
 * The iterator that a method returns, as others see it. It can be iterated at
 * once, or awaited first.
 */
export type RemoteIterable<T> =
  & Promise<AsyncIterableIterator<T>>
  & AsyncIterable<T>;

/** A method, as others see it: it returns a promise. */
export type RemoteMethod<Method> = Method extends
  (...args: infer Args) => infer Result
  ? IsIterated<Awaited<Result>> extends true ? (
      ...args: RemoteArguments<Args>
    ) => RemoteIterable<IteratedOf<Awaited<Result>>>
  : AreCopied<Args> extends false
    ? (...args: RemoteArguments<Args>) => Promise<Awaited<Result>>
    // The same type already, unless it returns `any`, or has a `this`.
  : [
    Result,
    Promise<Awaited<Result>>,
    unknown,
    0 extends 1 & Result ? 1 : 0,
  ] extends [Promise<Awaited<Result>>, Result, ThisParameterType<Method>, 0]
    ? Method
  : (...args: Args) => Promise<Awaited<Result>>
  : never;

/**
 * An object as others see it. Its methods return promises; `await` reads a
 * property; `new` makes an instance of a class there, and gives a promise of
 * it. An object of methods within it is one of these. What stands for a
 * function or a class is called, or makes instances, itself. A generic method
 * keeps its type parameters if it returns a promise; of another one, TypeScript
 * knows no type that returns a promise, and they become `unknown`.
 */
export type Remote<Api> =
  & RemoteItself<Api>
  & {
    readonly [Name in keyof Api as Name extends symbol ? never : Name]:
      There<Api[Name]> extends abstract new (...args: never) => unknown
        ? Remote<There<Api[Name]>>
        : There<Api[Name]> extends (...args: never[]) => unknown
          ? RemoteMethod<There<Api[Name]>>
        : IsRead<Api[Name]> extends true ? PromiseLike<Api[Name]>
        : Remote<There<Api[Name]>>;
  };

/**
 * A class or a function as others see it, without its properties. Instances of
 * the class stay where it is served.
 */
export type RemoteItself<Api> = 0 extends 1 & Api ? unknown
  : Api extends new (...args: infer Args) => infer Instance
    ? { new (...args: Args): Promise<RemoteObject<Instance>> }
  : Api extends (...args: never[]) => unknown ? RemoteMethod<Api>
  : unknown;

/** An instance that is served. The block of a `using` releases it. */
export type RemoteObject<Instance> = Remote<Instance> & Disposer;

/** A method, as others see it that block. */
export type BlockingMethod<Method> = Method extends
  (...args: infer Args) => infer Result
  ? IsIterated<Awaited<Result>> extends true ? (
      ...args: BlockingArguments<Args>
    ) => IterableIterator<IteratedOf<Awaited<Result>>>
  : AreCopied<Args> extends false
    ? (...args: BlockingArguments<Args>) => Awaited<Result>
  : [Result, Awaited<Result>, unknown] extends
    [Awaited<Result>, Result, ThisParameterType<Method>] ? Method
  : (...args: Args) => Awaited<Result>
  : never;

/**
 * An object as others see it: its methods block until the result is there. A
 * property is read by a call of it, without arguments. A generic method keeps
 * its type parameters if it returns no promise.
 */
export type BlockingRemote<Api> =
  & BlockingRemoteItself<Api>
  & {
    readonly [Name in keyof Api as Name extends symbol ? never : Name]:
      There<Api[Name]> extends abstract new (...args: never) => unknown
        ? BlockingRemote<There<Api[Name]>>
        : There<Api[Name]> extends (...args: never[]) => unknown
          ? BlockingMethod<There<Api[Name]>>
        : IsRead<Api[Name]> extends true ? () => Api[Name]
        : BlockingRemote<There<Api[Name]>>;
  };

/** As {@linkcode RemoteItself}, of an object whose methods block. */
export type BlockingRemoteItself<Api> = 0 extends 1 & Api ? unknown
  : Api extends new (...args: infer Args) => infer Instance
    ? { new (...args: Args): BlockingRemote<Instance> & Disposer }
  : Api extends (...args: never[]) => unknown ? BlockingMethod<Api>
  : unknown;
