/**
 * What agents wait for in scenarios, and what must hold.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import type { Channel, Mutex, Semaphore } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { itsOwn, named, type Weft } from "../_run/scenario.ts";
import { signalled } from "../_run/signal.ts";

const NOBODY = 0;
const SEMAPHORE_AT = 32;
const FLAG_AT = 96;

interface Handles {
  readonly mutex: Mutex;
  readonly semaphore: Semaphore;
  /** A word that belongs to no primitive. */
  readonly flag: Int32Array<SharedArrayBuffer>;
}

/** A mutex that agent `owner - 1` holds at the start, and a semaphore. */
function both(weft: Weft, owner: number, patience = 8) {
  const { Mutex, Semaphore } = weft.mod;
  return {
    async: true,
    memory: () => {
      const memory = new SharedArrayBuffer(FLAG_AT + 4);
      Mutex.init(memory, 0);
      Semaphore.init(memory, SEMAPHORE_AT);
      new Int32Array(memory)[LAYOUT.mutex.state] = owner;
      return memory;
    },
    ...itsOwn(weft, ({ mod, spin }, memory): Handles => {
      spin.spinning.patience = patience;
      return {
        mutex: new mod.Mutex(memory),
        semaphore: new mod.Semaphore(memory, SEMAPHORE_AT),
        flag: new Int32Array(memory, FLAG_AT, 1),
      };
    }),
    words: {
      ...named(LAYOUT.mutex),
      ...named(LAYOUT.semaphore, SEMAPHORE_AT),
      flag: FLAG_AT,
    },
    hints: [[
      SEMAPHORE_AT + LAYOUT.semaphore.permits * 4,
      SEMAPHORE_AT + LAYOUT.semaphore.permits * 4 + 4,
    ]] as const,
  };
}

/** Locks; the model is the owner. */
export function locks(weft: Weft, owner = NOBODY) {
  const section = (owner: number) =>
    owner === NOBODY ? [owner, undefined] as [number, undefined] : null;
  return race.spec({
    ...both(weft, owner),
    init: owner,
    ops: {
      unlock: {
        run: ({ mutex }) => mutex.unlock(),
        model: () => [NOBODY, undefined],
      },
      block: {
        run: ({ mutex }) => mutex.lock().unlock(),
        model: section,
      },
      await: {
        run: async ({ mutex }) => (await mutex.lockAsync()).unlock(),
        model: section,
      },
      awaitFor: {
        run: async ({ mutex }) =>
          void (await mutex.tryLockAsync({ timeout: 5 }))?.unlock(),
        model: (owner: number) =>
          owner === NOBODY
            ? [owner, undefined]
            : race.timedOut([owner, undefined]),
      },
      awaitTwice: {
        run: async ({ mutex }) => {
          await Promise.all([
            mutex.lockAsync().then((guard) => guard.unlock()),
            mutex.lockAsync().then((guard) => guard.unlock()),
          ]);
        },
        model: section,
      },
      abort: {
        run: async ({ mutex }) => {
          const { signal, options } = signalled();
          const result = mutex.lockAsync(options)
            .then((guard) => guard?.unlock(), () => {});
          signal.abort();
          await result;
        },
        model: (owner: number) => [owner, undefined],
      },
      cancel: {
        run: async ({ mutex }) => {
          const result = mutex.lockAsync()
            .then((guard) => guard.unlock(), () => {});
          mutex.cancel();
          await result;
        },
        model: (owner: number) => [owner, undefined],
      },
      awaitUnlock: {
        run: async ({ mutex }) => await mutex.waitForUnlockAsync(),
        model: section,
      },
      awaitByPriority: {
        run: async ({ mutex }) => {
          await Promise.all(
            [0, 2, 1].map(async (priority) =>
              (await mutex.lockAsync({ priority })).unlock()
            ),
          );
        },
        model: section,
      },
      abortOneOfTwo: {
        run: async ({ mutex }) => {
          const { signal, options } = signalled();
          const first = mutex.lockAsync(options)
            .then((guard) => guard?.unlock(), () => {});
          const second = mutex.lockAsync().then((guard) => guard.unlock());
          signal.abort();
          await Promise.all([first, second]);
        },
        model: section,
      },
    },
  });
}

