/**
 * The simulated machine: shared memory, the sleepers, virtual time, and the
 * effect of each operation. It does not know how agents are run.
 *
 * @module
 */
import { type Access, addTimer, NO_ACCESS } from "./agent/snapshot.ts";
import type { Agent } from "./agent/agent.ts";
import * as k from "../kinds.ts";
import { type FailureKind, Fault } from "../kinds.ts";
import type { Call } from "../model.ts";
import { hasMail, type Letter, nextTo, posted } from "./mail.ts";
import { DELIVERED, REFRESHED, RESUMED, WOKEN } from "./agent/memo.ts";
import type { Region } from "../region.ts";
import { FREED } from "./memory.ts";
import {
  argBits,
  BLOCK,
  callText,
  execute,
  signature,
} from "./agent/operation.ts";
import { native } from "../platform/native.ts";
import { bits, bits2, mix1, mix2, show } from "../values.ts";
import type { Waiter } from "./key.ts";
import { Machine } from "./machine.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The machine. */
export class World extends Machine {
  // ---- operations

  /** Notes that something is wrong. Only the first fault counts. */
  fail(kind: FailureKind, message: string, cause?: unknown): void {
    this.fault ??= new Fault(kind, message, cause);
  }

  /**
   * Does an agent's next operation; `age` says how old a hint's value is. What
   * the agent has seen stays as it is: see `absorb`.
   */
  perform(agent: Agent, age: number): Any {
    const { kind } = agent;
    this.steps++;
    agent.steps++;
    agent.snapshot = null;
    this.changed = this.began = this.ended = false;
    if (!agent.invoked) this.begin(agent);
    if (k.writes(kind)) {
      this.memory.touch(agent.target!.region, agent.address, agent.size);
    }
    const { target, address, size, id } = agent;
    if (target !== null) {
      const users = this.twins?.like(id) ?? 1 << id;
      this.memory.use(target.region, users, address, size, k.writes(kind));
      this.#checkFreed(agent, target.region);
    }
    this.#learn(agent, target === null ? null : target.region);
    this.hints?.before(agent);
    const result = this.#effect(agent, age);
    const wrote = k.writes(kind) && (kind !== k.CAS || result === agent.a);
    if (this.clocks !== null) {
      const other = this.clocks.access(agent, wrote);
      if (other !== undefined) {
        this.fail("data-race", this.#raceText(agent, other));
      }
      const waits = result === BLOCK || kind === k.WAIT_ASYNC;
      const last = this.waiters[this.waiters.length - 1];
      if (waits && typeof result !== "string") {
        last!.clock = this.clocks.send(agent);
      }
    }
    if (this.hints !== null && target !== null && kind !== k.NOTIFY) {
      this.hints.after(agent.id, agent, wrote);
    }
    this.trace?.step(this, agent, result, wrote, age);
    if (this.changed && kind !== k.NOTIFY) this.#unspin(agent);
    return result;
  }

  /** Learns what agents do. If the search relied on the contrary, it ends. */
  #learn(agent: Agent, region: Region | null): void {
    const { prospects, memory } = this;
    prospects.step(agent, region);
    if (!prospects.surprised) return;
    prospects.surprised = false;
    memory.surprised = true;
  }

