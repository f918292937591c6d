/**
 * Judges linearizability while an execution runs ("just in time", Lowe 2017
 * after Wing and Gong 1993). The judge holds a frontier: every pair of a model
 * state and a choice of pending operations that may already have taken effect.
 * It remembers frontiers and the steps between them. So the model becomes an
 * automaton, and a step costs one look-up.
 *
 * @module
 */
import type { Course, Monitor, Sleeper } from "../engine/state/watch.ts";
import { Misuse } from "../engine/kinds.ts";
import { type Call, Either, type Model } from "../engine/model.ts";
import { I32 } from "../engine/platform/native.ts";
import { keyOf, keyOfAnswer, show } from "../engine/values.ts";

/** A possible past: a model state, and each pending operation's result. */
interface Config {
  readonly state: number;
  /** By agent: 0, or 1 + the result of an operation that took effect. */
  readonly results: Int32Array;
}

interface Frontier {
  /** By agent: 0, or 1 + its pending call. */
  readonly pending: Int32Array;
  /** By agent: whether another operation overlapped its pending one. */
  readonly overlapped: Int32Array;
  readonly configs: readonly Config[];
}

interface Edge {
  readonly state: number;
  readonly result: number;
  readonly contended: boolean;
  readonly timedOut: boolean;
}

const AGENTS = 32;
const CALLS = 65536;

/** A number; a text, where numbers would be too large to differ. */
type Key = number | string;

/** The key of an agent's step from a frontier, by a call or with an answer. */
const keyOfMove = (
  frontier: number,
  agent: number,
  id: number,
  ends: number,
): Key =>
  id < CALLS
    ? ((frontier * AGENTS + agent) * CALLS + id) * 2 + ends
    : `${frontier} ${agent} ${id} ${ends}`;

/** Judges histories of a fixed number of agents against a model. */
export class Judge implements Monitor {
  readonly #model: Model;
  readonly #agents: number;
  readonly #states: unknown[] = [];
  readonly #stateIds = new Map<unknown, number>();
  readonly #calls: Call[] = [];
  readonly #callIds = new Map<string, number>();
  readonly #idOfCall = new WeakMap<Call, number>();
  /** Arguments that are, or hold, functions. */
  readonly #argIds = new Map<unknown, number>();
  readonly #results: unknown[] = [];
  readonly #resultIds = new Map<unknown, number>();
  readonly #edges = new Map<Key, readonly Edge[]>();
  /** Calls, by agent, that wait in some state of the model. */
  readonly #blocking = new Set<number>();
  /**
   * Calls that were taken for calls that never wait, which excused a sleeper.
   */
  readonly #excused = new Set<number>();
  readonly #frontiers: Frontier[] = [];
  readonly #frontierIds = new Map<string, number>();
  readonly #moves = new Map<Key, number>();
  readonly #held = new Map<string, boolean>();
  /**
   * By the order of agents: the same frontiers for the agents in that order.
   */
  readonly #arranged = new Map<Key, Map<number, number>>();
  #initial = -1;

  /** A judge for programs of `agents` agents. */
  constructor(model: Model, agents: number) {
    this.#model = model;
    this.#agents = agents;
  }

  /** How many frontiers were met. */
  get size(): number {
    return this.#frontiers.length;
  }

