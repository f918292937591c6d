// What a pool's agents share, beside a CallRing and an Event, which have
// scenarios of their own: the count of posted tasks, by which an idle worker
// knows that it need not look at the slots again; and results of which a worker
// tells together. The lines, priorities and states of tasks are of the one
// agent that has the pool, but what it does to a slot meets what workers do
// there: it drops tasks, takes orders back, and buries workers. "boss" does so
// with the pool's own parts, without its promises.
import type { CallRing, Event } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { race } from "../../race/mod.ts";
import type { PoolServer, Rooms, Slots } from "./parts.ts";
import { enter, type Scenario, type Weft } from "../_run/scenario.ts";

const SLOTS = 2;
const { length } = LAYOUT.call_ring;
/** Words of a slot with these requests and replies. */
const STRIDE = 32;
/** The states of the slots: read plainly before an exchange checks them. */
const HINTS = [0, STRIDE].map((slot) =>
  [(length + slot) * 4, (length + slot) * 4 + 4] as const
);

/** The phases of a call that was answered. */
const REPLIED = 5;
const LOST = 7;

interface Handle {
  readonly ring: CallRing;
  readonly done: Event;
  readonly slots: Slots;
  readonly rooms: Rooms;
  readonly server: PoolServer;
  readonly told: Int32Array;
}

/**
 * What the pool's thread is told from outside: the number of a worker that has
 * died, and, from `MAIL` + its number on, that a message of a worker has come.
 */
const DEAD = 0, MAIL = 0;
/** There the workers count the tasks that they do, if they are to. */
const DONE = 3;

/** The memory and the agents of a pool of `count` slots. */
function base(
  weft: Weft,
  count: number,
  isLong = false,
  counts = false,
  recycle = Infinity, // after this many tasks, the first worker ends
) {
  const { mod, pool: parts } = weft;
  const { CallRing, Event } = mod;
  const { POSTED_BYTES, postedAt, REPLY_HEAD, REQUEST_HEAD } = parts;
  const config = { slots: count, request: REQUEST_HEAD, reply: REPLY_HEAD };
  const doneAt = CallRing.byteLength(config);
  const behind = doneAt + Event.byteLength();
  const run = () => isLong ? 1 : undefined;
  const length = isLong ? 1 : 0; // there is room for no byte
  const codec = { name: "none", encode: () => length, decode: () => undefined };
  const task = {
    name: "task",
    run,
    request: codec,
    reply: codec,
    requestField: undefined,
    replyField: undefined,
  };
  const fresh = () => {
    const memory = new SharedArrayBuffer(behind + POSTED_BYTES + 16);
    CallRing.init(memory, 0, config);
    Event.init(memory, doneAt, { autoReset: true });
    return memory;
  };
  const agent = (memory: SharedArrayBuffer, id: number): Handle => {
    enter(weft, id);
    const ring = new CallRing(memory);
    const done = new Event(memory, doneAt);
    const words = new Int32Array(memory, 0, doneAt / 4);
    const slots = new parts.Slots(words, id + 1);
    const posted = postedAt(memory, behind);
    const told = new Int32Array(memory, behind + POSTED_BYTES, 4);
    const counting = () => void Atomics.add(told, DONE, 1);
    const server = new parts.PoolServer({
      slots,
      posted,
      recycle: { tasks: id === 1 ? recycle : Infinity, memory: Infinity },
      tasks: [counts ? { ...task, run: counting } : task],
      names: ["task"],
      number: id,
      done: () => done.set(),
      hear: () => {},
      post: () => {
        Atomics.store(told, MAIL + id, 1);
      },
    });
    const rooms = new parts.Rooms(slots, posted, id + 1);
    return { ring, done, slots, rooms, server, told };
  };
  const spec = { ...task, index: 0, idempotent: false };
  const begin = {
    memory: () => {
      const memory = fresh();
      agent(fresh(), 0); // evaluates the modules
      return memory;
    },
    agent,
    stateless: false,
    hints: HINTS,
  };
  return { begin, spec };
}