  /** A notification names an address only: it may be that of freed memory. */
  #checkFreed(
    { kind, a, address, size, id, site }: Agent,
    region: Region,
  ): void {
    const { memory } = this;
    if (kind === k.STORE && a === FREED) memory.frees = true;
    if (!memory.frees || kind === k.NOTIFY) return;
    if (!memory.isFreed(region, address, size)) return;
    this.fail(
      "use-after-free",
      `agent ${id}'s ${k.OP_NAMES[kind]} of ${memory.nameOf(address)}` +
        `${site === "" ? "" : ` at ${site}`} uses memory that was given back`,
    );
  }

  /** Adds the operation that an agent did to what it has seen. */
  absorb(agent: Agent, result: Any, changed: boolean): void {
    const { kind } = agent;
    if (result !== BLOCK) this.note(agent, result);
    else if (agent.asleep !== null) [agent.h1, agent.h2] = agent.asleep;
    if (this.keepsPlain) agent.plain = this.#plainAfter(agent);
    const tells = kind === k.NOTIFY || kind === k.WRITE || kind === k.SEND ||
      kind === k.TAKE;
    if (tells) agent.pure = 0;
    else agent.pure++;
    if (!changed || kind === k.NOTIFY) return;
    agent.pure = 0;
    agent.idleFires = 0;
  }

  /**
   * The plain accesses of an agent after its operation. Other agents can learn
   * of them by an atomic operation, if it is not one that only concerns itself.
   */
  #plainAfter(
    { plain, kind, target, address, size, id }: Agent,
  ): readonly Access[] {
    const isPlain = k.isPlain(kind);
    if (target === null || (!isPlain && plain.length === 0)) return plain;
    const asks = kind === k.WAIT || kind === k.NOTIFY;
    const own = !asks && !this.twins?.has(id) && this.memory.isOwn(
      target.region,
      id,
      address,
      size,
      k.writes(kind),
    );
    if (own) return plain;
    if (!isPlain) return NO_ACCESS;
    const known = plain.some((access) =>
      access.kind === kind && access.address === address && access.size === size
    );
    return known ? plain : [...plain, { kind, address, size }];
  }

  #raceText({ kind, address, id, site }: Agent, other: string): string {
    const where = site === "" ? "" : ` at ${site}`;
    return `agent ${id}'s ${k.OP_NAMES[kind]} of ` +
      `${this.memory.nameOf(address)}${where} is unordered with ${other}`;
  }

  #effect(agent: Agent, age: number): Any {
    const { a, index, kind } = agent;
    if (kind === k.SEND) return this.#post(agent);
    if (kind === k.TAKE) return this.#take(agent);
    const view = agent.target!.view;
    switch (kind) {
      case k.LOAD:
        return native.load(view, index);
      case k.READ:
        return this.hints?.read(agent.id, agent, age) ?? view[index];
      case k.WAIT:
      case k.WAIT_ASYNC:
        return this.#wait(agent, native.load(view, index));
      case k.NOTIFY:
        return this.#notify(agent);
      case k.STORE:
      case k.WRITE: {
        const old = view[index];
        const result = execute(kind, view, index, a, 0);
        this.changed = !Object.is(view[index], old);
        return result;
      }
      default: {
        const old = execute(kind, view, index, a, agent.b);
        this.changed = view[index] !== old;
        return old;
      }
    }
  }

  #wait(agent: Agent, value: Any): Any {
    const { address, timeout, id, kind } = agent;
    if (value !== agent.a) return "not-equal";
    if (timeout <= 0) return "timed-out";
    const promise = kind === k.WAIT_ASYNC ? agent.serial++ : -1;
    const waiter = { agent: id, address, promise, clock: null };
    this.waiters = [...this.waiters, waiter];
    const due = timeout === Infinity ? Infinity : this.now + timeout;
    if (promise >= 0) {
      if (due !== Infinity) {
        const timer = { id: promise, due, every: -1, promise };
        agent.timers = addTimer(agent.timers, timer);
      }
      return promise;
    }
    this.sleep(agent);
    return BLOCK;
  }

  /** Puts an agent to sleep where it waits. */
  sleep(agent: Agent): void {
    const { address, timeout } = agent;
    agent.status = k.BLOCKED;
    agent.waitAddress = address;
    agent.deadline = timeout === Infinity ? Infinity : this.now + timeout;
  }

  #notify(agent: Agent): number {
    const { address, a: limit } = agent;
    let count = 0;
    const left: Waiter[] = [];
    for (const waiter of this.waiters) {
      if (waiter.address !== address || count >= limit) {
        left.push(waiter);
        continue;
      }
      count++;
      const woken = this.agents[waiter.agent]!;
      if (woken !== agent) {
        // The list of those that wait is a critical section: who finds a
        // sleeper in it knows what the sleeper did before it went to sleep.
        if (waiter.clock !== null) this.clocks?.receive(agent, waiter.clock);
        if (waiter.promise < 0) this.hints?.wake(woken.id, agent.id);
        this.clocks?.wake(agent, woken);
        this.hints?.wake(agent.id, woken.id);
      }
      if (waiter.promise < 0) this.wake(woken, "ok");
      else if (woken !== agent) this.#deliver(woken, waiter.promise, "ok");
      else {
        this.volatile = true;
        this.#enqueue(agent, waiter.promise, "ok");
      }
    }
    if (count > 0) this.waiters = left;
    this.changed = count > 0;
    return count;
  }

  /** Posts a message; the ports that it carries are no longer the sender's. */
  #post(agent: Agent): void {
    const message = this.mail.at(agent.a);
    const clock = this.clocks?.send(agent) ?? null;
    const view = this.hints?.viewOf(agent) ?? null;
    this.letters = posted(this.letters, { message, clock, view });
    const { ports } = message;
    agent.open = agent.open.filter((port) => !ports.includes(port));
    this.changed = true;
  }

  /** Takes the next message from a port: its number, or -1. */
  #take(agent: Agent): number {
    const port = agent.a;
    if (nextTo(this.letters, port) === undefined) return -1;
    this.changed = true;
    return this.arrive(agent, port).message.id;
  }

  /** The next message to `port` arrives at `agent`. */
  arrive(agent: Agent, port: number): Letter {
    const letter = nextTo(this.letters, port)!;
    this.letters = this.letters.filter((other) => other !== letter);
    if (letter.clock !== null) this.clocks?.receive(agent, letter.clock);
    if (letter.view !== null) this.hints?.receive(agent, letter.view);
    return letter;
  }

  /** Whether an event waits in an agent's event loop, or a message for it. */
  hasEvent({ inbox, open }: Agent): boolean {
    return inbox.length > 0 || hasMail(this.letters, open);
  }

  /** Puts a settled promise into an agent's event queue. */
  #deliver(agent: Agent, promise: number, value: string): void {
    this.#change(agent, DELIVERED, `${promise} ${value}`, () => {
      this.#enqueue(agent, promise, value);
    });
  }

  #enqueue(agent: Agent, promise: number, value: string): void {
    agent.snapshot = null;
    agent.inbox = [...agent.inbox, { promise, value }];
    agent.timers = agent.timers.filter((timer) => timer.promise !== promise);
  }

  /** Takes a waiter out of its list, so that its promise settles. */
  expire(agent: Agent, promise: number): void {
    this.waiters = this.waiters.filter((waiter) =>
      waiter.agent !== agent.id || waiter.promise !== promise
    );
    this.#enqueue(agent, promise, "timed-out");
  }

  /**
   * Changes an agent that is not on the stack in a way that depends only on
   * `cause` and `value`.
   */
  #change(
    agent: Agent,
    cause: number,
    value: unknown,
    change: () => void,
  ): void {
    const { memo } = this;
    if (memo === null) return change();
    const from = agent.save();
    const edge = memo.find(from, cause, value, 0);
    if (edge !== undefined) return agent.load(edge.to);
    change();
    memo.add(from, cause, value, 0, agent, [], [], true);
  }

  /** Ends an agent's sleep; `receive` gives it the answer. */
  wake(agent: Agent, result: string): void {
    this.prepare(agent, WOKEN);
    agent.snapshot = null;
    agent.status = k.READY;
    agent.waitAddress = -1;
    agent.deadline = Infinity;
    agent.pure = 0;
    agent.answer = result;
    this.woken.push(agent);
  }

  /** Keeps the state of an agent before something happens to it. */
  prepare(agent: Agent, cause: number): void {
    if (this.memo === null && !this.notes || agent.before !== null) return;
    agent.before = agent.save();
    agent.cause = cause;
  }

  /** Gives an agent the answer of the sleep that has ended. */
  receive(agent: Agent): void {
    const { answer } = agent;
    if (answer === undefined) return;
    agent.answer = undefined;
    agent.snapshot = null;
    this.note(agent, answer);
    agent.record(
      signature(agent.kind, agent.address),
      argBits(agent.a, agent.b),
      answer,
    );
  }

  /** Takes an agent out of the lists in which it waits. */
  leave(agent: Agent): void {
    this.waiters = this.waiters.filter((w) => w.agent !== agent.id);
  }

  /** Adds a result to the hash of what an agent has seen. */
  note(agent: Agent, result: unknown): void {
    const operation = agent.kind ^ agent.address << 5;
    agent.h1 = mix1(mix1(agent.h1, operation), bits(result));
    agent.h2 = mix2(mix2(agent.h2, operation), bits2(result));
  }

  #unspin(by: Agent): void {
    const { address, size } = by;
    for (const agent of this.agents) {
      if (agent.idleFires > 0 && agent !== by) {
        this.#change(agent, REFRESHED, undefined, () => {
          agent.snapshot = null;
          agent.idleFires = agent.fires = 0;
        });
      }
      const { spinNext } = agent;
      if (agent.status !== k.SPINNING && agent.leap === 0 && !spinNext) {
        continue;
      }
      for (const at of agent.spinAddresses) {
        if (at >= address + size || address >= at + 8) continue;
        if (spinNext) {
          // It is in its event loop, and has not seen this.
          this.#change(agent, REFRESHED, "looks", () => {
            agent.snapshot = null;
            agent.spinNext = false;
          });
          break;
        }
        if (agent === by || agent.kind === k.CLOCK) this.resume(agent);
        else {
          this.#change(agent, RESUMED, undefined, () => this.resume(agent));
        }
        break;
      }
    }
  }

  /** Lets an agent go on that was spinning. */
  resume(agent: Agent): void {
    const looks = agent.status === k.SPINNING && agent.kind === k.CLOCK;
    if (looks) this.prepare(agent, RESUMED);
    agent.snapshot = null;
    agent.leap = agent.ends = 0;
    // What it looked at before has changed nothing either. If the word has its
    // old value again, the next look is another round of the same loop.
    if (looks) agent.pure = 0;
    agent.deadline = Infinity;
    if (agent.status !== k.SPINNING) return;
    agent.status = k.READY;
    this.came |= 1 << agent.id;
    // A look at the clock is not a step, so run it to its next operation.
    if (looks) this.woken.push(agent);
  }

  // ---- calls

  /** A call takes its first step. */
  begin(agent: Agent): void {
    agent.invoked = true;
    if (this.tail > 0 && this.clocks !== null && isTail(agent, this.tail)) {
      for (const other of this.agents) {
        if (other !== agent) this.clocks.wake(other, agent);
      }
    }
    this.invoke(agent, agent.call);
  }

  /** Tells the judge that `agent` begins `call`. */
  invoke(agent: Agent, call: Call): void {
    this.began = true;
    const told = agent.own[agent.oi] ?? call;
    this.trace?.row(this, agent, "begin", callText(told));
    if (this.judge !== null && this.frontier >= 0) {
      this.frontier = this.judge.invoke(this.frontier, agent.id, call);
    }
  }

  /** A call returns. */
  end(agent: Agent, result: unknown): void {
    agent.snapshot = null;
    if (!agent.invoked) this.begin(agent);
    this.answer(agent, agent.call, result);
    agent.results = [...agent.results, result];
    if (agent.steps > this.maxOpSteps) this.maxOpSteps = agent.steps;
    agent.oi++;
    if (this.lead > 0 && agent.id === 0 && agent.oi === this.lead) {
      for (const other of this.agents) {
        if (other !== agent) this.clocks?.wake(agent, other);
      }
    }
    agent.clearLoops();
    agent.invoked = false;
    agent.steps =
      agent.pure =
      agent.stale =
      agent.idleFires =
      agent.fires =
        0;
  }

  /** Tells the judge that `call` has returned. */
  answer(agent: Agent, call: Call, result: unknown): void {
    this.ended = true;
    this.trace?.row(this, agent, "end", show(result));
    if (this.judge === null || this.frontier < 0) return;
    const next = this.judge.answer(this.frontier, agent.id, result);
    if (next >= 0) {
      this.frontier = next;
      return;
    }
    const allowed = this.judge.allowed(this.frontier, agent.id);
    this.fail(
      "not-linearizable",
      `agent ${agent.id}: ${callText(call)} = ${show(result)}, but no ` +
        `sequential order of operations explains that: it had ` +
        `${allowed.startsWith("to ") ? "" : "to be "}${allowed}; ` +
        this.judge.explain(this.frontier),
    );
  }
}

/** Whether it is agent 0, before the first of its last `tail` calls. */
const isTail = ({ id, oi, calls }: Agent, tail: number): boolean =>
  id === 0 && oi === calls.length - tail;
