import { ns, Twin } from "../_run/mixed/twin.ts";

class Barrier extends Twin {
  get parties(): number {
    return this.c.weft_barrier_parties!(this.at);
  }

  get arrived(): number {
    return this.c.weft_barrier_arrived!(this.at);
  }

  arriveAndWait(): { leader: boolean } | undefined {
    return this.tryArriveAndWait(Infinity);
  }

  tryArriveAndWait(timeout = 0): { leader: boolean } | undefined {
    const { at, words } = this.scratch;
    words[0] = 0;
    const passed = this.succeeded(
      this.c.weft_barrier_arrive_and_wait!(this.at, at, ns(timeout)),
    );
    return passed ? { leader: (words[0]! & 0xff) !== 0 } : undefined;
  }

  abandon(id: number): number {
    return this.c.weft_barrier_abandon!(this.at, id);
  }

  leave({ arrived = false } = {}): boolean {
    const ended = this.c.weft_barrier_leave!(this.at, arrived ? 1 : 0);
    if (ended < 0) this.succeeded(-ended);
    return ended > 0;
  }
}

/** By the names of the classes they stand for. */
export const twins = { Barrier };
