/**
 * The storm on channels: senders and receivers, in threads of JavaScript and of
 * C and as loops of one thread, block and await, give up, close the channel,
 * and are terminated.
 *
 * What the model allows: a message that was sent comes once, and after those
 * that its sender sent before. A message whose call gave up, failed or was
 * refused never comes. Each agent that is terminated may lose one message. When
 * all is over, every call has ended, the channel is empty, and nobody keeps a
 * call.
 *
 * @module
 */
import fc from "../_run/property.ts";
import { Channel } from "../../mod.ts";
import {
  CARRIERS,
  channelOf,
  FORMS,
  Loop,
  MOST,
  type Orders,
  type Step,
} from "./_channel_loops.ts";
import { CAN_DIE } from "./_calls_api.ts";
import { AT, GUEST_CODECS, GuestMemory, guestModule } from "./_guest.ts";
import { Senders } from "./_senders.ts";
import { type Ledger, mostly, pause, type Storm, words } from "./_storm.ts";

const AGENT = new URL("./_channel_agent.ts", import.meta.url);

const step = fc.record({
  how: fc.constantFrom("wait" as const, "try", "place", "iterate"),
  count: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(60)),
  timeout: fc.nat(4),
  abort: mostly(-1, fc.nat(9)),
  n: fc.oneof(
    { weight: 12, arbitrary: fc.nat(16) },
    { weight: 1, arbitrary: fc.constantFrom(200, 900, 5000) },
  ),
  then: mostly(-1, fc.nat(3)),
});

const loop = fc.record({
  /** Whether it has a thread. */
  thread: fc.boolean(),
  blocks: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 12, size: "max" }),
});

const plans = fc.record({
  codec: fc.constantFrom(...Object.keys(FORMS)),
  carrier: fc.oneof(
    fc.constant("any"),
    fc.constantFrom(...Object.keys(CARRIERS)),
  ),
  capacity: fc.integer({ min: 1, max: 8 }),
  messageSize: fc.constantFrom(256, 1000),
  senders: fc.array(loop, { minLength: 1, maxLength: 4, size: "max" }),
  receivers: fc.array(loop, { minLength: 1, maxLength: 4, size: "max" }),
  /** When it is closed, in ms; -1: when all has been sent. */
  close: mostly(-1, fc.nat(30)),
  /** Threads are terminated: which, and after how many ms. */
  kills: fc.array(
    fc.record({ which: fc.nat(7), after: fc.nat(15) }),
    { maxLength: 2 },
  ),
  /** Which loops have a thread of C, where C can take part: a bit for each. */
  guests: fc.nat(255),
  /** Whether it has no room: a message goes from hand to hand. */
  meets: mostly(false, fc.constant(true)),
  /** Whether senders and receivers are counted, and the last one closes it. */
  counted: fc.boolean(),
});

type Of<T> = T extends fc.Arbitrary<infer Value> ? Value : never;
type Given = Omit<Of<typeof loop>, "steps"> & {
  readonly steps: readonly Step[];
};
type Plan = Of<typeof plans>;

/** How many agents may have senders, and how many receivers. */
const COUNTED = 12;

/** Whether a message goes from a sender to a receiver that is there. */
const isMeeting = ({ meets }: Plan) => meets;

/** The carrier; a channel without room has only one. */
const carrierOf = (plan: Plan) => isMeeting(plan) ? "any" : plan.carrier;

/** The greatest number of loops, those for dead agents included. */
const LOOPS = 12;

/** One play. */
class Play {
  readonly #plan: Plan;
  readonly #ledger: Ledger;
  readonly #channel: Channel<unknown>;
  /** The memory of the threads of C, if there may be any. */
  readonly #guests: GuestMemory | undefined;
  readonly #fates = words(LOOPS * MOST);
  readonly #taken = words(LOOPS * MOST);
  readonly #senders: Senders<Orders>;
  #loops = 0;

