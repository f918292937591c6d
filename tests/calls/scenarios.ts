// Calls whose requests and replies are longer than a slot. The slots themselves
// are explored by the scenarios of CallRing; here they carry pieces, which the
// right server must take and give in order.
import type { CallRing } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { race } from "../../race/mod.ts";
import {
  itsOwn,
  type Modules,
  type Scenario,
  type Weft,
} from "../_run/scenario.ts";
import { besideScenarios } from "./beside.ts";

/** A request of `ARGS` bytes has two pieces, and a reply of `RESULT`, too. */
const CONFIG = { request: 40, reply: 4 };
const ARGS = 33;
const RESULT = 5;

const { length } = LAYOUT.call_ring;
/** Words of a slot of such requests and replies. */
const STRIDE = 32;

/** Numbers from 0 to 255 as bytes, one each. */
const bytes = {
  name: "bytes",
  encode(value: unknown, into: Uint8Array): number {
    const list = value as number[];
    if (list.length <= into.length) {
      for (let i = 0; i < list.length; i++) into[i] = list[i]!;
    }
    return list.length;
  },
  decode(message: Uint8Array): number[] {
    const list: number[] = [];
    for (let i = 0; i < message.length; i++) list.push(message[i]!);
    return list;
  },
};

interface Handle {
  readonly ring: CallRing;
  /** The agent's id. */
  readonly id: number;
  /** The last word of the memory: callers that have their reply. */
  readonly ended: Int32Array;
  call(list: readonly number[]): number[];
  /** The same, for a few ms. */
  callFor(list: readonly number[]): number[];
  serve(): number;
}

/** What is sent and replied for `n`: no two pieces are equal. */
const argsOf = (n: number) => Array.from({ length: ARGS }, (_, i) => n + i);
const resultOf = (n: number) => Array.from({ length: RESULT }, (_, i) => n - i);

function check(result: readonly number[], n: number): void {
  const right = result.length === RESULT &&
    result.every((v, i) => v === n - i);
  if (!right) throw new Error(`another's reply: ${result}`);
}

/** How a server answers the first piece of a request, and the last one. */
const FIRST_REPLIES = [Uint8Array.of(1), Uint8Array.of(2 | 128, 10, 9, 8)];

/** The error of a call whose time is over. */
const OVER = ["TimeoutError"];

/** Calls for a few ms. Returns how it ended: well, or by one of `errors`. */
function tryFor(h: Handle, n: number, errors: readonly string[]): string {
  try {
    check(h.callFor(argsOf(n)), n);
    return "right";
  } catch (error) {
    const { name } = error as Error;
    if (errors.includes(name)) return name;
    throw error;
  }
}

/**
 * Lets no timer forget pieces, as in the explorations of users: agents that
 * block run no timer before their calls have ended, and without timers they are
 * explored as synchronous code, which takes a fraction of the time.
 */
function setNoTimers({ looking }: Modules["waiter"]): void {
  looking.every = Infinity;
}

/** The number of callers, the last of whom closes the ring. */
function pieces(weft: Weft, slots: number, callers: number) {
  const end = (h: Handle) => {
    if (Atomics.add(h.ended, 0, 1) === callers - 1) h.ring.close();
  };
  const { CallRing } = weft.mod;
  const config = { slots, ...CONFIG };
  const size = CallRing.byteLength(config);
  const states = Array.from({ length: slots }, (_, slot) => {
    const at = (length + slot * STRIDE) * 4;
    return [at, at + 4] as const;
  });
  const api = {
    e(...list: number[]): number[] {
      const [n = 0] = list;
      const right = list.length === ARGS && list.every((v, i) => v === n + i);
      if (!right) throw new Error(`pieces of others: ${list}`);
      return resultOf(n);
    },
  };
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(size + 4);
      CallRing.init(memory, 0, config);
      return memory;
    },
    // Each agent has modules of its own, as threads do: they keep the pieces.
    ...itsOwn(weft, ({ mod, waiter }, memory, id): Handle => {
      setNoTimers(waiter);
      const ring = new mod.CallRing(memory);
      const { connect, serve } = mod;
      const options = { codec: bytes };
      const remote = connect.blocking<typeof api>(ring, options);
      const brief = connect.blocking<typeof api>(ring, {
        ...options,
        timeout: 5,
      });
      return {
        ring,
        id: id + 1,
        ended: new Int32Array(memory, size, 1),
        call: (list) => remote.e(...list),
        callFor: (list) => brief.e(...list),
        serve: () => serve.blocking(ring, api, options),
      };
    }),
    hints: states,
    ops: {
      call: {
        run: (h: Handle, n: number) => {
          check(h.call(argsOf(n)), n);
          end(h);
        },
      },
      /** Gives a call up at any piece, if its time is over there. */
      callFor: { run: (h: Handle, n: number) => tryFor(h, n, OVER) },
      /** The same, where another agent may be terminated. */
      callOnce: {
        run: (h: Handle, n: number) => {
          const how = tryFor(h, n, [...OVER, "CallError", "ClosedError"]);
          end(h);
          return how;
        },
      },
      /** A call whose server dies: it fails, and does so for that reason. */
      callDying: {
        run: (h: Handle, n: number) => {
          try {
            h.call(argsOf(n));
          } catch (error) {
            if ((error as Error).name === "CallError") return;
            throw error;
          }
          throw new Error("a dead server has replied");
        },
      },
      serve: { run: (h: Handle) => h.serve() },
      /** Answers `n` pieces, takes another one, and is abandoned. */
      die: {
        run: (h: Handle, n: number) => {
          for (let i = 0; i < n; i++) h.ring.take().reply(FIRST_REPLIES[i]!);
          h.ring.take();
          h.ring.abandon(h.id);
        },
      },
    },
    // Nobody serves, or nobody calls, after this agent.
    recover: (h: Handle, dead: number) => {
      h.ring.abandon(dead + 1);
      h.ring.close();
    },
    final: (memory: SharedArrayBuffer) => {
      const { pending } = new CallRing(memory);
      if (pending !== 0) return `${pending} slots are lost`;
    },
  });
}

