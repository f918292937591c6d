/**
 * What becomes of an operation that an agent does. If it is on the agent's
 * record, it is answered as before. If not, the agent is suspended until it is
 * chosen; then the operation is done, and put on the record.
 *
 * @module
 */
import type { Agent } from "../state/agent/agent.ts";
import type { Snapshot } from "../state/agent/snapshot.ts";
import { follow, peek, peekLocal, SPINS } from "./loops/ahead.ts";
import {
  argBits,
  BLOCK,
  signature,
  signedAddress,
} from "../state/agent/operation.ts";
import { CHANGED } from "../state/agent/memo.ts";
import { NotConstant } from "../signals.ts";
import { placeOf, siteOf } from "../sites.ts";
import { LONGEST, LOOKS, looksAtClock } from "./loops/looks.ts";
import { doAlone, mustGoOn } from "./loops/alone.ts";
import { show } from "../values.ts";
import type { Target } from "../platform/views.ts";
import { leave, step } from "./walk.ts";
import type { Stage } from "./stage.ts";
import { Told } from "./told.ts";
import * as k from "../kinds.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Decides which agent goes on. */
export interface Chooser {
  /** A choice, or `END`, or `CUT`. */
  choose(engine: Operations): number;
}

/** What an operation is answered with to be done once more. */
const RESUMED: unique symbol = Symbol("resumed");

/** Up to this many reads of constants in a row do not count as a step. */
export const CONSTANTS = 500;

/**
 * Counts a step that may belong to an operation that never ends. Where there
 * were many, one that does something to a word for the first time in its call
 * does not count: memory has an end, so these do.
 */
export function toil({ maxSteps, world }: Told, agent: Agent): void {
  if (agent.ends > agent.n) return;
  if (agent.effort >= maxSteps && agent.target?.region === world.memory.main) {
    const { kind, address, sig, from, n } = agent;
    const at = sig.indexOf(signature(kind, address), from);
    if (at < 0 || at >= n) return;
  }
  agent.effort++;
}

/** An exploration that does the operations of its agents. */
export abstract class Operations extends Told {
  chooser: Chooser | null = null;
  /** Where the agent on the stack is suspended, if it need not leave it. */
  protected stage: Stage<unknown> | null = null;
  /** The number of the run that is on the stack, among its agent's. */
  protected runNow = 0;
  /** Whether the agent on the stack awaits something. */
  protected promised = false;
  /**
   * How many constants were read since the last step, and which was the last.
   */
  protected constants = 0;
  protected constant: { target: Target; index: number } | null = null;
  /** Whether the current call has not reached an operation yet. */
  protected idle = false;
  readonly #sitesByPlace = new Map<string, string>();

  /** Prepares the agent for a replay. */
  abstract rewind(agent: Agent): void;

  /** Runs an agent from where its record begins. */
  abstract run(agent: Agent): void;

