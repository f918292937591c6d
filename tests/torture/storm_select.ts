/**
 * The storm on select: senders and receivers at two or three channels, in
 * threads and as loops of one thread, do the first of several operations that
 * can be done, block and await, give up, and are terminated. A channel closes
 * when its last sender or its last receiver has left. Receivers of values look
 * at views of them, and some of these channels have no room.
 *
 * What the model allows: a message that was sent comes once, by one channel,
 * and after those that its sender sent by this channel before. A message whose
 * call gave up, failed or found all channels closed never comes. Each agent
 * that is terminated may lose one message. When all is over, every call has
 * ended, all channels are closed, nobody is counted at an end, and all permits
 * are free.
 *
 * @module
 */
import fc from "../_run/property.ts";
import { Channel, Semaphore } from "../../mod.ts";
import { AT, GuestMemory, guestModule } from "./_guest.ts";
import { CAN_DIE } from "./_calls_api.ts";
import { MOST } from "./_channel_loops.ts";
import {
  channelAt,
  configOf,
  idOf,
  type Kind,
  Loop,
  type Orders,
  PERMITS,
  type Step,
} from "./_select_loops.ts";
import { Senders } from "./_senders.ts";
import { type Ledger, mostly, pause, type Storm, words } from "./_storm.ts";

const AGENT = new URL("./_select_agent.ts", import.meta.url);

const step = fc.record({
  how: mostly<Step["how"]>("select", fc.constantFrom("any", "plain")),
  arms: mostly(0, fc.nat(7)),
  also: mostly(0, fc.nat(7)),
  isFirst: fc.boolean(),
  permit: fc.boolean(),
  count: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(60)),
  timeout: fc.nat(4),
  abort: mostly(-1, fc.nat(9)),
  then: mostly(-1, fc.nat(3)),
});

const loop = fc.record({
  /** Whether it has a thread. */
  thread: fc.boolean(),
  blocks: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 10, size: "max" }),
  most: mostly(-1, fc.nat(60)),
});

const plans = fc.record({
  kind: fc.constantFrom<Kind>("queues", "queues", "rings", "values"),
  capacities: fc.array(fc.integer({ min: 1, max: 4 }), {
    minLength: 2,
    maxLength: 3,
    size: "max",
  }),
  senders: fc.array(loop, { minLength: 1, maxLength: 3, size: "max" }),
  receivers: fc.array(loop, { minLength: 1, maxLength: 3, size: "max" }),
  /** Threads are terminated: which, and after how many ms. */
  kills: fc.array(
    fc.record({ which: fc.nat(5), after: fc.nat(15) }),
    { maxLength: 2 },
  ),
  /** Which loops have a thread of C, where C can take part: a bit for each. */
  guests: fc.nat(63),
  /** Which channels of values have no room: a bit for each. */
  meets: fc.nat(7),
});

/** What one loop does. */
interface Given {
  readonly thread: boolean;
  readonly blocks: boolean;
  readonly steps: readonly Step[];
  readonly most: number;
}

/** What a play does. */
export interface SelectPlan {
  readonly kind: Kind;
  readonly capacities: readonly number[];
  readonly senders: readonly Given[];
  readonly receivers: readonly Given[];
  readonly kills: readonly { which: number; after: number }[];
  readonly guests: number;
  readonly meets: number;
}

/** The greatest number of loops. */
const LOOPS = 6;

/** One play. */
class Play {
  readonly #plan: SelectPlan;
  readonly #ledger: Ledger;
  readonly #shared: Pick<
    Orders,
    "buffer" | "kind" | "places" | "semaphore" | "fates" | "taken" | "held"
  >;
  readonly #channels: readonly Channel<unknown>[];
  readonly #senders: Senders<Orders>;
  /** The memory of the threads of C, if there may be any. */
  readonly #guests: GuestMemory | undefined;
  #loops = 0;

