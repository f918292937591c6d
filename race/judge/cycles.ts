/**
 * Starvation under weak fairness. An execution that goes on for ever is weakly
 * fair if each agent that can go on from some moment on, without a break, takes
 * a step again and again. An agent starves if there is such an execution in
 * which its call never ends, while calls of others end again and again.
 *
 * In a finite graph of states, such an execution exists if and only if a
 * strongly connected part has its steps (Lichtenstein and Pnueli 1985).
 *
 * @module
 */

/** A step from one state to another. */
export interface Arc {
  readonly from: number;
  readonly to: number;
  /** The scheduler's choice, and whose step it is. */
  readonly code: number;
  readonly agent: number;
  /** How many calls of each agent ended in it. */
  readonly ended: readonly number[];
}

/** A state. In each set of agents, agent `id` is the bit `1 << id`. */
export interface Place {
  readonly arcs: Arc[];
  /** The agents that can go on. */
  live: number;
  /** The agents inside a call. */
  readonly invoked: number;
  /** The agents that only wait until some time is over. */
  readonly timed: number;
  /** The judge's frontier. */
  readonly frontier: number;
}

/** An agent that starves, and steps that can come again for ever. */
export interface Starving {
  readonly agent: number;
  readonly cycle: readonly Arc[];
}

/**
 * Looks for one of `count` agents that starves. `couldEnd` says whether the
 * model would let an agent's call end in a state.
 */
export function starving(
  places: readonly Place[],
  count: number,
  couldEnd: (place: Place, agent: number) => boolean,
): Starving | undefined {
  for (let agent = 0; agent < count; agent++) {
    const bit = 1 << agent;
    const inCall = (at: number) => (places[at]!.invoked & bit) !== 0;
    const arcsOf = (at: number): Arc[] =>
      inCall(at)
        ? places[at]!.arcs.filter(({ to, ended }) =>
          inCall(to) && ended[agent] === 0
        )
        : [];
    for (const part of partsOf(places.length, arcsOf)) {
      const inside = new Set(part);
      const arcs = part.map((at) =>
        arcsOf(at).filter(({ to }) => inside.has(to))
      );
      const wanted = fairly(places, part, arcs.flat(), count, agent);
      const end = part.find((at) => couldEnd(places[at]!, agent));
      if (wanted === undefined || end === undefined) continue;
      const all = [...wanted, ({ to }: Arc) => to === end];
      return { agent, cycle: cycleOf(part, arcs, all) };
    }
  }
  return undefined;
}

/** Says of a step whether it is what a cycle needs. */
type Wanted = (arc: Arc) => boolean;

/**
 * What a cycle through all of `part` needs to be fair, and to let calls of
 * others than `starved` end; undefined if there is no such cycle.
 */
function fairly(
  places: readonly Place[],
  part: readonly number[],
  arcs: readonly Arc[],
  count: number,
  starved: number,
): Wanted[] | undefined {
  const ends = ({ ended }: Arc) =>
    ended.some((n, id) => id !== starved && n > 0);
  const wanted: Wanted[] = [ends];
  if (!arcs.some(ends)) return undefined;
  for (let id = 0; id < count; id++) {
    const bit = 1 << id;
    const isMine = ({ agent }: Arc) => agent === id;
    if (arcs.some(isMine)) {
      wanted.push(isMine);
      continue;
    }
    // Time goes on, so a timed wait does not last for ever.
    if (part.every((at) => (places[at]!.timed & bit) !== 0)) return undefined;
    const waits = part.find((at) => (places[at]!.live & bit) === 0);
    if (waits === undefined) return undefined;
    wanted.push(({ to }) => to === waits);
  }
  return wanted;
}

/** A cycle from the first state of `part` that has a step of each sort. */
function cycleOf(
  part: readonly number[],
  arcs: readonly (readonly Arc[])[],
  wanted: readonly Wanted[],
): Arc[] {
  const from = new Map(part.map((at, i) => [at, arcs[i]!]));
  const start = part.reduce((least, at) => Math.min(least, at));
  const cycle: Arc[] = [];
  let at = start;
  for (const want of wanted) {
    if (cycle.some(want)) continue;
    cycle.push(...wayTo(at, from, want));
    at = cycle.at(-1)!.to;
  }
  if (at !== start) cycle.push(...wayTo(at, from, ({ to }) => to === start));
  return cycle;
}

/** The shortest way from `start` that ends with a step of the wanted sort. */
function wayTo(
  start: number,
  from: ReadonlyMap<number, readonly Arc[]>,
  want: Wanted,
): Arc[] {
  const by = new Map<number, Arc | null>([[start, null]]);
  for (const at of by.keys()) {
    for (const arc of from.get(at)!) {
      if (want(arc)) {
        const way = [arc];
        for (let last = by.get(at)!; last !== null; last = by.get(last.from)!) {
          way.unshift(last);
        }
        return way;
      }
      if (!by.has(arc.to)) by.set(arc.to, arc);
    }
  }
  throw new Error("A strongly connected part has a way to each of its steps");
}

/**
 * The strongly connected parts of a graph that have a step (Tarjan 1972),
 * without recursion.
 */
function partsOf(
  size: number,
  arcsOf: (at: number) => readonly Arc[],
): number[][] {
  const parts: number[][] = [];
  const order = new Int32Array(size);
  const low = new Int32Array(size);
  const open = new Uint8Array(size);
  const stack: number[] = [];
  let count = 0;
  const enter = (at: number) => {
    order[at] = low[at] = ++count;
    open[at] = 1;
    stack.push(at);
    return { at, arcs: arcsOf(at), next: 0 };
  };
  for (let root = 0; root < size; root++) {
    if (order[root] !== 0) continue;
    const path = [enter(root)];
    while (path.length > 0) {
      const top = path.at(-1)!;
      const { at, arcs } = top;
      if (top.next < arcs.length) {
        const { to } = arcs[top.next++]!;
        if (order[to] === 0) path.push(enter(to));
        else if (open[to] === 1) low[at] = Math.min(low[at]!, order[to]!);
        continue;
      }
      path.pop();
      const above = path.at(-1)?.at;
      if (above !== undefined) low[above] = Math.min(low[above]!, low[at]!);
      if (low[at] !== order[at]) continue;
      const part = stack.splice(stack.lastIndexOf(at));
      for (const member of part) open[member] = 0;
      const loops = part.length > 1 || arcs.some(({ to }) => to === at);
      if (loops) parts.push(part);
    }
  }
  return parts;
}
