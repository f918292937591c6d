import { race } from "../../race/mod.ts";
import type { CallRing, PendingCall } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  itsOwn,
  named,
  type Scenario,
  TRIES_AGAIN,
  type Weft,
} from "../_run/scenario.ts";
import { signalled } from "../_run/signal.ts";

const { length, pauses, serve_epoch, serve_waiters, slot_waiters, dead } =
  LAYOUT.call_ring;
/** A call that was answered, in its state. */
const REPLIED = 5 << 28;
/** The agent in the entry of a death. */
const ID = 2 ** 28 - 1;
/** Words of a slot whose requests and replies are a byte. */
const STRIDE = 32;
/** The states of two slots: read plainly before an exchange checks them. */
const HINTS = [pauses, length, length + STRIDE].map((word) =>
  [word * 4, word * 4 + 4] as const
);

const WORDS = {
  ...named(LAYOUT.call_ring),
  ...named({ state: 0, caller: 1, bytes: 2 }, length * 4),
};

interface Model {
  /** Agents and what they asked; each has one call at a time. */
  readonly posted: readonly (readonly [id: number, v: number])[];
  readonly answered: readonly (readonly [id: number, v: number])[];
  readonly closed: boolean;
}

/** An agent's view, and its pending call. */
interface Handle {
  readonly ring: CallRing;
  /** The view of an agent that has died by the end. */
  readonly dead: CallRing;
  pending: PendingCall | undefined;
}

/** An agent that has died. */
const DEAD = 99;

/** The reply to `v`. */
const answerTo = (v: number): number => v + 100;

/** Runs an operation; if it throws, returns what is wrong with the ring. */
function orWhy<T>(weft: Weft, operation: () => T): T | string {
  const { CallError, ClosedError } = weft.mod;
  try {
    return operation();
  } catch (error) {
    if (error instanceof ClosedError) return "closed";
    if (error instanceof CallError && error.abandoned) return "lost";
    throw error;
  }
}

/**
 * A ring whose slots are free, and whose waiters are gone, at the end. A call
 * of a dead agent may be `posted` at the start.
 */
function ring(weft: Weft, slots: number, posted = false) {
  const { CallRing } = weft.mod;
  return {
    memory: () => {
      const { buffer } = CallRing.create({ slots, request: 1, reply: 1 });
      const words = new Int32Array(buffer);
      words[LAYOUT.call_ring.serve_epoch] = -1; // the next wake wraps
      words[LAYOUT.call_ring.slot_epoch] = -1;
      words[LAYOUT.call_ring.deaths] = -1;
      weft.mod.setAgentId(DEAD);
      if (posted) new CallRing(buffer).tryPost(Uint8Array.of(9));
      return buffer;
    },
    agent: (memory: SharedArrayBuffer, id: number): Handle => {
      enter(weft, id);
      weft.mod.setAgentId(DEAD);
      const dead = new CallRing(memory);
      enter(weft, id);
      return { ring: new CallRing(memory), dead, pending: undefined };
    },
    words: WORDS,
    hints: HINTS,
    final: (memory: SharedArrayBuffer) => {
      const words = new Int32Array(memory);
      for (const index of [serve_waiters, slot_waiters]) {
        if (words[index] !== 0) return `word ${index} is ${words[index]}`;
      }
      for (let slot = 0; slot < slots; slot++) {
        const state = words[length + slot * STRIDE]!;
        if (state !== 0) return `slot ${slot} is ${state >>> 28}`;
      }
    },
  };
}

