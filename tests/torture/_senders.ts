/**
 * The loops of a storm that send and receive: in threads, which may be
 * terminated, or in this thread. And what must become of their messages.
 *
 * @module
 */
import { spawn, type Thread } from "../_run/workers.ts";
import { BEGUN, MOST, NOT_SENT, SENT } from "./_channel_loops.ts";
import type { Ends, Note } from "./_loop.ts";
import type { Ledger } from "./_storm.ts";

/** What every loop is told. */
interface Told {
  /** Its number, which its messages begin with. */
  readonly at: number;
  readonly sends: boolean;
  /** Set if it runs in a thread of C. */
  readonly guest?: unknown;
}

/** A thread that sends or receives. */
interface Agent<Orders> {
  readonly orders: Orders;
  readonly thread: Thread;
  readonly id: number;
  killed: boolean;
  over: boolean;
}

/** Starts loops, and notes how they and their calls end. */
export class Senders<Orders extends Told> {
  readonly agents: Agent<Orders>[] = [];
  /** The loops that send. */
  readonly sending = new Set<Promise<unknown>>();
  readonly #ledger: Ledger;
  readonly #agent: URL;
  readonly #play: (orders: Orders, note: Note) => Promise<Ends>;
  readonly #failed: () => void;

  /**
   * A thread runs the module `agent`; `play` runs a loop of this thread.
   * `failed` has the other loops end when one has failed.
   */
  constructor(
    ledger: Ledger,
    agent: URL,
    play: (orders: Orders, note: Note) => Promise<Ends>,
    failed: () => void,
  ) {
    this.#ledger = ledger;
    this.#agent = agent;
    this.#play = play;
    this.#failed = failed;
  }

  /** Lets a thread send or receive. */
  async spawn(orders: Orders): Promise<void> {
    const thread = await spawn(this.#agent, orders);
    const id = await thread.next<number>();
    const agent = { orders, thread, id, killed: false, over: false };
    this.agents.push(agent);
    this.#expect(orders, thread.next<Ends | string>(), agent);
  }

  /** Lets a loop of this thread send or receive. */
  here(orders: Orders): void {
    const note: Note = (what, promise) => {
      const text = `loop ${orders.at}, ${what}`;
      // The loop says whether it may end so.
      this.#ledger.expect(text, promise, () => "calls");
      return promise;
    };
    this.#expect(orders, this.#play(orders, note));
  }

  #expect(
    orders: Orders,
    ended: Promise<Ends | string>,
    agent?: Agent<Orders>,
  ): void {
    if (orders.sends) this.sending.add(ended);
    const { ends } = this.#ledger;
    const what = `loop ${orders.at}, ${orders.sends ? "sends" : "receives"}`;
    this.#ledger.expect(what, ended, (end) => {
      if (agent !== undefined) agent.over = true;
      if (end.failed && agent?.killed) return "died";
      if (end.failed || typeof end.value === "string") this.#failed();
      if (end.failed) throw end.reason;
      if (typeof end.value === "string") throw new Error(end.value);
      for (const [name, n] of Object.entries(end.value)) {
        ends.set(name, (ends.get(name) ?? 0) + n);
      }
      return orders.guest === undefined ? "over" : "over in C";
    });
  }

  /** Terminates a thread, unless there is none or it has ended. */
  async terminate(which: number): Promise<Agent<Orders> | undefined> {
    const agent = this.agents[which];
    if (agent === undefined || agent.over || agent.killed) return undefined;
    agent.killed = true;
    const worker = agent.thread.worker as { terminate(): Promise<unknown> };
    await worker.terminate();
    return agent;
  }

  /**
   * Ends what an agent had at a channel. Another agent may be in the middle of
   * a step, which it then ends.
   */
  async abandon(
    channel: { abandon(id: number): number },
    id: number,
  ): Promise<void> {
    if (await this.#ledger.until(() => channel.abandon(id) >= 0)) return;
    this.#ledger.problem(`agent ${id} could not be abandoned`);
  }

  /**
   * Compares what was sent with what was received; how many agents were
   * terminated. Each of them may lose one message.
   */
  compare(fates: Int32Array, taken: Int32Array): number {
    const killed = new Set<number>();
    for (const { orders, killed: was } of this.agents) {
      if (was) killed.add(orders.at);
    }
    let lost = 0;
    const problem = (id: number, text: string) =>
      this.#ledger.problem(`message ${id} ${text}`);
    for (const [id, fate] of fates.entries()) {
      const times = taken[id]!;
      if (times > 1) problem(id, `was received ${times} times`);
      if (fate === SENT && times === 0 && ++lost > killed.size) {
        problem(id, "was sent, and not received");
      }
      if (fate === NOT_SENT && times > 0) {
        problem(id, "was not sent, but received");
      }
      if (fate === BEGUN && !killed.has(Math.floor(id / MOST))) {
        problem(id, "was begun, and has no end");
      }
    }
    return killed.size;
  }

  /** Ends the threads. */
  stop(): void {
    for (const { thread } of this.agents) thread.stop();
  }
}
