/**
 * A second exhaustive search, by which tests check the first one. It runs whole
 * executions, one for each Mazurkiewicz trace. It uses source sets with sleep
 * sets (Abdulla et al. 2014), or sleep sets alone, or neither. It does not
 * explore timeouts, kills or old values of hints.
 *
 * @module
 */
import * as k from "../../engine/kinds.ts";
import type { Fault } from "../../engine/kinds.ts";
import { I32, realNow } from "../../engine/platform/native.ts";
import type { Chooser } from "../../engine/step/operations.ts";
import type { Engine, Steps } from "../../engine/step/replay.ts";
import { run } from "./run.ts";

/** How to search. */
export interface TraceOptions {
  /** The reduction: none, sleep sets, or sleep sets and source sets. */
  readonly reduce: "none" | "sleep" | "source";
  /** The most milliseconds the search may take. */
  readonly time: number;
  /** The most executions it may run. */
  readonly executions?: number | undefined;
  /** Called at each end of an execution. */
  readonly onEnd?: ((engine: Engine) => void) | undefined;
}

/** What a search found. */
export interface Traces {
  readonly fault: Fault | null;
  readonly schedule: readonly number[];
  readonly complete: boolean;
  /** How many executions came to their end, and how many were redundant. */
  readonly executions: number;
  readonly blocked: number;
  /** Each distinct trace, in a form that does not depend on the order. */
  readonly traces: ReadonlySet<string>;
}

/** A step of an execution. */
interface Step {
  readonly agent: number;
  readonly kind: number;
  readonly address: number;
  readonly size: number;
  readonly began: boolean;
  wrote: boolean;
  ended: boolean;
  /** By agent: 1 + the index of its last step that happened before this one. */
  clock: Int32Array | null;
  readonly index: number;
}

/** The choice made at a depth, and the choices that are left there. */
interface Frame {
  readonly enabled: readonly number[];
  chosen: number;
  readonly backtrack: Set<number>;
  readonly done: Map<number, Step>;
  readonly sleep: Map<number, Step>;
}

/** Whether the order of two steps can be observed. */
function depend(a: Step, b: Step): boolean {
  // Linearizability observes the order in real time in which one call ends and
  // another begins.
  if ((a.ended && b.began) || (a.began && b.ended)) return true;
  if (a.address >= b.address + b.size || b.address >= a.address + a.size) {
    return false;
  }
  if (a.kind === k.NOTIFY || b.kind === k.NOTIFY) {
    return a.kind === b.kind || a.kind === k.WAIT || b.kind === k.WAIT;
  }
  return a.wrote || b.wrote || (a.kind === k.WAIT && b.kind === k.WAIT);
}

/** Runs an execution for each trace. */
export function* searchTraces(
  engine: Engine,
  o: TraceOptions,
): Steps<Traces> {
  const started = realNow();
  const tree = new Tree(engine, o.reduce);
  const traces = new Set<string>();
  let executions = 0;
  let blocked = 0;
  for (;;) {
    tree.restart();
    let over = false;
    const fault = yield* run(engine, tree, {
      lockFree: "no",
      rescue: false,
      onEnd: () => over = true,
    });
    tree.commit();
    if (tree.cut) blocked++;
    else executions++;
    if (!tree.cut) traces.add(tree.canonical());
    if (over || fault !== null) o.onEnd?.(engine);
    const result = {
      fault,
      schedule: engine.world.schedule.slice(),
      complete: true,
      executions,
      blocked,
      traces,
    };
    if (fault !== null && o.onEnd === undefined) return result;
    if (!tree.backtrack()) return { ...result, fault: null };
    const many = executions + blocked >= (o.executions ?? Infinity);
    if (many || realNow() - started > o.time) {
      return { ...result, fault: null, complete: false };
    }
  }
}

class Tree implements Chooser {
  /** Whether the last execution was redundant. */
  cut = false;
  readonly #engine: Engine;
  readonly #sleeps: boolean;
  readonly #sources: boolean;
  readonly #frames: Frame[] = [];
  readonly #steps: Step[] = [];
  #clocks: Int32Array[] = [];
  #waiting: boolean[] = [];
  #depth = 0;
  #last = -1;

  constructor(engine: Engine, reduce: TraceOptions["reduce"]) {
    this.#engine = engine;
    this.#sleeps = reduce !== "none";
    this.#sources = reduce === "source";
  }