/** Each side alone, with a model. */
function sides(weft: Weft, slots: number) {
  const without = (list: Model["posted"], id: number) =>
    list.filter(([other]) => other !== id);
  const served = (s: Model): [Model, unknown][] =>
    s.posted.map((call) => [{
      ...s,
      posted: s.posted.filter((other) => other !== call),
      answered: [...s.answered, call],
    }, call[1]]);
  return race.spec({
    ...ring(weft, slots),
    stateless: false,
    init: { posted: [], answered: [], closed: false } as Model,
    ops: {
      tryPost: {
        run: (h, v: number) =>
          orWhy(weft, () => {
            h.pending = h.ring.tryPost(Uint8Array.of(v));
            return h.pending !== undefined;
          }),
        model: (s: Model, v: number, id: number) =>
          s.closed
            ? [s, "closed"]
            : s.posted.length + s.answered.length < slots
            ? race.either(
              [{ ...s, posted: [...s.posted, [id, v]] }, true],
              race.contended([s, false]), // a server gives a slot back
            )
            : [s, false],
        lockFree: true,
      },
      receive: {
        run: (h) => h.pending!.receive()![0],
        model: (s: Model, _: undefined, id: number) => {
          const mine = s.answered.find(([other]) => other === id);
          return mine === undefined ? null : [
            { ...s, answered: without(s.answered, id) },
            answerTo(mine[1]),
          ];
        },
      },
      tryReceive: {
        run: (h) => h.pending!.tryReceive()?.[0],
        model: (s: Model, _: undefined, id: number) => {
          const mine = s.answered.find(([other]) => other === id);
          return mine === undefined ? [s, undefined] : [
            { ...s, answered: without(s.answered, id) },
            answerTo(mine[1]),
          ];
        },
        lockFree: true,
      },
      cancel: {
        run: (h) => h.pending!.cancel(),
        model: (s: Model, _: undefined, id: number) => [{
          ...s,
          posted: without(s.posted, id),
          answered: without(s.answered, id),
        }, undefined],
        lockFree: true,
      },
      serve: {
        run: (h) => {
          const taken = orWhy(weft, () => h.ring.take()!);
          if (typeof taken === "string") return taken;
          const v = taken.request[0]!;
          taken.reply(Uint8Array.of(answerTo(v)));
          return v;
        },
        model: (s: Model) =>
          s.posted.length > 0
            ? race.either(...served(s))
            : s.closed
            ? [s, "closed"]
            : null,
      },
      tryServe: {
        run: (h) => {
          const taken = orWhy(weft, () => h.ring.tryTake());
          if (typeof taken !== "object") return taken;
          const v = taken.request[0]!;
          taken.reply(Uint8Array.of(answerTo(v)));
          return v;
        },
        model: (s: Model) => {
          const none = s.closed ? "closed" : undefined;
          return s.posted.length > 0
            ? race.either(...served(s), race.contended([s, none]))
            : [s, none];
        },
        lockFree: true,
      },
      close: {
        run: (h) => h.ring.close(),
        model: (s: Model) => [{ ...s, closed: true }, undefined],
        lockFree: true,
      },
    },
  });
}

