/**
 * What several tests of calls use.
 *
 * @module
 */
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  CallRing,
  type CallRingConfig,
  type Codec,
  codec,
  serve,
} from "../../mod.ts";
import { codePoint } from "../_run/points.ts";

/** Serves `served` while `run` calls it, in this agent. */
export async function between<T extends object>(
  served: T,
  run: (ring: CallRing) => Promise<void>,
  {
    codec,
    limit,
    ...config
  }: Partial<CallRingConfig> & {
    codec?: Codec<unknown> | undefined;
    limit?: number;
  } = {},
): Promise<number> {
  const ring = CallRing.create({ request: 64, reply: 64, ...config });
  const options = { codec, ...limit === undefined ? {} : { limit } };
  const serving = serve(ring, served, options);
  try {
    await run(ring);
  } finally {
    ring.close();
  }
  const count = await serving;
  assert.is(ring.pending, 0);
  return count;
}

/** What a promise is rejected with. */
export const rejection = (promise: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(promise).then((value) => {
    throw new Error(`resolved with ${value}`);
  }, (reason) => reason);

/** What a call throws: an error of this class, which says this. */
export function refuses(run: () => unknown, Class: typeof Error, what: string) {
  assert.throws(
    run,
    (error: Error) => error instanceof Class && error.message.includes(what),
  );
}

export const echo = { echo: (...args: unknown[]): unknown => args };

/** What JSON carries, with strings of any length. */
const jsonValue = fc.jsonValue({ maxDepth: 3, stringUnit: codePoint });

/** What is sent without a codec. */
export const anything = fc.anything({
  withBigInt: true,
  withSet: true,
  maxDepth: 3,
});

/** The codecs of both sides, and the values that they carry. */
export const CODECS: [
  string,
  Codec<unknown> | undefined,
  fc.Arbitrary<unknown>,
][] = [
  ["codec.json", codec.json as Codec<unknown>, jsonValue],
  ["no codec", undefined, anything],
];

export interface Thrown extends Error {
  code?: string | number;
}

export const thrown = fc.record({
  Class: fc.constantFrom(Error, TypeError, RangeError, SyntaxError),
  name: fc.option(fc.string()),
  message: fc.string({ maxLength: 200, unit: codePoint }),
  code: fc.option(fc.oneof(fc.string(), fc.integer())),
  cause: fc.option(jsonValue, { nil: undefined }),
});

/** A message of `connect`: its head, and then a text or bytes. */
export function message(head: number[], rest: string | Uint8Array): Uint8Array {
  const bytes = typeof rest === "string"
    ? new TextEncoder().encode(rest)
    : rest;
  return Uint8Array.of(...head, ...bytes);
}

/**
 * Runs `run` where nothing that stands for others is collected, except by the
 * functions in the list, one for each.
 */
export async function collecting(
  run: (collect: readonly (() => void)[]) => Promise<void>,
): Promise<void> {
  const { prototype } = FinalizationRegistry;
  const { register } = prototype;
  const collect: (() => void)[] = [];
  prototype.register = (_, due) => collect.push(due as () => void);
  try {
    await run(collect);
  } finally {
    prototype.register = register;
  }
}