/** A pool whose slots are free at the end. */
function pool(weft: Weft, tasks: number, recycle = Infinity) {
  const { pool: parts } = weft;
  const { begin } = base(weft, SLOTS, false, false, recycle);
  return race.spec({
    ...begin,
    ops: {
      /** Does tasks until there is none; then it closes the pool. */
      submit: {
        run: (h: Handle, lazy: boolean) => {
          const what = lazy ? parts.LAZY : 0;
          const flying: number[] = [];
          const post = () => {
            const at = h.rooms.claim();
            h.rooms.post(at, what, 0, 0);
            flying.push(at);
          };
          for (let i = 0; i < tasks; i++) post();
          h.rooms.tell(tasks);
          while (flying.length > 0) {
            const i = flying.findIndex((at) =>
              parts.isAnswered(h.slots.words, at)
            );
            if (i < 0) {
              h.done.wait();
              continue;
            }
            const [at] = flying.splice(i, 1);
            const phase = Atomics.load(h.slots.words, at!) >> 28 & 7;
            parts.cancel(h.slots.words, at!);
            if (phase === LOST) {
              post();
              h.rooms.tell(1);
            } else if (phase !== REPLIED) throw new Error(`phase ${phase}`);
          }
          h.ring.close();
        },
      },
      /** Does tasks until the pool is closed; returns how many. */
      serve: { run: (h: Handle) => h.server.serve() },
    },
    recover: (h: Handle, dead: number) => {
      if (dead === 0) h.ring.close();
      else h.slots.abandon(dead + 1);
      h.done.set();
    },
  });
}

/** What the pool's thread does. */
interface Orders {
  /** How many workers there are, and how many are to stay. */
  readonly workers: number;
  readonly keep: number;
  /** Tasks at the beginning, the first of which is aborted at once. */
  readonly tasks: number;
  readonly abort: boolean;
  /** Whether what no worker has begun is refused then. */
  readonly force?: boolean;
  /** Whether a task may be done again. */
  readonly again?: boolean;
}

/** The thread of a pool, by the pool's own parts. */
function bossOf(weft: Weft, slots: number, isLong = false, counts = false) {
  const { pool: parts } = weft;
  const { begin, spec } = base(weft, slots, isLong, counts);
  const boss = (h: Handle, orders: Orders) => {
    const { workers, keep, tasks, abort, force = false, again } = orders;
    const { slots, rooms, done, told } = h;
    /** Workers that serve, and those that would have been started. */
    const live = new Set(Array.from({ length: workers }, (_, i) => i + 1));
    let started = 0;
    let ended = 0;
    let failed = 0;
    const jobs = new parts.Jobs(() => {}, () => {});
    const poster = new parts.Poster({
      slots,
      rooms,
      jobs,
      scratch: new Uint8Array(0),
      ahead: 0,
      agents: () => workers,
      places: () => workers,
      assertOpen: () => {},
    });
    const staff = new parts.Staff({
      jobs,
      poster,
      size: () => live.size + started,
      hanging: () => 0,
      start: () => {
        started++;
        return Promise.resolve();
      },
      ordered: () => {},
    });
    const collector = new parts.Collector({
      slots,
      rooms,
      jobs,
      poster,
      measure: () => {},
      promised: () => {},
      retires: (number) => {
        live.delete(number);
        staff.balance();
      },
      rest: () => {},
      isForced: () => force,
    });
    const idempotent = again === true;
    const end = { resolve: () => ended++, reject: () => (ended++, failed++) };
    const submit = () => {
      const job = jobs.make({ ...spec, idempotent }, 0, 0, end);
      poster.submit(job, spec, undefined);
      return job;
    };
    const message: Parameters<typeof collector.arrive>[0] = {
      weft: "@weft/sync/pool",
      what: "long",
      token: 0,
      kind: 2, // a value
      bytes: new ArrayBuffer(1),
    };
    /** Only a new worker, which is not played here, could do what is left. */
    const isPhantom = () => live.size === 0 && started > 0;
    let buried = false;
    const settle = () => {
      for (;;) {
        const dead = Atomics.load(told, DEAD);
        for (let id = 1; id <= workers; id++) {
          if (Atomics.exchange(told, MAIL + id, 0) === 1) {
            collector.arrive(message);
          }
        }
        if (dead > 0 && !buried) {
          buried = true;
          live.delete(dead);
          slots.abandon(dead + 1);
          collector.sweep({ error: undefined, code: undefined });
          collector.forget(dead);
          staff.balance();
        }
        collector.sweep();
        poster.fill();
        if (jobs.open === 0 || isPhantom()) return;
        done.wait();
      }
    };
    const all = Array.from({ length: tasks }, submit);
    if (abort) poster.drop(all[0]!, "enough");
    if (force) { for (const job of all) poster.refuse(job, "closed"); }
    staff.workers = keep;
    staff.balance();
    settle();
    if (counts && Atomics.load(told, DONE) !== tasks - failed) {
      throw new Error(`${failed} of ${tasks} tasks are refused`);
    }
    if (live.size + started !== keep) throw new Error(`${live.size} stay`);
    if (!isLong && !force && live.size > 0) {
      submit(); // whoever stays does it
      settle();
      all.push(all[0]!);
    }
    if (ended !== all.length && !isPhantom()) {
      throw new Error(`${ended} tasks have ended`);
    }
    h.ring.close();
  };
  return race.spec({
    ...begin,
    ops: {
      boss: { run: boss },
      serve: { run: (h: Handle) => h.server.serve() },
    },
    recover: (h: Handle, dead: number) => {
      if (dead === 0) return h.ring.close();
      // A message of a worker that was terminated may be lost.
      Atomics.store(h.told, MAIL + dead, 0);
      Atomics.store(h.told, DEAD, dead);
      h.done.set();
    },
  });
}