/** Whole calls, and servers of any number of calls: nobody waits for ever. */
function whole(weft: Weft, slots: number, posted = false) {
  /** Returns whether the reply was correct, or how the call ended otherwise. */
  const call = (h: Handle, v: number, timeout?: number) =>
    orWhy(weft, () => {
      const request = Uint8Array.of(v);
      const reply = timeout === undefined
        ? h.ring.call(request)
        : h.ring.tryCall(request, timeout);
      if (reply === undefined) return "late";
      if (reply.length === 1 && reply[0] === answerTo(v)) return "right";
      throw new Error(`another's reply: ${reply}`);
    });
  const answer = ([v]: Uint8Array, space: Uint8Array) => {
    space[0] = answerTo(v!);
    return 1;
  };
  /**
   * The call may end in this way in any state; nobody may sleep for ever then.
   */
  const ends = (...answers: unknown[]) => (s: number) =>
    race.either(...answers.map((answer): [number, unknown] => [s, answer]));
  const called = ends("right", "late", "closed", "lost");
  const done = ends(true, false, "closed");
  return {
    ...ring(weft, slots, posted),
    stateless: slots === 1, // a view knows where it looks first
    init: 0,
    ops: {
      call: { run: (h: Handle, v: number) => call(h, v), model: called },
      callFor: { run: (h: Handle, v: number) => call(h, v, 5), model: called },
      /** Waits for a slot, and gives it up. */
      post: {
        run: (h: Handle, v: number) =>
          orWhy(weft, () => void h.ring.post(Uint8Array.of(v))!.cancel()),
        model: ends(undefined, "closed"),
      },
      /** Calls and serves by itself. */
      both: {
        run: (h: Handle, v: number) => {
          const pending = h.ring.tryPost(Uint8Array.of(v));
          h.ring.tryServeOne(answer);
          const reply = pending?.tryReceive();
          if (reply !== undefined) return reply[0] === answerTo(v);
          pending?.cancel(); // the other one serves it
          return "full";
        },
        model: ends("full", true),
      },
      /** The same, with the reply in an array of its own. */
      bothInto: {
        run: (h: Handle, v: number) => {
          const pending = h.ring.tryPost(Uint8Array.of(v));
          h.ring.tryServeOne(answer);
          const reply = new Uint8Array(1);
          if (pending?.tryReceiveInto(reply) !== undefined) {
            return reply[0] === answerTo(v);
          }
          pending?.cancel();
          return "full";
        },
        model: ends("full", true),
      },
      postAndEnd: {
        run: (h: Handle, v: number) => {
          h.ring.tryPost(Uint8Array.of(v));
          h.ring.close();
        },
        model: ends(undefined),
      },
      takeAndDie: {
        run: (h: Handle) => void h.dead.take(),
        model: ends(undefined),
      },
      /** Answers, and is terminated before it wakes the caller. */
      answerAndDie: {
        run: (h: Handle) => {
          const words = new Int32Array(h.dead.buffer);
          const taken = h.dead.take()!;
          words[length + 3] = answer(taken.request, taken.space);
          Atomics.exchange(words, length, REPLIED | words[length + 1]!);
        },
        model: ends(undefined),
      },
      abandon: {
        run: (h: Handle, id: number) => h.ring.abandon(id),
        model: ends(0, 1),
      },
      /** Waits as a server that keeps objects, until an agent was abandoned. */
      hear: {
        run: (h: Handle, id: number) => {
          const words = new Int32Array(h.ring.buffer);
          const isKnown = () =>
            [15, 0].some((i) =>
              // the number of entries wraps
              (Atomics.load(words, dead + i) & ID) === id
            );
          Atomics.add(words, serve_waiters, 1);
          for (;;) {
            const epoch = Atomics.load(words, serve_epoch);
            if (isKnown()) break;
            Atomics.wait(words, serve_epoch, epoch);
          }
          Atomics.sub(words, serve_waiters, 1);
        },
        model: ends(undefined),
      },
      serveOne: {
        run: (h: Handle) =>
          orWhy(weft, () => {
            const taken = h.ring.take()!;
            return taken.reply(answer(taken.request, taken.space));
          }),
        model: done,
      },
      tryServeOne: {
        run: (h: Handle) => orWhy(weft, () => h.ring.tryServeOne(answer)),
        model: done,
      },
      serve: {
        run: (h: Handle) => h.ring.serve(answer),
        model: ends(0, 1, 2),
      },
      close: { run: (h: Handle) => h.ring.close(), model: ends(undefined) },
    },
  };
}

/** The same, but one agent may be terminated anywhere, and others clear up. */
function dying(weft: Weft, slots: number) {
  const { final: _, ...definition } = whole(weft, slots);
  return race.spec({
    ...definition,
    recover: (h: Handle, dead: number) => h.ring.abandon(dead + 1),
    final: (memory: SharedArrayBuffer) => {
      const { pending } = new weft.mod.CallRing(memory);
      if (pending !== 0) return `${pending} slots are lost`;
    },
  });
}

