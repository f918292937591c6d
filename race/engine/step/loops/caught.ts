/**
 * Agents that catch everything that is thrown and try again. They also catch
 * the token that suspends them, again and again. So an agent that has caught it
 * often is let go on, alone and without effect, until it leaves its loop.
 *
 * @module
 */
import * as k from "../../kinds.ts";
import type { Target } from "../../platform/views.ts";
import { TOKEN } from "../../signals.ts";
import { execute } from "../../state/agent/operation.ts";
import { Random } from "../../values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** How often the token is thrown: `finally` blocks may catch it, too. */
const THROWN = 16;

/** How many operations then do what they do if the agent is alone. */
const ALONE = 100;

/** After this many, there is nothing left to try. */
const MOST = 10_000_000;

/** What reads answer then, by chance, so that a loop ends that waits. */
const VALUES = [0, 1, 2, 3, -1];

/** The number of a promise that never settles, and of a timer without end. */
const NOBODY = -1;

/** What the agent on the stack does after it was suspended. */
export class Caught {
  #times = 0;
  #random = new Random(1);
  readonly #undo: (() => void)[] = [];

  /** Whether the agent goes on instead of being suspended. */
  get goesOn(): boolean {
    return this.#times > THROWN;
  }

  /** Suspends the agent again, or does an operation without effect. */
  answer(
    kind: number,
    target: Target | null,
    index: number,
    a: Any,
    b: Any,
  ): Any {
    if (++this.#times <= THROWN || kind === k.SEND || kind === k.TAKE) {
      throw TOKEN;
    }
    if (this.#times === MOST) {
      console.error(
        "race: an agent catches every error and tries again for ever. So it " +
          "also catches what suspends it, and the exploration cannot go on",
      );
    }
    const more = this.#times - THROWN;
    if (kind === k.CLOCK) return more * 1000;
    if (kind === k.WAIT) return "timed-out";
    if (kind === k.WAIT_ASYNC) return NOBODY;
    if (kind === k.NOTIFY) return 0;
    const { view, big }: { view: Any; big: boolean } = target!;
    if (more > ALONE) {
      if (kind === k.CAS) return a;
      const value = VALUES[this.#random.below(VALUES.length)]!;
      return big ? BigInt(value) : value;
    }
    if (k.writes(kind)) {
      const old = view[index];
      this.#undo.push(() => void (view[index] = old));
    }
    return execute(kind, view, index, a, b);
  }

  /** The same for something that concerns the agent alone. */
  local(kind: number): Any {
    const timed = kind === k.SET_TIMER || kind === k.CLEAR_TIMER ||
      kind === k.POST || kind === k.UNPOST;
    if (!timed || ++this.#times <= THROWN) throw TOKEN;
    return NOBODY;
  }

  /** The agent has left the stack. */
  end(): void {
    if (this.#times > THROWN + ALONE) this.#random = new Random(1);
    this.#times = 0;
    while (this.#undo.length > 0) this.#undo.pop()!();
  }
}
