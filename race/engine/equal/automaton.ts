/**
 * What a call of an agent does, as an automaton: before each operation there is
 * a node, and each answer leads to a node. A round of a loop leads back to the
 * node before it, if the agent does the same with that round and without it on
 * many random walks. So a call whose loops remember nothing has finitely many
 * nodes, and it can be found out which of them have the same future.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Snapshot } from "../state/agent/snapshot.ts";
import { keyOf, mix1, mix2 } from "../values.ts";
import { type Pending, STOP, walk, type Walker } from "../step/walk.ts";
import { Trials, type Values } from "./trials.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/**
 * How many walks show that a round makes no difference, where a loop comes
 * first, and how many show it elsewhere.
 */
const WALKS = 42;
const PLACES = 3;
const FEW = 3;

/** Too many nodes, or a call that cannot be tried out. */
export class Endless extends Error {}

/** Before an operation, or after the end of a call. */
interface Node {
  /** What the agent does here, as text. */
  readonly does: string;
  readonly operation: Pending | null;
  /** The node before, and the answer that led here. */
  readonly parent: number;
  readonly answer: Any;
  readonly next: Map<Any, number>;
  /** Its class. */
  same: number;
}

/** An answer after which an agent is before a node that it came from. */
interface Turn {
  readonly parent: number;
  readonly answer: Any;
  readonly to: number;
}

/** The automaton of a call. */
export class Automaton {
  readonly #nodes: Node[] = [];
  #runs = 0;
  readonly #engine: Walker;
  readonly #agent: Agent;
  readonly #start: Snapshot;
  readonly #trials: Trials;
  /** In how many places a round was tried. */
  readonly #tried = new Map<string, number>();
  /** The answers that led back to an earlier node. */
  #turns: Turn[] = [];

  /**
   * For the call that `agent`, one of `count`, begins in the state `start`.
   * `values` are those that operations have answered so far.
   */
  constructor(
    engine: Walker,
    agent: Agent,
    count: number,
    start: Snapshot,
    values: Values,
  ) {
    this.#engine = engine;
    this.#agent = agent;
    this.#start = start;
    this.#trials = new Trials(engine, agent, count, start, values);
    this.#reach(-1, undefined);
  }

  /** How often the agent was run. */
  get runs(): number {
    return this.#runs + this.#trials.runs;
  }

  /** Gives every node all answers that are known; at most `most` nodes. */
  complete(most: number, late: () => boolean): void {
    // With answers that are new, a round may make a difference after all.
    const turns = this.#turns;
    this.#turns = [];
    this.#tried.clear();
    for (const turn of turns) {
      const { parent, answer, to } = turn;
      if (this.#forgets(to, [...this.#log(parent), answer])) {
        this.#turns.push(turn);
      } else this.#nodes[parent]!.next.delete(keyOf(answer));
    }
    for (let at = 0; at < this.#nodes.length; at++) {
      const { operation } = this.#nodes[at]!;
      if (operation === null) continue;
      const { next } = this.#nodes[at]!;
      for (const answer of this.#trials.answers(operation)) {
        const key = keyOf(answer);
        if (!next.has(key)) next.set(key, this.#reach(at, answer));
      }
      if (this.#nodes.length > most || (at & 63) === 0 && late()) {
        throw new Endless();
      }
    }
  }

  /** The node that an answer leads to, if that is known. */
  find(at: number, answer: Any): number | undefined {
    return this.#nodes[at]!.next.get(keyOf(answer));
  }

  /** The class of a node: nodes of a class have the same future. */
  classOf(at: number): number {
    return this.#nodes[at]!.same;
  }

  /**
   * Finds the classes: at first, nodes are the same if the agent does the same
   * there; then those are told apart from which answers lead to other classes.
   */
  classify(): void {
    const nodes = this.#nodes;
    const ids = new Map<unknown, number>();
    const idOf = (key: unknown): number => {
      let id = ids.get(key);
      if (id === undefined) ids.set(key, id = ids.size);
      return id;
    };
    for (const node of nodes) node.same = idOf(node.does);
    const labels = new Map<unknown, number>();
    const edges = nodes.map(({ next }) =>
      [...next].map(([answer, to]) => {
        let label = labels.get(answer);
        if (label === undefined) labels.set(answer, label = labels.size);
        return { label, to };
      }).sort((a, b) => a.label - b.label)
    );
    for (let count = 0; count < ids.size;) {
      count = ids.size;
      ids.clear();
      const fresh = edges.map((list, at) => {
        const { same } = nodes[at]!;
        let a = mix1(same, 1);
        let b = mix2(same, 2);
        for (const { label, to } of list) {
          a = mix1(mix1(a, label), nodes[to]!.same);
          b = mix2(mix2(b, label), nodes[to]!.same);
        }
        return idOf((a >>> 0) * 0x200000 + (b >>> 11));
      });
      fresh.forEach((same, at) => nodes[at]!.same = same);
    }
  }

  /** Runs the agent to where an answer leads it. */
  #reach(parent: number, answer: Any): number {
    const log = parent < 0 ? [] : [...this.#log(parent), answer];
    let at = 0;
    this.#runs++;
    const { stopped, end, result } = walk(
      this.#engine,
      this.#agent,
      this.#start,
      () => at < log.length ? log[at++] : STOP,
    );
    if (end === "left") throw new Endless();
    if (stopped === null) {
      const does = `${end} ${String(keyOf(result))}`;
      return this.#add(does, null, parent, answer);
    }
    const operation = stopped;
    const { kind, address, size, a, b, timeout } = operation;
    const does = `${kind} ${address} ${size} ${String(keyOf(a))} ` +
      `${String(keyOf(b))} ${timeout}`;
    // The farthest node from which on everything may be forgotten.
    let back = -1;
    for (let up = parent; up > 0; up = this.#nodes[up]!.parent) {
      if (this.#nodes[up]!.does !== does) continue;
      if (!this.#forgets(up, log)) break;
      back = up;
    }
    if (back >= 0) {
      this.#turns.push({ parent, answer, to: back });
      return back;
    }
    return this.#add(does, operation, parent, answer);
  }

  #add(
    does: string,
    operation: Pending | null,
    parent: number,
    answer: Any,
  ): number {
    const next = new Map<Any, number>();
    const node = { does, operation, parent, answer, next, same: 0 };
    return this.#nodes.push(node) - 1;
  }

  /** The answers that lead to a node. */
  #log(at: number): Any[] {
    const log: Any[] = [];
    for (let up = at; up > 0; up = this.#nodes[up]!.parent) {
      log.push(this.#nodes[up]!.answer);
    }
    return log.reverse();
  }

  /** Whether an agent does the same after `log` as in the node `base`. */
  #forgets(base: number, log: readonly Any[]): boolean {
    const short = this.#log(base);
    const round = log.slice(short.length).map((answer) => keyOf(answer));
    const key = `${this.#nodes[base]!.does} ${round.join()}`;
    const places = this.#tried.get(key) ?? 0;
    const walks = places < PLACES ? WALKS : FEW;
    if (!this.#trials.agree(short, log, walks)) return false;
    this.#tried.set(key, places + 1);
    return true;
  }
}