/** Permits; the model is how many are free. */
export function permits(weft: Weft, patience?: number) {
  return race.spec({
    ...both(weft, NOBODY, patience),
    init: 0,
    ops: {
      release: {
        run: ({ semaphore }, n: number) => semaphore.release(n),
        model: (free: number, n: number) => [free + n, undefined],
      },
      tryAcquire: {
        run: ({ semaphore }) => semaphore.tryAcquire(),
        model: (free: number) => free > 0 ? [free - 1, true] : [free, false],
      },
      acquireTwice: {
        run: async ({ semaphore }, n: number) => {
          await Promise.all([
            semaphore.acquireAsync(n),
            semaphore.acquireAsync(n),
          ]);
        },
        model: (free: number, n: number) =>
          free < 2 * n ? null : [free - 2 * n, undefined],
      },
      acquireBehind: {
        run: async ({ semaphore }) => {
          const { signal, options } = signalled();
          const first = semaphore.acquireAsync(4, options).catch(() => {});
          await semaphore.acquireAsync(2);
          signal.abort();
          await first;
        },
        model: (free: number) => free < 2 ? null : [free - 2, undefined],
      },
      pass: {
        run: async ({ semaphore }) => {
          const passes = async (priority: number) => {
            await semaphore.acquireAsync(1, { priority });
            semaphore.release();
          };
          await Promise.all([passes(0), passes(1)]);
        },
        model: (free: number) => free < 1 ? null : [free, undefined],
      },
      cancel: {
        run: async ({ semaphore }) => {
          const result = semaphore.acquireAsync().then(() => true, () => false);
          semaphore.cancel();
          return await result;
        },
        model: (free: number) =>
          free > 0
            ? race.either([free - 1, true], race.contended([free, false]))
            : [free, false],
      },
      abort: {
        run: async ({ semaphore }) => {
          const { signal, options } = signalled();
          const result = semaphore.acquireAsync(1, options)
            .then(() => true, () => false);
          signal.abort();
          return await result;
        },
        model: (free: number) =>
          free > 0
            ? race.either([free - 1, true], race.contended([free, false]))
            : [free, false],
      },
    },
  });
}

/** An agent that awaits the mutex blocks until another one had it. */
export function blocked(weft: Weft) {
  return race.spec({
    ...both(weft, 3),
    ops: {
      unlock: { run: ({ mutex }) => mutex.unlock() },
      awaitAndBlock: {
        run: async ({ mutex, semaphore }, _, id) => {
          const lock = mutex.lockAsync();
          if (mutex.owner !== id + 1) semaphore.acquire();
          (await lock).unlock();
        },
      },
      blockAndRelease: {
        run: ({ mutex, semaphore }) => {
          const guard = mutex.lock();
          semaphore.release();
          guard.unlock();
        },
      },
    },
  });
}

/** An agent that gave up computes until another one had the mutex. */
export function computing(weft: Weft) {
  return race.spec({
    ...both(weft, 3),
    ops: {
      unlock: { run: ({ mutex }) => mutex.unlock() },
      abortAndCompute: {
        run: async ({ mutex, flag }) => {
          const { signal, options } = signalled();
          const result = mutex.lockAsync(options)
            .then((guard) => guard?.unlock(), () => {});
          signal.abort();
          await result;
          // For the library this is the same as computing: the event loop
          // stands still.
          Atomics.wait(flag, 0, 0);
        },
      },
      blockAndTell: {
        run: ({ mutex, flag }) => {
          mutex.lock().unlock();
          Atomics.store(flag, 0, 1);
          Atomics.notify(flag, 0);
        },
      },
    },
  });
}

/** Ready results, of which each second one waits for a macrotask. */
export function spread(weft: Weft) {
  const base = both(weft, NOBODY);
  return race.spec({
    ...base,
    ...itsOwn(weft, ({ mod, turn }, memory): Handles => {
      const post = (task: () => void) => void setImmediate(task);
      Object.assign(turn.turn, { period: 0, post });
      return {
        mutex: new mod.Mutex(memory),
        semaphore: new mod.Semaphore(memory, SEMAPHORE_AT),
        flag: new Int32Array(memory, FLAG_AT, 1),
      };
    }),
    init: 0,
    ops: {
      release: {
        run: ({ semaphore }, n: number) => semaphore.release(n),
        model: (free: number, n: number) => [free + n, undefined],
      },
      acquireInTurn: {
        run: async ({ semaphore }) => {
          for (let i = 0; i < 2; i++) await semaphore.acquireAsync();
        },
        model: (free: number) => free < 2 ? null : [free - 2, undefined],
      },
    },
  });
}