  /** The frontier before anything happened. */
  initial(): number {
    if (this.#initial < 0) {
      const none = new I32(this.#agents);
      const state = this.#stateId(this.#model.init);
      this.#initial = this.#intern(none, none, [{ state, results: none }]);
    }
    return this.#initial;
  }

  /** The frontier after `agent` began `call`. */
  invoke(frontier: number, agent: number, call: Call): number {
    const id = this.#callId(call);
    const key = keyOfMove(frontier, agent, id, 0);
    const known = this.#moves.get(key);
    if (known !== undefined) return known;
    const { pending, overlapped, configs } = this.#frontiers[frontier]!;
    const nowPending = pending.slice();
    const nowOverlapped = overlapped.slice();
    nowPending[agent] = id + 1;
    nowOverlapped[agent] = 0;
    for (let other = 0; other < this.#agents; other++) {
      if (other === agent || nowPending[other] === 0) continue;
      nowOverlapped[other] = nowOverlapped[agent] = 1;
    }
    const next = this.#intern(nowPending, nowOverlapped, configs);
    this.#moves.set(key, next);
    return next;
  }

  /**
   * The frontier after `agent`'s pending call answered `result`, or -1 if no
   * sequential order of operations explains that.
   */
  answer(frontier: number, agent: number, result: unknown): number {
    const id = this.#resultId(result) + 1;
    const key = keyOfMove(frontier, agent, id, 1);
    const known = this.#moves.get(key);
    if (known !== undefined) return known;
    const now = this.#frontiers[frontier]!;
    const configs: Config[] = [];
    const seen = new Set<string>();
    const search = (config: Config): void => {
      const { state, results } = config;
      if (results[agent] !== 0) {
        if (results[agent] !== id) return;
        const rest = results.slice();
        rest[agent] = 0;
        configs.push({ state, results: rest });
        return;
      }
      const text = textOf(config);
      if (seen.has(text)) return;
      seen.add(text);
      this.#eachEffect(now, config, (other, next) => {
        if (other !== agent || next.results[agent] === id) search(next);
      });
    };
    now.configs.forEach(search);
    let next = -1;
    if (configs.length > 0) {
      const pending = now.pending.slice();
      const overlapped = now.overlapped.slice();
      pending[agent] = overlapped[agent] = 0;
      next = this.#intern(pending, overlapped, configs);
    }
    this.#moves.set(key, next);
    return next;
  }

  /** The frontier in which the agents have the places that `order` gives. */
  arrange(frontier: number, order: readonly number[]): number {
    let code = 0;
    let same = true;
    for (let i = 0; i < order.length; i++) {
      if (order[i] !== i) same = false;
      code = code * AGENTS + order[i]!;
    }
    if (same) return frontier;
    const key = code <= Number.MAX_SAFE_INTEGER ? code : order.join();
    let known = this.#arranged.get(key);
    if (known === undefined) this.#arranged.set(key, known = new Map());
    let next = known.get(frontier);
    if (next === undefined) {
      const { pending, overlapped, configs } = this.#frontiers[frontier]!;
      const move = (old: Int32Array) => old.map((_, i) => old[order[i]!]!);
      next = this.#intern(
        move(pending),
        move(overlapped),
        configs.map(({ state, results }) => ({
          state,
          results: move(results),
        })),
      );
      known.set(frontier, next);
    }
    return next;
  }

  /**
   * Whether the agents `asleep` may sleep for ever. They may if, after some
   * possible past, none of their operations has taken effect and the model
   * cannot complete any of them. Operations of the agents in the bit set
   * `suspended` may or may not have taken effect.
   */
  mayWait(
    frontier: number,
    asleep: readonly Sleeper[],
    suspended: number,
  ): boolean {
    const now = this.#frontiers[frontier]!;
    const seen = new Set<string>();
    const search = (config: Config): boolean => {
      const text = textOf(config);
      if (seen.has(text)) return false;
      seen.add(text);
      if (asleep.every((sleeper) => this.#mustWait(now, config, sleeper))) {
        return true;
      }
      let found = false;
      this.#eachEffect(now, config, (other, next) => {
        if (!found && (suspended >> other & 1) === 1) found = search(next);
      });
      return found;
    };
    return now.configs.some(search);
  }

  /**
   * Whether the agents `asleep` wait for agents that have stopped. Two things
   * must hold. The calls that `stopped` still had to make would let one go on.
   * And one could go on if the stopped agents had never existed; `others` are
   * the calls of all other agents, from the first call to the current one. An
   * agent that waits for a lock that a stopped agent holds is held up. An agent
   * that waits for an item or a signal that never came is not.
   */
  heldUp(
    frontier: number,
    asleep: readonly Sleeper[],
    stopped: readonly Course[],
    others: readonly Course[],
  ): boolean {
    const waiting = asleep.filter((sleeper) =>
      !sleeper.timed || !this.#mayGiveUp(frontier, sleeper.agent)
    );
    if (waiting.length === 0 || stopped.length === 0) return false;
    const text = (courses: readonly Course[]) =>
      courses.map(({ agent, calls }) => `${agent}:${calls.length}`).join();
    const key = `${frontier}|${waiting.map(({ agent }) => agent)}|` +
      `${text(stopped)}|${text(others)}`;
    let held = this.#held.get(key);
    if (held === undefined) {
      held = this.#couldHelp(frontier, waiting, stopped) &&
        this.#couldEnd(waiting, others);
      this.#held.set(key, held);
    }
    return held;
  }

  /**
   * Whether the pending call of an agent may end although it waits. If not, the
   * end of a timed sleep only makes it look again.
   */
  #mayGiveUp(frontier: number, agent: number): boolean {
    const { configs, pending } = this.#frontiers[frontier]!;
    const call = pending[agent]! - 1;
    return call < 0 ||
      configs.some(({ state, results }) =>
        results[agent] !== 0 || this.#edgesOf(state, call, agent).length > 0
      );
  }

  /** Whether calls that were never made would let one of `asleep` go on. */
  #couldHelp(
    frontier: number,
    asleep: readonly Sleeper[],
    stopped: readonly Course[],
  ): boolean {
    const now = this.#frontiers[frontier]!;
    return now.configs.some(({ state, results }) => {
      const rest = stopped.map((course) =>
        course.begun && results[course.agent] !== 0
          ? { ...course, calls: course.calls.slice(1) }
          : course
      );
      const calls = asleep.map(({ agent }) => ({
        agent,
        call: this.#calls[now.pending[agent]! - 1],
      }));
      return this.#reaches(
        state,
        rest,
        (state) =>
          calls.some(({ agent, call }) =>
            call !== undefined &&
            this.#edgesOf(state, this.#callId(call), agent).length > 0
          ),
      );
    });
  }

  /** Whether all of `others` could end without help. */
  #couldEnd(asleep: readonly Sleeper[], others: readonly Course[]): boolean {
    const state = this.#stateId(this.#model.init);
    return this.#reaches(
      state,
      others,
      (_, left) =>
        asleep.some(({ agent }) =>
          left[others.findIndex((other) => other.agent === agent)] === 0
        ),
    );
  }

  /** Whether the calls, in some order, lead from `start` to a wanted state. */
  #reaches(
    start: number,
    courses: readonly Course[],
    wanted: (state: number, left: readonly number[]) => boolean,
  ): boolean {
    const seen = new Set<string>();
    const search = (state: number, left: readonly number[]): boolean => {
      const key = `${state}:${left}`;
      if (seen.has(key)) return false;
      seen.add(key);
      if (wanted(state, left)) return true;
      return courses.some(({ agent, calls }, i) => {
        if (left[i] === 0) return false;
        const call = this.#callId(calls[calls.length - left[i]!]!);
        const after = left.map((n, at) => at === i ? n - 1 : n);
        return this.#safeEdges(state, call, agent)
          .some((edge) => search(edge.state, after));
      });
    };
    return search(start, courses.map(({ calls }) => calls.length));
  }

  /** The model's outcomes; none, if it throws for the call in this state. */
  #safeEdges(state: number, call: number, agent: number): readonly Edge[] {
    try {
      return this.#edgesOf(state, call, agent);
    } catch {
      return [];
    }
  }

  /** Whether, in `config`, the sleeper's operation cannot complete. */
  #mustWait(now: Frontier, config: Config, { agent, timed }: Sleeper): boolean {
    const pending = now.pending[agent]!;
    if (pending === 0) return true;
    if (config.results[agent] !== 0) return false; // took effect, yet waits
    const edges = this.#edgesOf(config.state, pending - 1, agent)
      .filter((edge) => !edge.timedOut)
      .filter((edge) => !edge.contended || now.overlapped[agent] === 1);
    if (edges.length === 0) return true;
    // If an operation never blocks in the model, all it can do here is give up
    // when its time is over: one answer, which changes nothing.
    if (!timed || edges.length > 1 || edges[0]!.state !== config.state) {
      return false;
    }
    if (this.#blocks(pending - 1, agent)) return false;
    this.#excused.add((pending - 1) * AGENTS + agent);
    return true;
  }

  /**
   * Whether a sleeper was excused because its operation never blocks in the
   * model, although a state met later shows that it does. Then everything must
   * be judged again.
   */
  regrets(): boolean {
    const excused = [...this.#excused];
    this.#excused.clear();
    return excused.filter((key) =>
      this.#blocks(Math.floor(key / AGENTS), key % AGENTS)
    ).length > 0;
  }

  /** Whether `call` waits in any model state that was met. */
  #blocks(call: number, agent: number): boolean {
    const key = call * AGENTS + agent;
    for (let state = 0; state < this.#states.length; state++) {
      if (this.#blocking.has(key)) return true;
      try {
        this.#edgesOf(state, call, agent);
      } catch (error) {
        // A model may throw for a call that the program never makes there.
        if (error instanceof Misuse) throw error;
      }
    }
    return this.#blocking.has(key);
  }

  /** Visits each way in which a pending operation can take effect. */
  #eachEffect(
    now: Frontier,
    config: Config,
    visit: (agent: number, next: Config) => void,
  ): void {
    for (let agent = 0; agent < this.#agents; agent++) {
      const pending = now.pending[agent]!;
      if (pending === 0 || config.results[agent] !== 0) continue;
      for (const edge of this.#edgesOf(config.state, pending - 1, agent)) {
        if (edge.contended && now.overlapped[agent] === 0) continue;
        const results = config.results.slice();
        results[agent] = edge.result + 1;
        visit(agent, { state: edge.state, results });
      }
    }
  }

  /** The states the model could be in, as text. */
  explain(frontier: number): string {
    const states = new Set(
      this.#frontiers[frontier]!.configs.map(({ state }) =>
        show(this.#states[state])
      ),
    );
    const shown = [...states].slice(0, 4).join(" or ");
    return `the model's state is ${shown}${states.size > 4 ? " or ..." : ""}`;
  }

  /** The answers that the pending call of `agent` could give, as text. */
  allowed(frontier: number, agent: number): string {
    const now = this.#frontiers[frontier]!;
    const answers = new Set<string>();
    const seen = new Set<string>();
    const search = (config: Config): void => {
      const text = textOf(config);
      if (seen.has(text)) return;
      seen.add(text);
      const result = config.results[agent]!;
      if (result !== 0) answers.add(show(this.#results[result - 1]));
      else this.#eachEffect(now, config, (_, next) => search(next));
    };
    now.configs.forEach(search);
    return answers.size === 0 ? "to wait" : [...answers].join(" or ");
  }

  #edgesOf(state: number, call: number, agent: number): readonly Edge[] {
    const key = call < CALLS
      ? (state * CALLS + call) * AGENTS + agent
      : `${state} ${call} ${agent}`;
    const known = this.#edges.get(key);
    if (known !== undefined) return known;
    const answer = this.#model.step(
      this.#states[state],
      this.#calls[call]!,
      agent,
    );
    if (answer === null) this.#blocking.add(call * AGENTS + agent);
    const outcomes = answer === null || answer === undefined
      ? []
      : answer instanceof Either
      ? answer.outcomes
      : [answer];
    const edges = outcomes.map(([next, result, when]) => ({
      state: this.#stateId(next),
      result: this.#resultId(result),
      contended: when?.contended === true,
      timedOut: when?.timedOut === true,
    }));
    this.#edges.set(key, edges);
    return edges;
  }

  #stateId(state: unknown): number {
    // No two states are one that the model can tell apart.
    const key = Object.is(state, -0) ? "-0" : keyOf(state, true);
    let id = this.#stateIds.get(key);
    if (id === undefined) {
      this.#stateIds.set(key, id = this.#states.push(state) - 1);
    }
    return id;
  }

  #resultId(result: unknown): number {
    const key = keyOfAnswer(result);
    let id = this.#resultIds.get(key);
    if (id === undefined) {
      this.#resultIds.set(key, id = this.#results.push(result) - 1);
    }
    return id;
  }

  #callId(call: Call): number {
    const known = this.#idOfCall.get(call);
    if (known !== undefined) return known;
    const { arg } = call;
    // A name, or a text, does not tell which function it is.
    const text = String(keyOf(arg));
    const holds = typeof arg === "function" ||
      typeof arg === "object" && /\bfunction /.test(text);
    if (holds && !this.#argIds.has(arg)) {
      this.#argIds.set(arg, this.#argIds.size);
    }
    const which = holds ? this.#argIds.get(arg) : typeof arg;
    const sign = Object.is(arg, -0) ? "-" : "";
    const key = `${call.op}\0${which} ${sign}${text}`;
    let id = this.#callIds.get(key);
    if (id === undefined) {
      this.#callIds.set(key, id = this.#calls.push(call) - 1);
    }
    this.#idOfCall.set(call, id);
    return id;
  }

  #intern(
    pending: Int32Array,
    overlapped: Int32Array,
    configs: readonly Config[],
  ): number {
    const distinct = new Map(configs.map((c) => [textOf(c), c]));
    const key = `${pending.join()}|${overlapped.join()}|` +
      [...distinct.keys()].sort().join(";");
    let id = this.#frontierIds.get(key);
    if (id === undefined) {
      id = this.#frontiers.length;
      this.#frontierIds.set(key, id);
      const kept = [...distinct.values()];
      this.#frontiers.push({ pending, overlapped, configs: kept });
    }
    return id;
  }
}

const textOf = ({ state, results }: Config): string =>
  `${state}:${results.join()}`;

// ---- whole histories --------------------------------------------------------

/** One finished operation of a recorded history. */
export interface Event {
  readonly agent: number;
  readonly call: Call;
  readonly result: unknown;
  /** When it began and ended, by one clock. */
  readonly begin: number;
  readonly end: number;
}

/** Whether some sequential order explains a recorded history. */
export function explains(judge: Judge, events: readonly Event[]): boolean {
  const moments = events.flatMap((event) => [
    { at: event.begin, event, ends: false },
    { at: event.end, event, ends: true },
  ]).sort((a, b) => a.at - b.at);
  let frontier = judge.initial();
  for (const { event: { agent, call, result }, ends } of moments) {
    frontier = ends
      ? judge.answer(frontier, agent, result)
      : judge.invoke(frontier, agent, call);
    if (frontier < 0) return false;
  }
  return true;
}
