/**
 * The loops of a storm: in threads of their own, or in this thread.
 *
 * @module
 */
import { spawn, type Thread } from "../_run/workers.ts";
import type { Ends, Note } from "./_loop.ts";
import type { Ledger } from "./_storm.ts";

/** Starts loops, and notes how their calls end. */
export class Players<Orders> {
  /** How many loops have not ended. */
  running = 0;
  readonly #ledger: Ledger;
  readonly #agent: URL;
  readonly #play: (orders: Orders, note: Note) => Promise<Ends>;
  readonly #threads: Thread[] = [];

  /**
   * A thread runs the module `agent`; `play` runs a loop of this thread, which
   * says whether a call may end as it does.
   */
  constructor(
    ledger: Ledger,
    agent: URL,
    play: (orders: Orders, note: Note) => Promise<Ends>,
  ) {
    this.#ledger = ledger;
    this.#agent = agent;
    this.#play = play;
  }

  /** Starts one loop, which must end, as must all its calls. */
  start(orders: Orders, inThread: boolean): void {
    this.running++;
    const note: Note = (what, promise) => {
      this.#ledger.expect(what, promise, () => "calls");
      return promise;
    };
    const ended = inThread ? this.#spawn(orders) : this.#play(orders, note);
    const { ends } = this.#ledger;
    const what = `a loop${inThread ? " of a thread" : ""}`;
    this.#ledger.expect(what, ended.finally(() => this.running--), (end) => {
      if (end.failed) throw end.reason;
      if (typeof end.value === "string") throw new Error(end.value);
      for (const [name, n] of Object.entries(end.value)) {
        ends.set(name, (ends.get(name) ?? 0) + n);
      }
      return "over";
    });
  }

  async #spawn(orders: Orders): Promise<Ends | string> {
    const thread = await spawn(this.#agent, orders);
    this.#threads.push(thread);
    return await thread.next<Ends | string>();
  }

  /** Ends the threads. */
  stop(): void {
    for (const thread of this.#threads) thread.stop();
  }
}