/** Whichever agent is terminated, those that await get the mutex. */
export function terminated(weft: Weft) {
  return race.spec({
    ...both(weft, 2),
    ops: {
      unlock: { run: ({ mutex }) => mutex.unlock() },
      await: { run: async ({ mutex }) => (await mutex.lockAsync()).unlock() },
    },
    recover: ({ mutex }, dead) => void mutex.abandon(dead + 1),
  });
}

/**
 * A codec begins to receive while it decodes what was received: it stands in
 * line behind that wait, or, by `select`, it does not.
 */
export function nested(weft: Weft, selects: boolean) {
  const by = (decoded: () => void) => ({
    codec: {
      name: "a byte",
      encode: (value: number, into: Uint8Array) => {
        into[0] = value;
        return 1;
      },
      decode: ([value]: Uint8Array) => {
        decoded();
        return value!;
      },
    },
    capacity: 2,
  });
  return race.spec({
    async: true,
    memory: () => weft.mod.Channel.create(by(() => {})).buffer,
    ...itsOwn(weft, ({ mod, waiter }, memory) => {
      // A look each second would find what a lost wake was for.
      waiter.looking.every = Infinity;
      let second: Promise<number> | undefined;
      const receive = async () => {
        if (!selects) return await channel.receiveAsync();
        return (await mod.select([channel]))!.value as number;
      };
      const options = by(() => second ??= receive());
      const channel: Channel<number> = new mod.Channel(memory, 0, options);
      return { channel, second: () => second };
    }),
    ops: {
      send: { run: ({ channel }, n: number) => channel.send(n) },
      receiveTwice: {
        run: async ({ channel, second }) => [
          await channel.receiveAsync(),
          await second(),
        ],
      },
    },
  });
}

/** A full queue; an agent begins two pushes, and awaits both. */
export function inTurn(weft: Weft, capacity: number) {
  const { tail, head } = LAYOUT.mpmc_queue;
  return race.spec({
    async: true,
    memory: () => {
      const queue = weft.mod.MpmcQueue.create({ capacity });
      for (let i = 0; i < capacity; i++) queue.tryPushInt(0);
      return queue.buffer;
    },
    ...itsOwn(weft, ({ mod, waiter }, memory) => {
      waiter.looking.every = Infinity;
      return new mod.MpmcQueue(memory);
    }),
    words: named(LAYOUT.mpmc_queue),
    hints: [tail, head].map((i) => [i * 4, i * 4 + 4] as const),
    ops: {
      pushTwice: {
        run: async (queue) => {
          await Promise.all([1, 2].map((n) => queue.pushIntAsync(n)));
          const popped = [queue.tryPopInt(), queue.tryPopInt()];
          if (`${popped}` !== "1,2") throw new Error(`popped ${popped}`);
        },
      },
      // Its first push was aborted when the second began.
      pushAndGiveUp: {
        run: async (queue) => {
          const control = new AbortController();
          const { signal } = control;
          const first = queue.pushIntAsync(1, { signal }).then(
            () => 1,
            () => 0,
          );
          const second = queue.pushIntAsync(2);
          control.abort();
          await second;
          return await first;
        },
      },
      pop: { run: (queue) => queue.popInt() },
    },
  });
}

/** The same of a queue whose consumer may be terminated before it wakes. */
export function afterDeath(weft: Weft) {
  const { tail, head } = LAYOUT.spsc_queue;
  return race.spec({
    async: true,
    memory: () => {
      const queue = weft.mod.SpscQueue.create({ capacity: 2 });
      queue.tryPushInt(0);
      queue.tryPushInt(0);
      const { buffer } = queue;
      new Int32Array(buffer)[LAYOUT.spsc_queue.producer] = 0;
      return buffer;
    },
    ...itsOwn(weft, ({ mod }, memory) => new mod.SpscQueue(memory)),
    words: named(LAYOUT.spsc_queue),
    hints: [tail, head].map((i) => [i * 4, i * 4 + 4] as const),
    ops: {
      pushTwice: {
        run: async (queue) => {
          await Promise.all([1, 2].map((n) => queue.pushIntAsync(n)));
        },
      },
      pop: { run: (queue) => queue.tryPopInt() },
    },
    recover: (queue, dead) => {
      queue.abandon(dead + 1);
      if (dead === 1) { while (queue.tryPopInt() !== undefined); }
    },
  });
}
