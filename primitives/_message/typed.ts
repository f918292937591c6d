/**
 * The part of typed queues that every queue contains. The rest is in `struct`,
 * so that a bundle without structs does not contain it.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import type { StructType } from "./field.ts";

/** The configuration of a queue of records. */
interface TypedQueueConfig<F> {
  /**
   * How many elements fit: 1 to 2^28, rounded up to a power of 2. Together they
   * have at most 2^30 bytes.
   */
  readonly capacity: number;
  /** The struct type of the elements. */
  readonly element: StructType<F>;
}

/** Whether a configuration names a struct type for its elements. */
export function isTyped(
  config: unknown,
): config is TypedQueueConfig<unknown> {
  return (config as TypedQueueConfig<unknown>)?.element !== undefined;
}

/**
 * The struct type that a configuration names. Throws a TypeError if it is not a
 * struct type.
 */
export function elementOf(
  config: { readonly element: StructType },
): StructType {
  if (typeof config?.element?.typed === "function") return config.element;
  throw new TypeError(
    `A queue's element must be a type that struct() made: received ${
      describe(config?.element)
    }`,
  );
}

/**
 * The configuration of the queue of bytes under a typed queue; other
 * configurations are returned unchanged.
 */
export function untyped(
  config: {
    readonly capacity: number;
    readonly elementSize?: number | undefined;
  },
): { capacity: number; elementSize: number } {
  if (!isTyped(config)) return config as ReturnType<typeof untyped>;
  const { element: _, ...rest } = config;
  const { elementSize } = rest as { elementSize?: number };
  if (elementSize !== undefined) {
    throw new TypeError("A queue takes element or elementSize, not both");
  }
  const { size } = elementOf(config);
  return { ...rest, elementSize: Math.ceil(size / 4) * 4 };
}

/**
 * The queue that `create` makes of the configuration of a queue of bytes; typed
 * if `config` names a struct type.
 */
export function made<Config extends { readonly capacity: number }>(
  config: Config,
  create: (config: Config) => object,
): unknown {
  if (!isTyped(config)) return create(config);
  const queue = create(untyped(config) as unknown as Config);
  return config.element.typed(queue, true);
}
