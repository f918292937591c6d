/**
 * What a machine may lack.
 *
 * @module
 */

/**
 * Thrown where something is not on this machine. The test that it ends counts
 * as skipped, and so do all tests of a file or suite that cannot begin.
 */
export class Missing extends Error {
  override readonly name = "Missing";

  /** Says that `missing`, such as a program, is not here. */
  constructor(readonly missing: string, options?: ErrorOptions) {
    super(`no ${missing}`, options);
  }
}

/**
 * Why `error` skips what it ends; undefined if it is a failure. An error says
 * so by its `missing`, or its cause does: bundles and other parts of the
 * project have classes of their own.
 */
export function whySkipped(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { missing } = error as { missing?: unknown };
  if (typeof missing === "string") return `no ${missing}`;
  return whySkipped(error.cause);
}