  constructor(plan: SelectPlan, ledger: Ledger, module?: WebAssembly.Module) {
    this.#plan = plan;
    this.#ledger = ledger;
    const { kind, capacities, meets } = plan;
    const configs = capacities.map((n, i) => {
      const hasRoom = kind !== "values" || (meets >> i & 1) === 0;
      return configOf(kind, hasRoom ? n : 0, LOOPS + 1);
    });
    const withC = module !== undefined && kind === "queues";
    this.#guests = withC ? new GuestMemory(module) : undefined;
    let semaphore = withC ? AT : 0;
    const places = configs.map((config) => {
      const at = semaphore;
      semaphore += Channel.byteLength<unknown>(config);
      return at;
    });
    const length = semaphore + Semaphore.byteLength();
    const buffer = this.#guests?.buffer ?? new SharedArrayBuffer(length);
    for (const [i, config] of configs.entries()) {
      Channel.init<unknown>(buffer, places[i]!, config);
    }
    Semaphore.init(buffer, semaphore, PERMITS);
    const fates = words(LOOPS * MOST), taken = words(LOOPS * MOST);
    const held = words(1);
    this.#shared = { buffer, kind, places, semaphore, fates, taken, held };
    this.#channels = places.map((at) => channelAt(this.#shared, at));
    this.#senders = new Senders(
      ledger,
      AGENT,
      (orders, note) => new Loop(orders, note).run(),
      () => this.#channels.forEach((channel) => channel.close()),
    );
    ledger.watch(fates);
    ledger.watch(taken);
  }

  async run(): Promise<void> {
    const ledger = this.#ledger;
    const { senders, receivers } = this.#plan;
    // Until all loops are counted, no channel closes.
    const ends = this.#channels.flatMap((it) => [it.sender(), it.receiver()]);
    const loops = [
      ...senders.map((given) => this.#ordersOf(given, true)),
      ...receivers.map((given) => this.#ordersOf(given, false)),
    ];
    const isThread = [...senders, ...receivers].map(({ thread }) => thread);
    await Promise.all(
      loops.filter((_, i) => isThread[i]).map((it) => this.#senders.spawn(it)),
    );
    for (const orders of loops.filter((_, i) => !isThread[i])) {
      this.#senders.here(orders);
    }
    for (const end of ends) end.leave();
    ledger.expect("the kills", this.#kill(), () => "over");
    await ledger.settled();
    // The last call of each loop may stay, and what waited for it.
    await ledger.assertGivenBack(loops.length + 1);
    if (ledger.problems.length === 0) this.#count();
    this.#senders.stop();
  }

  #ordersOf({ thread, blocks, steps, most }: Given, sends: boolean): Orders {
    const { kind, guests } = this.#plan;
    const isGuest = thread && kind === "queues" &&
      (guests >> this.#loops & 1) === 1;
    const guest = isGuest ? this.#guests?.guest() : undefined;
    return {
      ...this.#shared,
      sends,
      blocks: thread && (blocks || guest !== undefined),
      guest,
      at: this.#loops++,
      steps,
      most: sends ? -1 : most,
    };
  }

  /** Terminates threads, and ends what they had. */
  async #kill(): Promise<void> {
    // A queue may be blocked for ever by a death.
    if (!CAN_DIE || this.#plan.kind === "queues") return;
    for (const { which, after } of this.#plan.kills) {
      await pause(after);
      const agent = await this.#senders.terminate(which);
      if (agent === undefined) continue;
      for (const channel of this.#channels) {
        await this.#senders.abandon(channel, agent.id);
      }
    }
  }

  /** Compares what was sent with what was received. */
  #count(): void {
    const { fates, taken, semaphore, buffer } = this.#shared;
    const problem = (text: string) => this.#ledger.problem(text);
    for (const [i, channel] of this.#channels.entries()) {
      const { closed, senders, receivers } = channel;
      if (!closed || senders !== 0 || receivers !== 0) {
        problem(
          `channel ${i}: closed: ${closed}, ${senders} senders and ` +
            `${receivers} receivers are counted`,
        );
      }
      // What came after the last receiver had left.
      for (const value of restOf(channel)) taken[idOf(value)]!++;
    }
    this.#senders.compare(fates, taken);
    const free = new Semaphore(buffer, semaphore).available;
    if (free !== PERMITS) problem(`${free} of ${PERMITS} permits are free`);
  }
}

/** Takes what is left in a channel that is closed. */
function restOf(channel: Channel<unknown>): unknown[] {
  const rest: unknown[] = [];
  for (;;) {
    try {
      const value = channel.tryReceive();
      if (value === undefined) return rest; // who died holds it back
      rest.push(value);
    } catch (error) {
      if ((error as Error).name === "ClosedError") return rest;
      throw error;
    }
  }
}

/** The storm on select. */
export const selectStorm: Storm<SelectPlan> = {
  name: "Select",
  plans: plans as fc.Arbitrary<SelectPlan>,
  play: async (plan, ledger) =>
    await new Play(plan, ledger, await guestModule()).run(),
};