  /**
   * Whether a plain read is of a word that no agent was ever seen to write.
   * Then it need not be a step. Many such reads in a row may be a loop that
   * waits for a write.
   */
  #isConstant({ region, base, size }: Target, index: number): boolean {
    if (this.scenario.async || ++this.constants > CONSTANTS) return false;
    return this.world.memory.isConstant(region, base + index * size, size);
  }

  /** Does an operation of the agent on the stack. */
  operate(
    kind: number,
    target: Target | null,
    index: number,
    a: Any,
    b: Any,
    timeout: number,
  ): Any {
    if (this.unwinding) return this.caught.answer(kind, target, index, a, b);
    const agent = this.current!;
    const address = target === null
      ? k.NOWHERE
      : target.base + index * target.size;
    if (this.handles.making) {
      return this.handles.operate(kind, target, index, a, b, timeout);
    }
    if (kind === k.READ && this.#isConstant(target!, index)) {
      const { look } = this;
      if (look !== null && look.constants-- <= 0) throw this.suspend();
      this.constant = { target: target!, index };
      return target!.peek(index);
    }
    for (;;) {
      this.constants = 0;
      this.idle = false;
      const { pos, n } = agent;
      if (pos < n) {
        if (
          agent.sig[pos] !== signature(kind, address) ||
          agent.args[pos] !== argBits(a, b)
        ) {
          this.strayed = `${n - pos} ${kind} ${address} ${show(a)} ${show(b)}`;
          this.#mismatch(agent, kind, address, agent.sig[pos]!);
        }
        agent.pos = pos + 1;
        return agent.res[pos];
      }
      if (this.grant === agent) this.#checkGrant(agent, kind, address, a);
      if (this.verifying) {
        this.verifying = false;
        throw this.suspend();
      }
      agent.kind = kind;
      agent.target = target;
      agent.index = index;
      agent.address = address;
      agent.size = target === null ? 0 : target.size;
      agent.a = a;
      agent.b = b;
      agent.timeout = timeout;
      if (kind === k.SEND || kind === k.TAKE) this.#mustBeReal();
      if (this.walk !== null) return step(this, agent);
      if (this.look !== null) return peek(this, agent);
      agent.snapshot = null;
      if (this.alone !== null) return doAlone(this, agent);
      const result = this.#reach(agent);
      if (result !== RESUMED) return result;
    }
  }

  /** Suspends the agent on the stack, if it is only tried out. */
  #mustBeReal(): void {
    const { walk, look, alone } = this;
    if (walk !== null) leave(this);
    if (look !== null) look.escaped = true;
    if (alone !== null) alone.ended = true;
    if (look !== null || alone !== null) throw this.suspend();
  }

  /** Does something that concerns one agent only, so no other can step in. */
  local(kind: number, a: number, perform: (agent: Agent) => Any): Any {
    if (this.unwinding) return this.caught.local(kind);
    const agent = this.current!;
    if (this.handles.making) {
      return this.refuse(
        "Cannot set a timer in agent(): do it in an operation",
      );
    }
    if (this.walk !== null) leave(this);
    const { pos } = agent;
    if (pos < agent.n) {
      if (agent.sig[pos] !== signature(kind, k.NOWHERE)) {
        this.#mismatch(agent, kind, k.NOWHERE, agent.sig[pos]!);
      }
      agent.pos = pos + 1;
      return agent.res[pos];
    }
    if (this.verifying) {
      this.verifying = false;
      if (this.look !== null) this.look.escaped = true;
      throw this.suspend();
    }
    if (this.look !== null) return peekLocal(this, agent, kind);
    agent.snapshot = null;
    agent.kind = kind;
    agent.address = k.NOWHERE;
    this.world.prospects.step(agent, null);
    const result = perform(agent);
    this.world.note(agent, result);
    agent.record(signature(kind, k.NOWHERE), argBits(a, 0), result);
    agent.pos = agent.n;
    const mayLoop = kind === k.POST && !this.blind && this.alone === null;
    if (mayLoop && follow(this, agent) === SPINS) agent.spinNext = true;
    return result;
  }

  /** Checks that the agent does the operation that it was known to do next. */
  #checkGrant(agent: Agent, kind: number, address: number, a: Any): void {
    if (kind === k.CLOCK || this.verifying || this.look !== null) return;
    const known = agent.kind === kind && agent.address === address &&
      Object.is(agent.a, a);
    if (known) return;
    this.strayed = `0 ${kind} ${address} ${show(a)}`;
    this.#mismatch(agent, kind, address, signature(agent.kind, agent.address));
  }

  #mismatch(agent: Agent, kind: number, address: number, was: number): never {
    if (this.verifying) {
      this.verifying = false;
      throw this.suspend();
    }
    this.#fail(agent, kind, address, was % 32, signedAddress(was));
    throw this.suspend();
  }

  #fail(
    { id }: Agent,
    kind: number,
    address: number,
    oldKind: number,
    oldAddress: number,
  ): void {
    const name = (kind: number, address: number) =>
      `${k.OP_NAMES[kind]} ${this.world.memory.nameOf(address)}`.trim();
    this.world.fail(
      "nondeterministic",
      `agent ${id} did ${name(kind, address)} on replay where it first did ` +
        `${name(oldKind, oldAddress)}, or did it with other arguments: code ` +
        `under test may depend only on shared memory and its arguments`,
    );
  }

  /** Reports that an agent did not come to the state `was` again. */
  differs(agent: Agent, was: Snapshot): void {
    this.doubtStacks();
    this.#fail(agent, agent.kind, agent.address, was.kind, was.address);
  }

  /**
   * An agent did something else when it was run from its start. If agents went
   * on that were suspended on the stack, the exploration begins again without.
   */
  protected doubtStacks(): void {
    if (!this.resumed) return;
    this.world.fault = null;
    this.keepsStacks = false;
    throw new NotConstant();
  }

  /** Handles an operation that the agent has not done yet. */
  #reach(agent: Agent): Any {
    const { world } = this;
    if (world.fault !== null) throw this.suspend();
    if (this.sites) agent.site = this.#siteNow();
    if (agent.spinNext) {
      agent.spinNext = false;
      agent.status = k.SPINNING;
      agent.deadline = agent.tick
        ? world.now + Math.min(1000 ** agent.idleFires, LONGEST)
        : Infinity;
      agent.tick = false;
      return this.#pause(agent);
    }
    if (agent.kind === k.CLOCK) return this.#clock(agent);
    if (this.leaping > 0 && this.grant === null) {
      this.leaping--;
      return this.#perform(agent, 0);
    }
    agent.status = k.READY;
    if (this.grant === agent) {
      this.grant = null;
      return this.#perform(agent, this.age);
    }
    if (this.whole.on && this.#isInside(agent)) return this.#goFurther(agent);
    // Woken agents must be run to their next operation before the next choice.
    if (!this.inline || world.woken.length > 0) return this.#pause(agent);
    const code = this.isLate(agent.n) ? k.END : this.chooser!.choose(this);
    const action = k.actionOf(code);
    const mine = k.agentOf(code) === agent.id;
    const steps = action === k.STEP || action === k.STALE || action === k.LEAP;
    if (code >= 0 && mine && steps) {
      world.schedule.push(code);
      const number = k.numberOf(code);
      if (action === k.LEAP) this.leaping = number - 1;
      return this.#perform(agent, action === k.STALE ? number : 0);
    }
    this.next = code;
    return this.#pause(agent);
  }

  /**
   * Suspends the agent on the stack before its operation. If it need not leave
   * the stack, the search goes on there, on top of the agent, until the agent
   * goes on from just this state or must leave. It then does its operation.
   */
  #pause(agent: Agent): Any {
    const stage = this.stage;
    if (stage === null || !this.#mayPause(agent)) throw this.suspend();
    const { drawn, begun, allocations, runs } = agent;
    const { depth, within, wholes, entered, keeper } = agent;
    this.stage = this.current = null;
    const goesOn = stage.pause(agent);
    this.stage = stage;
    this.current = agent;
    if (!goesOn) throw this.suspend();
    this.resumed = true;
    this.unwinding = false;
    this.runNow = runs;
    this.ports.clear();
    agent.drawn = drawn;
    agent.begun = begun;
    agent.allocations = allocations;
    agent.depth = depth;
    agent.within = within;
    agent.wholes = wholes;
    agent.entered = entered;
    agent.keeper = keeper;
    agent.merged = agent.returned = -1;
    agent.snapshot = null;
    return RESUMED;
  }

  /**
   * Whether nothing is known of the agent but its record, so that its frames on
   * the stack are as good as a replay.
   */
  #mayPause(agent: Agent): boolean {
    const { world, whole, drops, ports, trusts, sites } = this;
    return this.keepsStacks && trusts && !sites && world.trace === null &&
      this.runNow === agent.runs && !whole.on && !drops.used &&
      ports.size === 0 && world.fault === null && !world.memory.surprised &&
      this.refused === null && !this.promised && !mustGoOn(this, agent);
  }

  /**
   * Whether the agent is in a whole operation of a primitive, and has taken its
   * step there already. Then what it does next belongs to that step.
   */
  #isInside({ kind, target, address, wholes, going }: Agent): boolean {
    const { whole, world } = this;
    if (!whole.holds(target, address)) return false;
    if (wholes > 0) return going && !this.blind;
    const { region, size } = target!;
    if (kind === k.LOAD && world.memory.isConstant(region, address, size)) {
      return false;
    }
    whole.open(target!, address);
    world.memory.surprised = true;
    throw this.suspend();
  }

  /** Does the next operation of a whole operation of a primitive. */
  #goFurther(agent: Agent): Any {
    const { world } = this;
    // What follows depends on more than the first answer.
    world.volatile = true;
    const before = world.notes ? agent.save() : null;
    if (world.notes) this.noteRun();
    this.job = { ...this.job!, from: null, before: null, edge: undefined };
    const result = this.#perform(agent, 0);
    const cause = world.changed ? CHANGED : 0;
    this.job = { ...this.job, before, cause, value: result };
    return result;
  }

  /** Notes what the agent of the present job did. */
  noteRun(): void {
    const { world, memo, spins, ended, result } = this;
    const job = this.job!;
    const { agent, before, from } = job;
    if (before === null || world.fault !== null) return;
    const remembered = world.memo !== null && from !== null;
    const value = world.memo === null && job.cause === 0 ? result : job.value;
    const once = !remembered || memo.full;
    spins.note(agent, before, { ...job, value }, ended, once);
  }

  /** The source line of the agent on the stack. */
  #siteNow(): string {
    const place = placeOf();
    let site = this.#sitesByPlace.get(place);
    if (site === undefined) this.#sitesByPlace.set(place, site = siteOf());
    return site;
  }

  /** Does an agent's operation; the agent does not know of it yet. */
  perform(agent: Agent, age: number): Any {
    const { world } = this;
    if (age > 0) agent.stale++;
    const result = world.perform(agent, age);
    this.coverage?.note(agent, result);
    if (this.drops.used) this.drops.answered(agent.address, result);
    if (this.returns.used) this.returns.answered(agent.address, result);
    if (this.between.on) this.between.answered(agent.address, result);
    toil(this, agent);
    if (agent.effort > this.maxSteps) this.overdue?.(agent);
    const { memory } = world;
    if (memory.surprised && this.current === null && !this.scenario.async) {
      memory.surprised = false;
      throw new NotConstant();
    }
    return result;
  }

  #perform(agent: Agent, age: number): Any {
    const { world } = this;
    let { result } = this;
    if (this.performed) this.performed = false;
    else {
      this.result = result = this.perform(agent, age);
      world.absorb(agent, result, world.changed);
    }
    if (result === BLOCK) throw this.suspend();
    agent.record(
      signature(agent.kind, agent.address),
      argBits(agent.a, agent.b),
      result,
    );
    agent.pos = agent.n;
    if (world.fault !== null) throw this.suspend();
    if (agent.wholes > 0 && this.whole.holds(agent.target, agent.address)) {
      agent.going = true;
      this.whole.kinds.add(agent.within);
    }
    if (!this.blind && follow(this, agent) === SPINS) agent.spinNext = true;
    return result;
  }

  /** Handles a look at the clock, which may be all that a loop does. */
  #clock(agent: Agent): Any {
    const { world } = this;
    if (!this.clocked) this.clocked = world.memory.surprised = true;
    if (agent.tick && !agent.spinNext) {
      agent.tick = false;
      world.now += Math.min(10 ** agent.ticks++, LONGEST);
    }
    const { asleep } = agent;
    const now = this.local(k.CLOCK, 0, () => world.now);
    agent.pure++;
    if (!this.blind && follow(this, agent) === SPINS) agent.spinNext = true;
    else if (looksAtClock(agent) >= (agent.ticks > 0 ? 2 : LOOKS)) {
      agent.tick = true;
    }
    if (asleep !== null) this.returns.look(agent, asleep, now);
    return now;
  }
}