  constructor(plan: Plan, ledger: Ledger, module?: WebAssembly.Module) {
    this.#plan = plan;
    this.#ledger = ledger;
    const { codec, messageSize } = plan;
    const carrier = carrierOf(plan);
    const withC = module !== undefined && carrier === "any" &&
      GUEST_CODECS[codec] !== undefined;
    const guests = withC ? new GuestMemory(module) : undefined;
    this.#guests = guests;
    const form = FORMS[codec]!;
    // A terminated agent may take a slot along.
    const least = carrier === "lockFree" ? 4 : 1;
    const config = {
      codec: form.codec,
      carrier: CARRIERS[carrier],
      capacity: isMeeting(plan) ? 0 : Math.max(least, plan.capacity),
      ...(plan.counted ? { tracked: COUNTED } : {}),
      ...(form.sized ? {} : { messageSize }),
    };
    this.#channel = guests === undefined
      ? Channel.create<unknown>(config)
      : Channel.init<unknown>(guests.buffer, AT, config);
    this.#senders = new Senders(
      ledger,
      AGENT,
      (orders, note) => new Loop(orders, note).run(),
      () => this.#channel.close(),
    );
    ledger.watch(this.#fates);
    ledger.watch(this.#taken);
  }

  async run(): Promise<void> {
    const ledger = this.#ledger;
    const channel = this.#channel;
    const { senders, receivers, close, counted } = this.#plan;
    const carrier = carrierOf(this.#plan);
    // Whoever takes the place of a dead agent must find the channel open.
    const own = counted ? [channel.sender(), channel.receiver()] : [];
    const manySenders = carrier !== "oneToOne";
    const manyReceivers = manySenders && carrier !== "manyToOne";
    const given = (loops: Given[], many: boolean, sends: boolean) =>
      loops.slice(0, many ? 4 : 1).map((given) => ({ given, sends }));
    const loops = [
      ...given(senders, manySenders, true),
      ...given(receivers, manyReceivers, false),
    ];
    const spawned = loops.filter(({ given }) => given.thread);
    await Promise.all(
      spawned.map(({ given, sends }) =>
        this.#senders.spawn(this.#ordersOf(given, sends))
      ),
    );
    for (const { given, sends } of loops) {
      if (!given.thread) this.#senders.here(this.#ordersOf(given, sends));
    }
    const kills = this.#kill();
    ledger.expect("the kills", kills, () => "over");
    if (close >= 0) {
      await pause(close);
      channel.close();
    }
    const leave = () => own.forEach((end) => end.leave());
    if (close >= 0 || counted) void kills.then(leave);
    else void kills.then(() => this.#closeAtEnd());
    await ledger.settled();
    if (counted && !channel.closed) {
      ledger.problem("its last sender has left, and it is not closed");
    }
    channel.close();
    await ledger.settled();
    // The last call of each loop may stay, and what waited for it.
    await ledger.assertGivenBack(this.#loops + 1);
    if (ledger.problems.length === 0) await this.#count();
    this.#senders.stop();
  }

  async #closeAtEnd(): Promise<void> {
    await Promise.allSettled(this.#senders.sending);
    this.#channel.close();
  }

  #ordersOf(
    { thread, blocks, steps }: Given,
    sends: boolean,
  ): Orders {
    const { codec, guests, counted } = this.#plan;
    const isGuest = thread && (guests >> this.#loops & 1) === 1;
    const guest = isGuest ? this.#guests?.guest() : undefined;
    return {
      channel: this.#channel.handle,
      codec,
      carrier: carrierOf(this.#plan),
      counted,
      meets: isMeeting(this.#plan),
      sends,
      blocks: (blocks || guest !== undefined) && thread,
      guest,
      alone: thread,
      at: this.#loops++,
      steps,
      fates: this.#fates,
      taken: this.#taken,
    };
  }

  /** Terminates threads; a loop of this thread takes the place of each. */
  async #kill(): Promise<void> {
    const { codec, kills } = this.#plan;
    const carrier = carrierOf(this.#plan);
    const inQueue = !isMeeting(this.#plan) &&
      (FORMS[codec]!.sized || carrier === "manyToMany");
    // The page: a queue may be blocked for ever, unless it is one of these.
    const mayDie = !inQueue || carrier === "oneToOne" || carrier === "lockFree";
    if (!CAN_DIE || !mayDie) return;
    for (const { which, after } of kills) {
      await pause(after);
      const agent = await this.#senders.terminate(which);
      if (agent === undefined) continue;
      await this.#senders.abandon(this.#channel, agent.id);
      const { orders } = agent;
      const { steps } = orders;
      const given = { thread: false, blocks: false, steps };
      this.#senders.here(this.#ordersOf(given, orders.sends));
    }
  }

  /** Compares what was sent with what was received. */
  async #count(): Promise<void> {
    for (const { id } of this.#senders.agents) {
      await this.#senders.abandon(this.#channel, id);
    }
    const killed = this.#senders.compare(this.#fates, this.#taken);
    const { size } = this.#channel;
    if (size > 0 && killed === 0) {
      this.#ledger.problem(`${size} messages are left`);
    }
    const carrier = carrierOf(this.#plan);
    const { codec } = this.#plan;
    const channel = channelOf({
      codec,
      carrier,
      channel: this.#channel.handle,
    });
    try {
      const value = channel.tryReceive();
      if (killed > 0 && value === undefined) return;
      this.#ledger.problem(`after the end there was ${value}`);
    } catch (error) {
      if ((error as Error).name === "ClosedError") return;
      throw error;
    }
  }
}

/** The storm on channels. */
export const channelsStorm: Storm<Plan> = {
  name: "Channels",
  plans,
  play: async (plan, ledger) => {
    const play = new Play(plan, ledger, await guestModule());
    await play.run();
  },
};