/** A caller was woken in vain, so the others give way. */
function hungry(weft: Weft) {
  const { memory, ...definition } = whole(weft, 1);
  return race.spec({
    ...definition,
    memory: () => {
      const buffer = memory();
      new Int32Array(buffer)[pauses] = 1;
      return buffer;
    },
    stateless: false, // a view knows when it gave way
    final: (buffer: SharedArrayBuffer) => {
      const wrong = definition.final(buffer);
      const left = new Int32Array(buffer)[pauses]!;
      const most = 32;
      return wrong ??
        (left < 0 || left > most ? `${left} pauses are due` : undefined);
    },
  });
}

/** Calls that were posted before the end are served, whoever waits for them. */
function drained(weft: Weft) {
  return race.spec({
    ...whole(weft, 1),
    final: (memory: SharedArrayBuffer) => {
      const phase = new Int32Array(memory)[length]! >>> 28 & 7;
      if (phase !== 5) return `the call is ${phase}, and not answered`;
    },
  });
}

/** A word that no ring uses: the call was aborted. */
const ABORTED = 8;

/**
 * A call that is aborted while another agent serves, after it freed the slot.
 */
function aborting(weft: Weft) {
  const answer = ([v]: Uint8Array) => Uint8Array.of(answerTo(v!));
  return race.spec({
    ...ring(weft, 1, true),
    async: true,
    ...itsOwn(weft, ({ mod }, memory): Handle => {
      const ring = new mod.CallRing(memory);
      return { ring, dead: ring, pending: undefined };
    }),
    ops: {
      abort: {
        run: async ({ ring }: Handle, v: number) => {
          const { signal, options } = signalled();
          const call = ring.callAsync(Uint8Array.of(v), options)
            .then(() => {}, () => {});
          Atomics.store(new Int32Array(ring.buffer), ABORTED, 1);
          signal.abort();
          await call;
        },
      },
      /** Nobody may post a call once it is aborted. */
      serveAborted: {
        run: ({ ring }: Handle) => {
          const words = new Int32Array(ring.buffer);
          const isLate = Atomics.load(words, ABORTED) === 1;
          ring.abandon(DEAD);
          const served = ring.tryServeOne(answer);
          if (isLate && served) throw new Error("an aborted call was posted");
        },
      },
    },
  });
}

/** Every interleaving of calls. */
/** Why C takes other steps in some scenarios. */
const DIFFERS = "where servers look first is a word of the ring in C, and in " +
  "TypeScript each view's own";

