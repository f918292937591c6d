/**
 * What agents do with a ring in scenarios, and what must hold.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { append, type Contents, modelsFor } from "../_queue/contents.ts";
import {
  enter,
  named,
  orClosed,
  orSaid,
  type Scenario,
  viewing,
  type Weft,
} from "../_run/scenario.ts";
import { closedScenarios } from "../_run/closed.ts";

const { tail, head, claimant, consumer } = LAYOUT.record_ring;
/**
 * Words that their owner reads plainly, or that are read plainly before an
 * exchange.
 */
const HINTS = [tail, head, claimant, consumer]
  .map((i) => [i * 4, i * 4 + 4] as const);

/** A record of 4 bytes, committed. */
const GHOST = 4 << 2 | 2;

/**
 * A ring of 64 bytes, of which a record here takes `size` + 8; the consumer is
 * agent 0. Record `v` consists of that byte, `size` times.
 */
export function ring(
  weft: Weft,
  single: boolean,
  start: number,
  size: number,
  more: { manyConsumers?: boolean; most?: number } = {},
) {
  const { mod } = weft;
  const { RecordRing } = mod;
  const valueOf = (record: Uint8Array | undefined) =>
    record?.every((byte) => byte === record[0]) === false
      ? "torn"
      : record?.[0];
  const { tryPop: popped, pop, push } = modelsFor(Infinity);
  return race.spec({
    memory: () => {
      const { buffer } = RecordRing.create({
        capacity: 64,
        singleProducer: single,
        ...more,
      });
      const words = new Int32Array(buffer);
      const { head_cache, tail_cache } = LAYOUT.record_ring;
      for (const i of [tail, head, head_cache, tail_cache]) words[i] = start;
      // The old content would read as records if it were not overwritten.
      words.fill(GHOST, LAYOUT.record_ring.length);
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      const ring = new RecordRing(memory);
      // A second view of the same agent, for records behind a reservation.
      return Object.assign(ring, { other: new RecordRing(memory) });
    },
    words: named(LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    init: { items: [], closed: false } as Contents,
    ops: {
      push: {
        run: (ring, v: number) =>
          orClosed(weft, () => ring.push(new Uint8Array(size).fill(v))),
        model: push,
      },
      pop: {
        run: (ring) => orClosed(weft, () => valueOf(ring.pop())),
        model: pop,
      },
      popInto: {
        run: (ring) =>
          orClosed(weft, () => {
            const record = new Uint8Array(size);
            ring.popInto(record);
            return valueOf(record);
          }),
        model: pop,
      },
      tryPop: {
        run: (ring) => orClosed(weft, () => valueOf(ring.tryPop())),
        model: (s: Contents) =>
          race.either(popped(s), race.contended([s, undefined])),
      },
      close: {
        run: (ring) => ring.close(),
        model: (s: Contents) => [{ ...s, closed: true }, undefined],
      },
      tryPush: {
        run: (ring, v: number) =>
          orClosed(weft, () => ring.tryPush(new Uint8Array(size).fill(v))),
        model: (s: Contents, v: number) =>
          s.closed ? [s, "closed"] : race.either(
            (s.items.length + 1) * (size + 8) <= 64
              ? [append(s, v), true]
              : null,
            s.items.length > 0 ? [s, false] : race.contended([s, false]),
          ),
      },
      inPlace: {
        run: (ring, v: number) => {
          ring.reserve(size)!.fill(v);
          ring.commit();
        },
        model: (s: Contents, v: number) => [append(s, v), undefined],
      },
      shorter: {
        run: (ring, v: number) => {
          ring.reserve(size + 16)!.fill(v, 0, size);
          ring.commit(size);
        },
        model: (s: Contents, v: number) => [append(s, v), undefined],
      },
      cancelled: {
        run: (ring) => {
          if (ring.reserve(size) !== undefined) ring.cancel();
        },
        model: (s: Contents) => [s, undefined],
      },
      giveUp: {
        run: (ring, v: number) => {
          ring.reserve(size)!.fill(99);
          ring.other.tryPush(new Uint8Array(size).fill(v));
          ring.cancel();
        },
        model: (s: Contents, v: number) => [append(s, v), undefined],
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      if (!single && words[claimant] !== 0) return "the claim was never ended";
      if (more.manyConsumers && words[consumer] !== 0) {
        return "the reading was never ended";
      }
      const { pushed, popped } = LAYOUT.record_ring;
      if (more.most === undefined) return;
      const left = new RecordRing(memory).size;
      const count = words[pushed]! - words[popped]!;
      if (count !== left) return `${left} records are counted as ${count}`;
    },
  });
}

/**
 * Two agents pop, or push, where one may. Each says which one has the role, or
 * what it did.
 */
export function roles(weft: Weft) {
  const { RecordRing } = weft.mod;
  const orRefused = <T>(operation: () => T) =>
    orSaid(operation, TypeError, "refused");
  return race.spec({
    memory: () => {
      const ring = RecordRing.create({ capacity: 64, singleProducer: true });
      const words = new Int32Array(ring.buffer);
      words[LAYOUT.record_ring.length] = 4 << 2 | 2;
      words[LAYOUT.record_ring.length + 4] = 4 << 2 | 2;
      words[tail] = 32;
      return ring.buffer;
    },
    ...viewing(weft, RecordRing, LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    ops: {
      pop: { run: (ring) => orRefused(() => ring.tryPop()?.length) },
      push: { run: (ring) => orRefused(() => ring.tryPush(new Uint8Array(4))) },
      leave: { run: (ring) => void ring.abandon(1) },
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      const flat = results.flat();
      const done = (what: unknown) => flat.filter((it) => it === what).length;
      const popped = done(4);
      if (words[head] !== popped * 16) {
        return `${popped} popped: ${words[head]}`;
      }
      const pushed = done(true);
      if (words[tail] !== 32 + pushed * 16) return `${pushed} pushed`;
      const two = results.filter((of) => of.includes(4) || of.includes(true));
      if (two.length > 1 && !flat.includes(undefined)) {
        return "two had the role";
      }
    },
  });
}

/** An agent that ended long ago. */
const DEAD = 9;

/**
 * At the start, a dead agent has a reservation and, if asked for, the claim; a
 * committed record lies behind it.
 */
export function left(weft: Weft, claimed: boolean) {
  const { RecordRing } = weft.mod;
  const data = LAYOUT.record_ring.length;
  return race.spec({
    memory: () => {
      const { buffer } = RecordRing.create({ capacity: 64 });
      const words = new Int32Array(buffer);
      words.fill(GHOST, data);
      words[data] = 4 << 2 | 1;
      words[data + 1] = DEAD;
      words[data + 6] = 7;
      words[tail] = 32;
      if (claimed) words[claimant] = DEAD;
      return buffer;
    },
    ...viewing(weft, RecordRing, LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    ops: {
      abandon: { run: (ring) => ring.abandon(DEAD) },
      pop: { run: (ring) => ring.pop()?.[0] },
      push: {
        run: (ring, v: number) => {
          ring.push(new Uint8Array(4).fill(v));
          return true;
        },
      },
      inPlace: {
        run: (ring, v: number) => {
          const place = ring.reserve(4);
          if (place === undefined) return;
          place.fill(v);
          ring.commit();
          return true;
        },
      },
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      if (words[claimant] !== 0) return "the claim was never ended";
      // Every committed record was popped, or is still there.
      let here = 0;
      for (let at = words[head]!; at < (words[tail]! & ~1);) {
        const first = words[data + at / 4]!;
        if ((first & 3) === 1 && words[data + at / 4 + 1] !== DEAD) {
          return "a reservation was never ended";
        }
        if ((first & 3) === 2) here++;
        at += ((first >>> 2) + 7 & ~7) + 8;
      }
      const flat = results.flat();
      const pushed = flat.filter((answer) => answer === true).length;
      const popped = flat.filter((answer) => answer === 7).length;
      if (here + popped !== 1 + pushed) {
        return `${pushed} pushed, ${popped} popped, ${here} left`;
      }
    },
  });
}

/** One record fills the ring: a committed one, or one that is skipped. */
export function full(weft: Weft, skipped: boolean) {
  const { mod } = weft;
  const { RecordRing } = mod;
  return race.spec({
    memory: () => {
      const { buffer } = RecordRing.create({ capacity: 64 });
      const words = new Int32Array(buffer);
      words[LAYOUT.record_ring.length] = 56 << 2 | (skipped ? 3 : 2);
      words[tail] = 64;
      return buffer;
    },
    ...viewing(weft, RecordRing, LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    ops: {
      push: {
        run: (ring) => orClosed(weft, () => ring.push(new Uint8Array(4))),
      },
      close: { run: (ring) => ring.close() },
      tryPop: { run: (ring) => ring.tryPop()?.length },
    },
  });
}

/** Records of 16, 16 and 32 bytes fill the ring, heads included. */
export function lengths(weft: Weft) {
  const { mod } = weft;
  const { RecordRing } = mod;
  return race.spec({
    memory: () => {
      const { buffer } = RecordRing.create({ capacity: 64 });
      const words = new Int32Array(buffer);
      const data = LAYOUT.record_ring.length;
      words[data] = words[data + 4] = 8 << 2 | 2;
      words[data + 8] = 24 << 2 | 2;
      words[tail] = 64;
      return buffer;
    },
    ...viewing(weft, RecordRing, LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    ops: {
      pushLong: {
        run: (ring) => orClosed(weft, () => ring.push(new Uint8Array(24))),
      },
      pushShort: {
        run: (ring) => orClosed(weft, () => ring.push(new Uint8Array(8))),
      },
      pop: { run: (ring) => ring.pop().length },
      close: { run: (ring) => ring.close() },
    },
  });
}

/**
 * Records of 16 and 48 bytes fill the ring, heads included. There is never room
 * for the long ones: they give up.
 */
export function crowded(weft: Weft) {
  const { RecordRing } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = RecordRing.create({ capacity: 64 });
      const words = new Int32Array(buffer);
      const data = LAYOUT.record_ring.length;
      words[data] = 8 << 2 | 2;
      words[data + 4] = 40 << 2 | 2;
      words[tail] = 64;
      return buffer;
    },
    ...viewing(weft, RecordRing, LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    ops: {
      pushLongFor: { run: (ring) => ring.tryPush(new Uint8Array(24), 5) },
      pushShort: { run: (ring) => ring.push(new Uint8Array(8)) },
      pop: { run: (ring) => ring.pop().length },
    },
  });
}

/** Reservations of agents that may be terminated anywhere; others clear up. */
export function dying(weft: Weft, many = false) {
  const { RecordRing } = weft.mod;
  return race.spec({
    memory: () => {
      const most = many ? { manyConsumers: true, most: 1 } : {};
      return RecordRing.create({ capacity: 64, ...most }).buffer;
    },
    ...viewing(weft, RecordRing, LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    ops: {
      inPlace: {
        run: (ring, v: number) => {
          const place = ring.reserve(1);
          if (place === undefined) return false;
          place[0] = v;
          ring.commit();
          return true;
        },
      },
      tryPop: { run: (ring) => ring.tryPop()?.[0] },
      pushFirst: { run: (ring) => ring.tryPush(Uint8Array.of(7)) },
      pop: { run: (ring) => ring.pop()[0] },
    },
    recover: (ring, dead) => ring.abandon(dead + 1),
    final: (memory) => {
      const ring = new RecordRing(memory);
      if (ring.claimant !== 0) return "the claim was never ended";
      if (many && new Int32Array(memory)[consumer] !== 0) {
        return "the reading was never ended";
      }
    },
  });
}

/**
 * Two producers wait for room, a consumer makes room for both, and one of the
 * three is terminated at any step: a producer, too, that a wake reached and
 * that did not run yet, or did not hand it on. The other producer gets its
 * room.
 */
export function woken(weft: Weft) {
  const { RecordRing } = weft.mod;
  const CONSUMER = 2;
  return race.spec({
    memory: () => {
      const ring = RecordRing.create({ capacity: 64 });
      for (let i = 0; i < 2; i++) ring.tryPush(new Uint8Array(24));
      return ring.buffer;
    },
    ...viewing(weft, RecordRing, LAYOUT.record_ring),
    hints: HINTS,
    stateless: false,
    ops: {
      push: { run: (ring) => ring.push(new Uint8Array(24)) },
      pop: { run: (ring) => ring.tryPop()?.length },
    },
    recover: (ring, dead) => {
      ring.abandon(dead + 1);
      if (dead !== CONSUMER) return;
      while (ring.used > 0 && ring.tryPop() !== undefined); // in its place
    },
  });
}

/** A ring with a record that is closed, drained and freed. */
export const closed = (weft: Weft): Scenario[] =>
  closedScenarios(weft, {
    memory: () => {
      const ring = weft.mod.RecordRing.create({ capacity: 64 });
      ring.tryPush(new Uint8Array(4));
      return ring.buffer;
    },
    view: ({ RecordRing }, memory) => new RecordRing(memory),
    row: LAYOUT.record_ring,
    hints: HINTS,
    pop: (ring) => ring.pop(),
    popAsync: (ring, signal) => ring.popAsync({ signal }),
  });
