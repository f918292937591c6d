/**
 * The messages that threads of C and of TypeScript send each other: numbers
 * with a fraction that tells their sender, and letters with a mark as often.
 *
 * @module
 */

/** Message `i` of sender `number`. */
export function messageOf(
  isNumber: boolean,
  number: number,
  i: number,
): number | string {
  return isNumber ? i + number / 4 : "ü".repeat(i % 20) + number;
}

/** Whether it is one of these messages. */
export function isSent(message: unknown): boolean {
  if (typeof message === "string") return /^ü*\d?$/.test(message);
  return typeof message === "number" && message >= 0 && message * 4 % 1 === 0;
}
