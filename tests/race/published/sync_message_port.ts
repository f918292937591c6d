/**
 * `sync-message-port`: a message port that a thread can wait for.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import type { Any, Published } from "./_kit.ts";

const COUNTER = "dist/lib/atomic_counter.js";

/** The counter of messages; -1 stands for a closed one. */
const counter = (AtomicCounter: Any) =>
  race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory) => new AtomicCounter(memory),
    words: { count: 0, closed: 8 },
    init: { n: 0, closed: false },
    ops: {
      increment: {
        run: (it) => it.increment(),
        model: ({ n, closed }) => [{ n: n + 1, closed }, undefined],
      },
      decrement: {
        run: (it) => it.decrement(),
        model: ({ n, closed }) => [{ n: n - 1, closed }, undefined],
      },
      close: {
        run: (it) => it.close(),
        model: ({ n }) => [{ n, closed: true }, undefined],
      },
      wait: {
        run: (it) => it.wait(),
        model: (s) => s.n > 0 || s.closed ? [s, true] : null,
      },
    },
  });

export const published: Published = {
  name: "sync-message-port",
  version: "1.2.0",
  checks: [
    {
      title: "AtomicCounter, one agent that waits",
      verdict: "complete",
      program: "agent 0 waits and decrements twice, agent 1 increments twice",
      async explore(open) {
        const { AtomicCounter } = await open(COUNTER);
        return race.check(
          counter(AtomicCounter),
          [["wait"], ["decrement"], ["wait"], ["decrement"]],
          [["increment"], ["increment"]],
        );
      },
    },
    {
      title: "AtomicCounter, closed",
      verdict: "complete",
      program: "agents 0 and 1 wait, agent 2 closes the counter",
      async explore(open) {
        const { AtomicCounter } = await open(COUNTER);
        return race.check(
          counter(AtomicCounter),
          [["wait"]],
          [["wait"]],
          [["close"]],
        );
      },
    },
    {
      title: "AtomicCounter, two agents that wait",
      verdict: "lost-wakeup",
      program: "agents 0 and 1 wait, agent 2 increments once",
      async explore(open) {
        const { AtomicCounter } = await open(COUNTER);
        return race.check(
          counter(AtomicCounter),
          [["wait"]],
          [["wait"]],
          [["increment"]],
        );
      },
      finding: {
        where: "dist/lib/atomic_counter.js, increment()",
        what: "increment() wakes one agent, and only when the count was 0. A " +
          "second agent in wait() sleeps on although the count is not 0. " +
          "SyncMessagePort itself is not hit: one thread waits on each " +
          "counter. The comment of wait() does not say so.",
        mend: "Say that one agent may wait at a time, or notify all agents " +
          "when the count leaves 0.",
        standing: {
          none: "The package exports SyncMessagePort alone, in which one " +
            "thread waits on each counter. Its users cannot meet this",
        },
      },
      threads: {
        path: COUNTER,
        rounds: 1,
        memory: () => new SharedArrayBuffer(16),
        roles: [
          (code, memory) => {
            new code.AtomicCounter(memory).wait();
          },
          (code, memory) => {
            new code.AtomicCounter(memory).wait();
          },
          (code, memory) => {
            const pause = new Int32Array(new SharedArrayBuffer(4));
            Atomics.wait(pause, 0, 0, 100); // both are asleep by then
            new code.AtomicCounter(memory).increment();
          },
        ],
      },
    },
  ],
};
