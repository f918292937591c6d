/**
 * What memory had to hold for an agent to go on in a loop, or to leave it.
 *
 * @module
 */
import type { Check, Guard } from "./snapshot.ts";
import * as k from "../../kinds.ts";
import { native } from "../../platform/native.ts";
import type { Target } from "../../platform/views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Whether memory gives the answers that the guard asks for. */
export function holds({ checks, same }: Guard, now: number): boolean {
  let all = true;
  for (let i = 0; all && i < checks.length; i++) {
    all = isAnswer(checks[i]!, now);
  }
  return all === same;
}

/**
 * Whether the guard asks that its operation number `count` gives its answer.
 */
export function isSupposed(guard: Guard | undefined, count: number): boolean {
  return guard !== undefined && (guard.same || count < guard.checks.length);
}

/** Whether the operation now gives its answer, and changes nothing. */
export function isAnswer(
  { kind, target, index, a, b, result }: Check,
  now: number,
): boolean {
  const answer = effectless(kind, target, index, a, b, now);
  return answer !== undefined && answer === result;
}

/** Whether two lists ask for the same. */
export function sameGuards(
  a: readonly Guard[],
  b: readonly Guard[],
): boolean {
  return a.length === b.length && a.every(({ checks, same }, i) => {
    const other = b[i]!;
    return same === other.same && checks.length === other.checks.length &&
      checks.every((check, j) => isSameCheck(check, other.checks[j]!));
  });
}

/** Whether two operations are the same and have the same answer. */
function isSameCheck(a: Check, b: Check): boolean {
  return a.kind === b.kind && a.index === b.index && Object.is(a.a, b.a) &&
    Object.is(a.b, b.b) &&
    Object.is(a.result, b.result) && a.target?.base === b.target?.base &&
    a.target?.size === b.target?.size && a.target?.name === b.target?.name;
}

/** The answer of an operation that changes nothing; `undefined` for others. */
export function effectless(
  kind: number,
  target: Target | null,
  index: number,
  a: Any,
  b: Any,
  now: number,
): Any {
  if (kind === k.CLOCK) return now;
  if (target === null) return undefined;
  const { view, big } = target;
  // What an element holds of a value: -1 is the greatest one of a Uint32Array.
  const wrap = target.wrap ?? ((value: Any) => value);
  const value = kind === k.READ ? view[index] : native.load(view, index);
  switch (kind) {
    case k.LOAD:
    case k.READ:
      return value;
    case k.CAS:
      return value === a && value !== b ? undefined : value;
    case k.WAIT:
      return value === a ? undefined : "not-equal";
    case k.STORE:
      if (value !== wrap(a)) return undefined;
      return big ? a : Math.trunc(a) || 0;
    case k.EXCHANGE:
      return value === wrap(a) ? value : undefined;
    case k.ADD:
    case k.SUB:
    case k.XOR:
      return Number(wrap(a)) === 0 ? value : undefined;
    case k.OR:
      return wrap(value | a) === value ? value : undefined;
    case k.AND:
      return wrap(value & a) === value ? value : undefined;
    default:
      return undefined;
  }
}
