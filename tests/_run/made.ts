/**
 * How a primitive is made in memory, and how others attach to it.
 *
 * @module
 */
import type { Handle, Memory, Region } from "../../mod.ts";

/** A class whose views need nothing but a place. */
interface Class<View, Args extends readonly unknown[]> {
  new (memory: Memory, byteOffset?: number | bigint): View;
  init(memory: Memory, byteOffset: number | bigint, ...args: Args): unknown;
  byteLength(...args: never[]): number;
  from(handle: Handle<never>): unknown;
}

/** One that is made with `args`, in which `fill` puts something. */
export const made = <
  View extends Region,
  const Args extends readonly unknown[],
>(
  Class: Class<View, Args>,
  args: Args,
  fill: (view: NoInfer<View>) => unknown = () => {},
) => ({
  byteLength: Class.byteLength(...args as unknown as never[]),
  init: (memory: Memory, at: number | bigint): View => {
    const view = Class.init(memory, at, ...args) as View;
    fill(view);
    return view;
  },
  attach: (memory: Memory, at?: number | bigint): View => new Class(memory, at),
  from: (handle: Handle): View => Class.from(handle as Handle<never>) as View,
});