/** A caller whose time may be over at any step, and a server that looks. */
function reasons(weft: Weft) {
  const { CallRing } = weft.mod;
  const config = { slots: 1, request: 128, reply: 4 };
  const size = CallRing.byteLength(config);
  const api = {
    w(one: number, signal: AbortSignal): number {
      for (let i = 0; i < 2; i++) {
        if (!signal.aborted) continue;
        const { name, message } = signal.reason as Error;
        if (name === "AbortError") break; // it gave up before we made room
        if (`${name}: ${message}` !== REASON) throw new Error("torn");
      }
      return one;
    },
  };
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(size);
      CallRing.init(memory, 0, config);
      return memory;
    },
    ...itsOwn(weft, ({ mod }, memory) => {
      const ring = new mod.CallRing(memory);
      const { connect, serve } = mod;
      const remote = connect.blocking<typeof api>(ring, { timeout: 5 });
      return {
        call(): void {
          try {
            if (remote.w(1, new AbortController().signal) === 1) return;
          } catch (error) {
            if ((error as Error).name === "TimeoutError") return;
            throw error;
          }
          throw new Error("another's reply");
        },
        end: () => ring.close(),
        serve: () => serve.blocking(ring, api),
      };
    }),
    hints: [[length * 4, length * 4 + 4]],
    ops: {
      call: { run: (h) => h.call() },
      end: { run: (h) => h.end() },
      serve: { run: (h) => h.serve() },
    },
    final: (memory: SharedArrayBuffer) => {
      const { pending } = new CallRing(memory);
      if (pending !== 0) return `${pending} slots are lost`;
    },
  });
}

/**
 * Callers whose functions are called back, in one slot that another caller
 * wants. The function has a state, so that a call back that is lost, or comes
 * twice, is seen. A caller keeps its slot until its call is over, so no other
 * call is served meanwhile. A call back that is longer than `reply` bytes comes
 * in pieces.
 */
function callsBack(weft: Weft, callers: number, reply = 32) {
  const { CallRing } = weft.mod;
  const config = { slots: 1, request: 64, reply };
  const size = CallRing.byteLength(config);
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(size + 8);
      CallRing.init(memory, 0, config);
      return memory;
    },
    ...itsOwn(weft, ({ mod, waiter }, memory) => {
      setNoTimers(waiter);
      const ring = new mod.CallRing(memory);
      const { connect, serve } = mod;
      const marks = new Int32Array(memory, size, 2);
      const api = {
        b(one: number, fn: (n: number) => number): number {
          Atomics.store(marks, 1, 1);
          const sum = fn(one) + fn(one);
          Atomics.store(marks, 1, 0);
          return sum;
        },
        p: (one: number): number => Atomics.load(marks, 1) === 0 ? -one : 0,
      };
      const remote = connect.blocking<typeof api>(ring);
      return {
        end() {
          if (Atomics.add(marks, 0, 1) === callers - 1) ring.close();
        },
        back(one: number): void {
          let count = 0;
          const sum = remote.b(one, (n) => {
            if (n !== one) throw new Error("another's arguments");
            return n + count++;
          });
          if (sum !== 2 * one + 1) throw new Error(`another's result: ${sum}`);
        },
        plain(one: number): void {
          const result = remote.p(one);
          if (result === 0) throw new Error("a caller has lost its slot");
          if (result !== -one) throw new Error("another's result");
        },
        serve: () => serve.blocking(ring, api),
      };
    }),
    hints: [[length * 4, length * 4 + 4]],
    ops: {
      back: {
        run: (h, n: number) => {
          h.back(n);
          h.end();
        },
      },
      plain: {
        run: (h, n: number) => {
          h.plain(n);
          h.end();
        },
      },
      serve: { run: (h) => h.serve() },
    },
    final: (memory: SharedArrayBuffer) => {
      const { pending } = new CallRing(memory);
      if (pending !== 0) return `${pending} slots are lost`;
    },
  });
}

