// What a pool's agents share, beside a CallRing and an Event, which have
// scenarios of their own: the count of posted tasks, by which an idle worker
// knows that it need not look at the slots again; and results of which a worker
// tells together. All else of a pool (its lines, priorities, timeouts, aborts,
// the replacement of workers, close, resize) is state of the one agent that has
// the pool. It changes between two awaits, so no other agent can come between.
import type { CallRing, Event } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
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
}

/** A pool whose slots are free at the end. */
function pool(weft: Weft, tasks: number) {
  const { mod, pool: parts } = weft;
  const { CallRing, Event } = mod;
  const { POSTED_BYTES, postedAt, REPLY_HEAD, REQUEST_HEAD } = parts;
  const config = { slots: SLOTS, request: REQUEST_HEAD, reply: REPLY_HEAD };
  const doneAt = CallRing.byteLength(config);
  const behind = doneAt + Event.byteLength();
  const run = () => undefined;
  const codec = { name: "none", encode: () => 0, decode: () => undefined };
  const task = {
    name: "task",
    run,
    request: codec,
    reply: codec,
    requestField: undefined,
    replyField: undefined,
  };
  const fresh = () => {
    const memory = new SharedArrayBuffer(behind + POSTED_BYTES);
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
    const server = new parts.PoolServer({
      slots,
      posted,
      tasks: [task],
      names: ["task"],
      number: id,
      done: () => done.set(),
      post: () => {},
    });
    const rooms = new parts.Rooms(slots, posted, id + 1);
    return { ring, done, slots, rooms, server };
  };
  return race.spec({
    memory: () => {
      const memory = fresh();
      agent(fresh(), 0); // evaluates the modules
      return memory;
    },
    agent,
    stateless: false,
    hints: HINTS,
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
            const i = flying.findIndex((at) => h.slots.isAnswered(at));
            if (i < 0) {
              h.done.wait();
              continue;
            }
            const [at] = flying.splice(i, 1);
            const phase = Atomics.load(h.slots.words, at!) >> 28 & 7;
            h.slots.cancel(at!);
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

/** The times in the replies differ, so hardly any two states are equal. */
const LARGE = { options: { states: 1000, runs: 300 }, sampled: true } as const;

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
      name: "a worker dies",
      spec: pool(weft, 1),
      agents: [[["submit", true]], [["serve"]], [["serve"]]],
      ...LARGE,
      options: {
        ...LARGE.options,
        kill: true,
        rescue: true,
        timeouts: 0,
        races: false, // with what the dead one did
      },
      awaits: [1, 2],
    },
  ];
}
