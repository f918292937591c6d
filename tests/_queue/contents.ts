/**
 * What is in a queue, as the models of its race scenarios know it, and what
 * operations make of it.
 *
 * @module
 */
import type { Queue, SpscQueue } from "../../mod.ts";
import { race } from "../../race/mod.ts";
import { CLOSED, orClosed, type Weft } from "../_run/scenario.ts";

/** What is in a queue. */
export interface Contents {
  readonly items: readonly number[];
  readonly closed: boolean;
}

/** What is in the queue then, and what the operation returns. */
type Done = [Contents, unknown];

export const append = (s: Contents, ...items: number[]): Contents => ({
  ...s,
  items: [...s.items, ...items],
});

export const drop = (s: Contents, n: number): Contents => ({
  ...s,
  items: s.items.slice(n),
});

/** What operations make of a queue that holds `capacity` elements. */
export function modelsFor(capacity: number) {
  const room = (s: Contents): number => capacity - s.items.length;
  const tryPush = (s: Contents, v: number): Done =>
    s.closed ? [s, CLOSED] : room(s) > 0 ? [append(s, v), true] : [s, false];
  const tryPop = (s: Contents): Done =>
    s.items.length > 0
      ? [drop(s, 1), s.items[0]]
      : [s, s.closed ? CLOSED : undefined];
  return {
    room,
    tryPush,
    tryPop,
    push: (s: Contents, v: number): Done | null =>
      s.closed ? [s, CLOSED] : room(s) > 0 ? [append(s, v), undefined] : null,
    pop: (s: Contents): Done | null =>
      s.closed || s.items.length > 0 ? tryPop(s) : null,
    popFor: (s: Contents) => {
      const late = race.timedOut<Contents>([s, undefined]);
      if (s.items.length > 0) return race.either(tryPop(s), late);
      return s.closed ? tryPop(s) : late;
    },
  };
}

/** A queue of integers. */
type Integers = Pick<
  SpscQueue,
  "tryPushInt" | "tryPopInt" | "pushInt" | "popInt" | "close" | "size"
>;

/** What agents do to a queue, and what becomes of it as `models` say. */
export const operationsOf = (
  weft: Weft,
  models: ReturnType<typeof modelsFor>,
) => ({
  tryPush: {
    run: (q: Integers, v: number) => orClosed(weft, () => q.tryPushInt(v)),
    model: models.tryPush,
    lockFree: true,
  },
  tryPop: {
    run: (q: Integers) => orClosed(weft, () => q.tryPopInt()),
    model: models.tryPop,
    lockFree: true,
  },
  push: {
    run: (q: Integers, v: number) => orClosed(weft, () => q.pushInt(v)),
    model: models.push,
  },
  pop: {
    run: (q: Integers) => orClosed(weft, () => q.popInt()),
    model: models.pop,
  },
  popFor: {
    run: (q: Integers) => orClosed(weft, () => q.tryPopInt(5)),
    model: models.popFor,
  },
  size: {
    run: (q: Integers) => q.size,
    model: (s: Contents): Done => [s, s.items.length],
    lockFree: true,
  },
  close: {
    run: (q: Integers) => q.close(),
    model: (s: Contents): Done => [{ ...s, closed: true }, undefined],
  },
});

/** Pushes as `tryPushInt` does, but writes the element where it lies. */
export const pushInPlace = (
  weft: Weft,
  queue: Pick<Queue, "reserve" | "commit">,
  value: number,
) =>
  orClosed(weft, () => {
    const place = queue.reserve();
    if (place === undefined) return false;
    new Int32Array(place.buffer, place.byteOffset, 1)[0] = value;
    queue.commit();
    return true;
  });

/** Pops as `tryPopInt` does, but reads the element where it lies. */
export const popInPlace = (
  weft: Weft,
  queue: Pick<Queue, "peek" | "consume">,
) =>
  orClosed(weft, () => {
    const place = queue.peek();
    if (place === undefined) return undefined;
    const value = new Int32Array(place.buffer, place.byteOffset, 1)[0];
    queue.consume();
    return value;
  });