  get #count(): number {
    return this.#engine.world.agents.length;
  }

  /** Prepares for the next execution. */
  restart(): void {
    this.#depth = 0;
    this.cut = false;
    this.#last = -1;
    this.#clocks = this.#engine.world.agents.map(() => new I32(this.#count));
    this.#waiting = this.#engine.world.agents.map(() => false);
  }

  choose(): number {
    this.commit();
    const { agents } = this.#engine.world;
    let frame = this.#frames[this.#depth];
    if (frame === undefined) {
      const enabled = agents.filter(({ status }) => status === k.READY)
        .map(({ id }) => id);
      if (enabled.length === 0) return k.END;
      const fresh = this.#open(enabled);
      if (fresh === undefined) {
        this.cut = true;
        return k.CUT;
      }
      this.#frames.push(frame = fresh);
    }
    const { id, kind, address, size, invoked } = agents[frame.chosen]!;
    this.#steps[this.#depth] = {
      agent: id,
      kind,
      address,
      size,
      began: !invoked,
      wrote: k.writes(kind),
      ended: false,
      clock: null,
      index: this.#depth,
    };
    this.#last = id;
    this.#depth++;
    return id;
  }

  #open(enabled: readonly number[]): Frame | undefined {
    const sleep = new Map<number, Step>();
    if (this.#sleeps && this.#depth > 0) {
      const above = this.#frames[this.#depth - 1]!;
      const step = this.#steps[this.#depth - 1]!;
      for (const [agent, next] of [...above.sleep, ...above.done]) {
        if (agent !== above.chosen && !depend(next, step)) {
          sleep.set(agent, next);
        }
      }
    }
    const awake = enabled.filter((agent) => !sleep.has(agent));
    if (awake.length === 0) return undefined;
    const chosen = awake.includes(this.#last) ? this.#last : awake[0]!;
    const backtrack = new Set(this.#sources ? [chosen] : enabled);
    return { enabled, chosen, backtrack, done: new Map(), sleep };
  }

  /** Notes the effect of the last step, which has been done. */
  commit(): void {
    const step = this.#steps[this.#depth - 1];
    if (this.#depth === 0 || step === undefined || step.clock !== null) return;
    const { world } = this.#engine;
    step.ended = world.ended;
    // Only the effect of the scheduled operation counts.
    if (step.kind === k.CAS) step.wrote = world.changed;
    const clock = this.#clocks[step.agent]!.slice();
    for (let i = this.#depth - 2; i >= 0; i--) {
      const before = this.#steps[i]!;
      if (before.agent === step.agent || clock[before.agent]! > i) continue;
      if (!depend(before, step)) continue;
      if (this.#sources) this.#reverse(i, before, step);
      raise(clock, before.clock!);
    }
    clock[step.agent] = this.#depth;
    step.clock = this.#clocks[step.agent] = clock;
    for (const { id, status } of world.agents) {
      const waits = status === k.BLOCKED;
      if (this.#waiting[id] && !waits && step.kind === k.NOTIFY) {
        const woken = this.#clocks[id]!.slice();
        raise(woken, clock);
        this.#clocks[id] = woken;
      }
      this.#waiting[id] = waits;
    }
  }

  /** Makes the search also try `late` before `early`. */
  #reverse(at: number, early: Step, late: Step): void {
    const frame = this.#frames[at]!;
    const between = this.#steps.slice(at + 1, this.#depth - 1)
      .filter(({ clock }) => clock![early.agent]! <= at);
    const first = new Set<number>();
    let source = -1;
    const consider = (step: Step, clock: Int32Array): boolean => {
      if (first.has(step.agent)) return false;
      first.add(step.agent);
      for (const before of between) {
        if (before === step) break;
        if (before.agent === step.agent) continue;
        if (clock[before.agent]! > before.index) return false;
        if (step === late && depend(before, step)) return false;
      }
      if (frame.backtrack.has(step.agent)) return true;
      if (!frame.enabled.includes(step.agent)) return false;
      if (source < 0 || step.agent === late.agent) source = step.agent;
      return false;
    };
    for (const step of between) {
      if (consider(step, step.clock!)) return;
    }
    if (consider(late, this.#clocks[late.agent]!)) return;
    if (source >= 0) frame.backtrack.add(source);
    else frame.enabled.forEach((agent) => frame.backtrack.add(agent));
  }

  /** Goes back to the last choice that is left; false if none is. */
  backtrack(): boolean {
    for (;;) {
      const frame = this.#frames[this.#frames.length - 1];
      if (frame === undefined) return false;
      const step = this.#steps[this.#frames.length - 1]!;
      if (!frame.done.has(frame.chosen)) frame.done.set(frame.chosen, step);
      for (const agent of frame.backtrack) {
        if (frame.done.has(agent) || frame.sleep.has(agent)) continue;
        frame.chosen = agent;
        return true;
      }
      this.#frames.pop();
    }
  }

  /** The trace of the last execution. */
  canonical(): string {
    const counts = new I32(this.#count);
    const steps = this.#steps.slice(0, this.#depth);
    const nth = steps.map(({ agent }) => ++counts[agent]!);
    return steps.map(({ agent, kind, address, clock }, i) => {
      const before = [...clock!].map((last, other) => {
        let j = last - 1;
        while (j >= 0 && steps[j]!.agent !== other) j--;
        return j < 0 ? 0 : nth[j];
      });
      return `${agent}.${nth[i]}:${kind}@${address}<${before}`;
    }).sort().join(";");
  }
}

function raise(into: Int32Array, from: Int32Array): void {
  for (let i = 0; i < into.length; i++) {
    if (from[i]! > into[i]!) into[i] = from[i]!;
  }
}