/** The times in the replies differ, so hardly any two states are equal. */
const LARGE = { options: { states: 1000, runs: 300 }, sampled: true } as const;

/** One agent may be terminated at any step. */
const DEATH = {
  ...LARGE,
  options: {
    ...LARGE.options,
    kill: true,
    rescue: true,
    timeouts: 0,
    races: false, // with what the dead one did
  },
} as const;

/** The scenarios of a pool. */
export function scenarios(weft: Weft): Scenario[] {
  return [
    {
      name: "a task, and its worker",
      spec: pool(weft, 1),
      agents: [[["submit", false]], [["serve"]]],
      ...LARGE,
      awaits: [1],
    },
    {
      name: "two tasks of which the worker tells together",
      spec: pool(weft, 2),
      agents: [[["submit", true]], [["serve"]]],
      ...LARGE,
      awaits: [1],
    },
    {
      name: "two tasks, and the first worker ends after one",
      spec: pool(weft, 2, 1),
      agents: [[["submit", false]], [["serve"]], [["serve"]]],
      ...LARGE,
      awaits: [1, 2],
    },
    {
      name: "a worker dies",
      spec: pool(weft, 1),
      agents: [[["submit", true]], [["serve"]], [["serve"]]],
      ...DEATH,
      awaits: [1, 2],
    },
    {
      name: "one of two workers is to end, and one dies",
      spec: bossOf(weft, 2),
      agents: [
        [["boss", { workers: 2, keep: 1, tasks: 0, abort: false }]],
        [["serve"]],
        [["serve"]],
      ],
      ...DEATH,
      awaits: [0, 1, 2],
    },
    {
      name: "a task is aborted, and another one waits for its slot",
      spec: bossOf(weft, 1),
      agents: [
        [["boss", { workers: 1, keep: 1, tasks: 2, abort: true }]],
        [["serve"]],
      ],
      ...LARGE,
      awaits: [0, 1],
    },
    {
      name: "what no worker has begun is refused",
      spec: bossOf(weft, 2, false, true),
      agents: [
        [["boss", {
          workers: 1,
          keep: 1,
          tasks: 2,
          abort: false,
          force: true,
        }]],
        [["serve"]],
      ],
      ...LARGE,
      awaits: [0, 1],
    },
    {
      name: "the last worker dies, and the pool was closed with force",
      spec: bossOf(weft, 1),
      agents: [
        [["boss", {
          workers: 1,
          keep: 0,
          tasks: 1,
          abort: false,
          force: true,
          again: true,
        }]],
        [["serve"]],
      ],
      ...DEATH,
      awaits: [0, 1],
    },
    {
      name: "a worker dies behind a long result",
      spec: bossOf(weft, 1, true),
      agents: [
        [["boss", { workers: 2, keep: 2, tasks: 1, abort: false }]],
        [["serve"]],
        [["serve"]],
      ],
      ...DEATH,
      options: { ...DEATH.options, runs: 6000 },
      awaits: [0, 1, 2],
    },
  ];
}
