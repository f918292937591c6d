/**
 * States that are one because the loops of agents remember nothing. Automata of
 * the agents' calls say which states have the same future. The automata know
 * every answer that the search has met; if it meets another one, it begins
 * again.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Snapshot } from "../state/agent/snapshot.ts";
import { Automaton } from "./automaton.ts";
import type { Values } from "./trials.ts";
import { Apart, sightOf } from "./futures.ts";
import * as k from "../kinds.ts";
import { BLOCK } from "../state/agent/operation.ts";
import { CHANGED, STALE_READ } from "../state/agent/memo.ts";
import { realNow } from "../platform/native.ts";
import type { Engine } from "../step/replay.ts";
import { mix1, mix2, show } from "../values.ts";

/** The most nodes of the automata of one program. */
const MOST = 400_000;

/** States with the same future. */
interface Class {
  readonly key1: number;
  readonly key2: number;
  /** By agent: the state that stands for the class. */
  readonly faces: (Snapshot | undefined)[];
}

/** The classes of states of all agents. */
export class Classes {
  readonly #engine: Engine;
  readonly #results: boolean;
  readonly #until: number;
  readonly #polls: boolean;
  readonly #mostRuns: number;
  readonly #values: Values = new Map();
  readonly #automata = new Map<string, Automaton>();
  #classes = new Map<string, Class>();
  #faces = new WeakMap<Snapshot, Snapshot>();
  /** Whether agents are only watched, to learn which answers there are. */
  #learning = true;

  /**
   * With `results`, states in which calls returned other values differ. With
   * `polls`, agents may wait without sleeping. After the time `until`, or after
   * `mostRuns` runs of agents, automata are given up.
   */
  constructor(
    engine: Engine,
    results: boolean,
    polls: boolean,
    until: number,
    mostRuns: number,
  ) {
    this.#mostRuns = mostRuns;
    this.#engine = engine;
    this.#results = results;
    this.#polls = polls;
    this.#until = until;
  }

  /** How many answers are known. */
  get known(): number {
    let known = 0;
    for (const list of this.#values.values()) known += list.length;
    return known;
  }

  /** How often agents were run. */
  get runs(): number {
    let runs = 0;
    for (const automaton of this.#automata.values()) runs += automaton.runs;
    return runs;
  }

  /** Finds out which states have the same future. */
  prepare(): void {
    this.#learning = false;
    this.#classes = new Map();
    this.#faces = new WeakMap();
    const { agents } = this.#engine.world;
    for (const agent of agents) {
      if (agent.id !== agent.like) continue;
      for (let at = 0; at < agent.calls.length; at++) {
        const key = `${agent.like} ${at}`;
        let automaton = this.#automata.get(key);
        if (automaton === undefined) {
          const start = startOf(agent, at);
          automaton = new Automaton(
            this.#engine,
            agent,
            agents.length,
            start,
            this.#values,
          );
          this.#automata.set(key, automaton);
        }
        automaton.complete(
          MOST,
          () =>
            this.runs > this.#mostRuns ||
            realNow() > this.#until && (this.#engine.hurried = true),
        );
        automaton.classify();
      }
    }
  }

  /** Lets the state that stands for its class take the place of an agent's. */
  settle(before: readonly Snapshot[] | null): void {
    const { agents } = this.#engine.world;
    for (let i = 0; i < agents.length; i++) {
      const agent = agents[i]!;
      const state = agent.save();
      if (before !== null) {
        const from = before[i]!;
        if (from === state) continue;
        this.#note(from);
      }
      if (this.#learning) continue;
      const face = this.#faceOf(agent, state);
      if (face !== state) agent.load(face);
    }
  }

  /** Notes the answers that an agent got in a state. */
  #note(from: Snapshot): void {
    const { edges, kind, address } = from;
    if (edges === null) return;
    for (; from.proved < edges.length; from.proved++) {
      const { cause, value } = edges[from.proved]!;
      if ((cause & ~(CHANGED | STALE_READ)) !== 0) continue;
      if (value === BLOCK) continue;
      if (kind === k.WAIT || kind === k.NOTIFY || kind === k.WRITE) continue;
      let list = this.#values.get(address);
      if (list === undefined) this.#values.set(address, list = []);
      if (list.includes(value)) continue;
      list.push(value);
      if (!this.#learning) throw new Apart();
    }
  }

  /** The state that stands for the class of the agent's state. */
  #faceOf(agent: Agent, state: Snapshot): Snapshot {
    let face = this.#faces.get(state);
    if (face !== undefined) return face;
    const [key, busy] = this.#keyOf(agent, state);
    const looping = busy > 0;
    let same = this.#classes.get(key);
    if (same === undefined) {
      const id = this.#classes.size;
      const key1 = mix1(id, 0x2545f491);
      const key2 = mix2(id, 0x1b873593);
      this.#classes.set(key, same = { key1, key2, faces: [] });
    }
    face = same.faces[agent.id] ??= looping
      ? { ...state, looping, period: busy, edges: null }
      : state;
    face.key1 = same.key1;
    face.key2 = same.key2;
    this.#faces.set(state, face);
    return face;
  }

  /**
   * The class of a state as text, and how many operations a round has of the
   * loop in which the agent never sleeps, or 0.
   */
  #keyOf(agent: Agent, state: Snapshot): [key: string, busy: number] {
    const sight = sightOf(this.#engine, this.#results, agent, state);
    const { status, from, n, res, sig, oi, pure } = state;
    if (status === k.DONE || oi >= agent.calls.length) return [sight, 0];
    const automaton = this.#automata.get(`${agent.like} ${oi}`)!;
    const path = [0];
    for (let i = from; i < n; i++) {
      const next = automaton.find(path[i - from]!, res[i]);
      // The automaton has not met this answer.
      if (next === undefined) throw new Apart();
      path.push(next);
    }
    const classes = path.map((node) => automaton.classOf(node));
    const last = classes.at(-1)!;
    const text = `${last} ${sight}`;
    const round = classes.lastIndexOf(last, -2);
    if (round < 0) return [text, 0];
    const begin = from + round;
    let asleep = false;
    let operations = "";
    for (let i = begin; i < n; i++) {
      asleep ||= sig[i]! % 32 === k.WAIT && res[i] !== "not-equal";
      operations += ` ${sig[i]} ${show(res[i])}`;
    }
    // Two equal rounds that change nothing are a spin, so the last one counts.
    if (pure >= n - begin) return [text + operations, 0];
    return asleep || this.#polls
      ? [text, 0]
      : [`${text} busy${operations}`, n - begin];
  }
}

/** The state in which an agent begins a call with an empty record. */
export function startOf(agent: Agent, oi: number): Snapshot {
  return {
    ...agent.save(),
    oi,
    first: oi,
    n: 0,
    from: 0,
    res: [],
    sig: [],
    args: [],
    after1: [],
    after2: [],
    kept: [],
    edges: null,
    group: null,
  };
}
