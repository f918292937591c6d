/**
 * Ports of agents, and what tests of messages say of results.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { RaceError, type Result } from "../../race/mod.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A memory as words. */
export const words = (memory: SharedArrayBuffer) => new Int32Array(memory);

/** The channel of the program that is explored. */
export let channel: MessageChannel;

/** Memory, and another channel. */
export const memory = () => {
  channel = new MessageChannel();
  return new SharedArrayBuffer(16);
};

/** The data of the next message. */
export const next = (port: MessagePort): Promise<Any> =>
  new Promise((resolve) => {
    port.onmessage = ({ data }) => {
      port.onmessage = null;
      resolve(data);
    };
  });

/** The first message of a listener, without `start()`. */
export const heard = (port: MessagePort): Promise<Any> =>
  new Promise((resolve) => {
    port.addEventListener("message", ({ data }) => resolve(data));
  });

/** Resolves after that many milliseconds. */
export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** The failure that `run` finds. */
export async function failureOf(run: () => unknown): Promise<RaceError> {
  try {
    await run();
  } catch (error) {
    assert.instance(error, RaceError, String(error));
    return error as RaceError;
  }
  throw new Error("It did not fail");
}

/** Explores agents that must be right in every interleaving. */
export async function holds(run: () => unknown): Promise<Result> {
  const result = await run() as Result;
  assert.ok(result.complete, result.summary);
  return result;
}