/** Servers that let their callers listen, of which one may at a time. */
function listeners(weft: Weft, servers: number) {
  const { CallRing } = weft.mod;
  const config = { slots: servers, request: 32, reply: 4 };
  const size = CallRing.byteLength(config);
  const states = Array.from({ length: servers }, (_, slot) => {
    const at = (length + slot * STRIDE) * 4;
    return [at, at + 4] as const;
  });
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(size + 4);
      const ring = CallRing.init(memory, 0, config);
      for (let i = 0; i < servers; i++) ring.tryPost(new Uint8Array(32));
      return memory;
    },
    ...itsOwn(weft, ({ mod, calls }, memory, id) => ({
      calls,
      slots: calls.slotsOf(new mod.CallRing(memory), id + 1),
      listening: new Int32Array(memory, size, 1),
    })),
    hints: states,
    ops: {
      /** Takes a call, and asks whether its caller may listen. */
      ask: {
        run: ({ calls, slots, listening }) => {
          const may = calls.mayListen(slots, slots.takeOrEnd(), 1);
          if (may) Atomics.add(listening, 0, 1);
          return may;
        },
      },
    },
    final: (memory: SharedArrayBuffer) => {
      const [count = 0] = new Int32Array(memory, size, 1);
      if (count > 1) return `${count} listen`;
    },
  });
}

/** What a handler is told of a caller whose time is over. */
const REASON = "TimeoutError: The call was not answered within 5 ms";

const NOT_IN_C = "no agent of C keeps pieces here: tests/calls/guest_test.ts " +
  "calls C, and lets C call";

/** The scenarios of typed calls. */
export function scenarios(weft: Weft): Scenario[] {
  return [
    {
      name: "two callers whose pieces share a slot",
      spec: pieces(weft, 1, 2),
      agents: [[["call", 10]], [["call", 100]], [["serve"]]],
      options: { timeouts: 0, states: 1, runs: 8 },
      sampled: true,
      notInC: NOT_IN_C,
    },
    {
      name: "two servers, of which one has the pieces",
      spec: pieces(weft, 1, 1),
      agents: [[["call", 10]], [["serve"]], [["serve"]]],
      options: { timeouts: 0, states: 1, runs: 8 },
      sampled: true,
      notInC: NOT_IN_C,
    },
    {
      name: "a caller gives up between pieces, and calls again",
      spec: pieces(weft, 1, 1),
      agents: [[["callFor", 10], ["call", 100]], [["serve"]], [["serve"]]],
      options: { timeouts: 1, states: 1, runs: 8, rescue: true },
      sampled: true,
      notInC: NOT_IN_C,
    },
    {
      name: "one side terminated between pieces",
      spec: pieces(weft, 1, 2),
      agents: [[["callOnce", 10]], [["callOnce", 100]], [["serve"]]],
      options: {
        kill: true,
        timeouts: 2,
        states: 1,
        runs: 6,
        rescue: true,
        races: false, // what a dead agent wrote is before its end
      },
      sampled: true,
      notInC: NOT_IN_C,
    },
    {
      name: "a caller gives up, and says why",
      spec: reasons(weft),
      agents: [[["call"], ["call"], ["end"]], [["serve"]]],
      options: { timeouts: 2, states: 4000, runs: 8 },
      sampled: true,
      notInC: NOT_IN_C,
    },
    {
      name: "a caller is called back in a slot that another one wants",
      spec: callsBack(weft, 2),
      agents: [[["back", 5]], [["plain", 9]], [["serve"]]],
      options: { timeouts: 0, states: 3000, runs: 8 },
      sampled: true,
      notInC: NOT_IN_C,
    },
    {
      name: "a caller is called back in pieces",
      spec: callsBack(weft, 2, 8),
      agents: [[["back", 5]], [["plain", 9]], [["serve"]]],
      options: { timeouts: 0, states: 1, runs: 100 },
      sampled: true,
      notInC: NOT_IN_C,
    },
    {
      name: "two callers are called back in one slot",
      spec: callsBack(weft, 2),
      agents: [[["back", 5]], [["back", 9]], [["serve"]]],
      options: { timeouts: 0, states: 1, runs: 8 },
      sampled: true,
      notInC: NOT_IN_C,
    },
    ...[2, 3].map((n): Scenario => ({
      name: `${n} servers whose callers want to listen`,
      spec: listeners(weft, n),
      agents: Array.from({ length: n }, () => [["ask"]]),
      notInC: "C calls no functions back",
    })),
    ...[1, 2].map((n): Scenario => ({
      name: `a server that dies at piece ${n + 1}`,
      spec: pieces(weft, 1, 1),
      agents: [[["callDying", 10]], [["die", n]]],
      options: { timeouts: 0, states: 2000, runs: 2 },
      sampled: true,
      notInC: NOT_IN_C,
    })),
    ...besideScenarios(weft),
  ];
}