export const scenarios = (weft: Weft): Scenario[] => {
  const one = race.spec(whole(weft, 1));
  const full = race.spec(whole(weft, 1, true));
  const two = race.spec(whole(weft, 2));
  // Only a wake ends this sleep.
  const asleep = { timeouts: 0 };
  const sampled = { timeouts: 0, states: 60_000 };
  return [
    {
      name: "a call and its server",
      spec: one,
      agents: [[["call", 1]], [["serveOne"]]],
      options: asleep,
    },
    {
      name: "a post and its server",
      spec: sides(weft, 1),
      agents: [[["tryPost", 1], ["receive"]], [["serve"]]],
      options: asleep,
    },
    {
      name: "a post, the end, and its server",
      spec: drained(weft),
      agents: [[["postAndEnd", 1]], [["serveOne"]]],
      options: asleep,
    },
    {
      name: "a call that is given up",
      differs: DIFFERS,
      spec: sides(weft, 1),
      agents: [[["tryPost", 1], ["cancel"]], [["tryServe"], ["tryServe"]]],
    },
    {
      name: "a call that is late, and the next one",
      spec: one,
      agents: [
        [["callFor", 1], ["callFor", 2]],
        [["tryServeOne"], ["tryServeOne"]],
      ],
      options: { timeouts: 1, rescue: true },
    },
    {
      name: "two want one slot",
      spec: one,
      agents: [[["post", 1]], [["post", 2]]],
      options: asleep,
    },
    {
      name: "two that give way want one slot",
      spec: hungry(weft),
      agents: [[["post", 1]], [["post", 2]]],
      options: { timeouts: 1, rescue: true }, // only time ends a pause
    },
    {
      name: "two serve themselves in one slot",
      spec: one,
      agents: [[["both", 1]], [["both", 2]]],
      options: asleep,
    },
    {
      name: "two serve themselves in one slot, into arrays",
      spec: one,
      agents: [[["bothInto", 1]], [["bothInto", 2]]],
      options: asleep,
    },
    {
      name: "one serves itself, another wants its slot",
      spec: one,
      agents: [[["both", 1]], [["post", 2]]],
      options: asleep,
    },
    {
      name: "one sleeps for a slot until the end",
      differs: TRIES_AGAIN,
      spec: full,
      agents: [[["post", 1], ["abandon", DEAD]], [["close"]]],
      options: asleep,
    },
    {
      name: "a server sleeps until the end",
      differs: DIFFERS,
      spec: one,
      agents: [[["serve"]], [["close"]]],
      options: asleep,
    },
    {
      name: "a call and the end",
      differs: DIFFERS,
      spec: one,
      agents: [[["call", 1]], [["close"], ["serve"]]],
      options: asleep,
    },
    {
      name: "a caller is abandoned, by two, while it is served",
      spec: full,
      agents: [[["tryServeOne"]], [["abandon", DEAD]], [["abandon", DEAD]]],
      options: asleep,
    },
    {
      name: "a caller is abandoned while another wants its slot",
      spec: full,
      agents: [[["tryServeOne"]], [["abandon", DEAD]], [["post", 1]]],
      options: sampled,
      sampled: true,
    },
    {
      name: "a call is aborted while it waits for a slot",
      spec: aborting(weft),
      agents: [[["abort", 1]], [["serveAborted"]]],
      options: { timeouts: 0, states: 4000, runs: 20 },
      sampled: true,
      awaits: [0],
      notInC: "no call of C can be aborted",
    },
    {
      name: "a server hears of an agent that is abandoned beside another",
      spec: one,
      agents: [[["hear", DEAD]], [["abandon", DEAD]], [["abandon", DEAD + 1]]],
      options: asleep,
    },
    {
      name: "a server is abandoned",
      spec: one,
      agents: [[["call", 1]], [["takeAndDie"], ["abandon", DEAD]]],
      options: asleep,
    },
    {
      name: "a server that answered and woke nobody is abandoned",
      spec: one,
      agents: [[["call", 1]], [["answerAndDie"], ["abandon", DEAD]]],
      options: asleep,
    },
    {
      name: "one side terminated at any step",
      spec: dying(weft, 1),
      agents: [[["callFor", 1]], [["tryServeOne"]]],
      options: { kill: true, timeouts: 1, rescue: true },
    },
    {
      name: "a server terminated at any step, and another one",
      spec: dying(weft, 1),
      agents: [[["callFor", 1]], [["tryServeOne"]], [["tryServeOne"]]],
      options: { kill: true, timeouts: 1, rescue: true, states: 60_000 },
      sampled: true,
    },
    {
      name: "two callers want one slot, and its server",
      spec: one,
      agents: [[["call", 1]], [["call", 2]], [["serveOne"], ["serveOne"]]],
      options: sampled,
      sampled: true,
    },
    {
      name: "two callers, two servers",
      spec: two,
      agents: [[["call", 1]], [["call", 2]], [["serveOne"]], [["serveOne"]]],
      options: sampled,
      sampled: true,
    },
    {
      name: "two callers, and answers in any order",
      spec: sides(weft, 2),
      agents: [
        [["tryPost", 1], ["tryReceive"], ["cancel"]],
        [["tryPost", 2], ["receive"]],
        [["serve"], ["tryServe"]],
      ],
      options: sampled,
      sampled: true,
    },
  ];
};
