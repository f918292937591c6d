// Programs that run in a process of their own: `lone.ts SCENARIO`.
import process from "node:process";

type Library = typeof import("../../mod.ts");
type Atomic = Record<"wait" | "waitAsync", unknown>;

const library = (): Promise<Library> => import("../../mod.ts");

/** A mutex that another agent holds, and a function that unlocks it. */
function heldIn({ agentId, Mutex, setAgentId }: Library) {
  const mutex = Mutex.create();
  const own = agentId();
  setAgentId(own === 1 ? 2 : 1);
  const theirs = new Mutex(mutex.buffer);
  setAgentId(own);
  theirs.lock();
  return { mutex, unlock: () => theirs.unlock() };
}

/** Calls `callback` after `ms`, without keeping the process alive. */
function later(ms: number, callback: () => void): void {
  const timer: unknown = setTimeout(callback, ms);
  if (typeof timer === "number") Deno.unrefTimer(timer);
  else (timer as { unref(): void }).unref();
}

/** Prints how long after this the process ends. */
function timeTheEnd(): void {
  const begin = performance.now();
  process.on("exit", () => console.log(`end ${performance.now() - begin}`));
}

function errorOf(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error(`${call} did not throw`);
}

const scenarios: Record<string, () => Promise<void>> = {
  async "awaits a lock"() {
    const { mutex, unlock } = heldIn(await library());
    later(400, unlock);
    using _lock = await mutex.lockAsync();
    console.log("locked");
    timeTheEnd();
  },

  async "awaits a timeout"() {
    const { mutex } = heldIn(await library());
    console.log(await mutex.tryLockAsync({ timeout: 400 }));
    timeTheEnd();
  },

  async "awaits after a test that replaced the timers"() {
    const { mutex, unlock } = heldIn(await library());
    const { setTimeout, setInterval } = globalThis;
    const still = { ref() {}, unref() {} };
    const never = () => still as never;
    Object.assign(globalThis, { setTimeout: never, setInterval: never });
    const control = new AbortController();
    const waits = { timeout: 10, signal: control.signal };
    const left = mutex.tryLockAsync(waits).catch(() => "aborted");
    Object.assign(globalThis, { setTimeout, setInterval });
    control.abort();
    console.log(await left, await mutex.tryLockAsync({ timeout: 10 }));
    later(400, unlock);
    using _lock = await mutex.lockAsync();
    console.log("locked");
    timeTheEnd();
  },

  async "does not wait for an unreferenced lock"() {
    const { mutex, unlock } = heldIn(await library());
    later(5000, unlock);
    mutex.lockAsync({ ref: false }).then(() => console.log("locked"));
    timeTheEnd();
  },

  async "waits for the referenced one of two locks"() {
    const { mutex, unlock } = heldIn(await library());
    later(400, unlock);
    mutex.tryLockAsync({ ref: false, timeout: 100 })
      .then((lock) => console.log(lock ?? "timed out"));
    mutex.lockAsync().then((lock) => {
      console.log("locked");
      lock.unlock();
      mutex.lockAsync({ ref: false }); // comes at once
      timeTheEnd();
    });
  },

  async "does not wait for an unreferenced call"() {
    const { CallRing, connect, serve } = await library();
    const ring = CallRing.create({ request: 256, reply: 64 });
    let begun = false;
    const api = {
      wait(signal: AbortSignal): Promise<void> {
        begun = true;
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve());
        });
      },
    };
    serve(ring, api, { ref: false });
    const remote = connect<typeof api>(ring, { ref: false });
    remote.wait(new AbortController().signal);
    while (!begun) await new Promise((resolve) => setTimeout(resolve, 10));
    console.log("begun");
    timeTheEnd();
  },

  async "does without waitAsync"() {
    delete (Atomics as unknown as Partial<Atomic>).waitAsync;
    await this["awaits by a timer"]!();
  },

  async "does not use the waitAsync of an old Deno"() {
    const { Deno } = globalThis as { Deno?: object };
    const version = { deno: "2.7.5" };
    const value = { ...Deno, version };
    Object.defineProperty(globalThis, "Deno", { value });
    (Atomics as unknown as Atomic).waitAsync = () => {
      throw new Error("it was used");
    };
    await this["awaits by a timer"]!();
  },

  async "awaits by a timer"() {
    const { Semaphore, MpmcQueue } = await library();
    const { mutex, unlock } = heldIn(await library());
    later(300, unlock);
    (await mutex.lockAsync()).unlock();
    const semaphore = Semaphore.create(0);
    const waits = [1, 2, 3].map((n) => semaphore.acquireAsync(n));
    const late = semaphore.tryAcquireAsync(9, { timeout: 200 });
    later(100, () => semaphore.release(6));
    console.log(await Promise.all([...waits, late]));
    const queue = MpmcQueue.create({ capacity: 1 });
    const pops = [queue.popIntAsync(), queue.popIntAsync()];
    later(100, () => queue.pushIntAsync(7).then(() => queue.pushIntAsync(8)));
    console.log(await Promise.all(pops));
    timeTheEnd();
  },

  async "is a page of Firefox"() {
    const document = { hidden: false };
    let frames = 0;
    const page = {
      mozInnerScreenX: 0,
      document,
      setImmediate: undefined,
      requestAnimationFrame: (draw: () => void) => {
        frames++;
        setTimeout(draw, 16);
      },
    };
    for (const [name, value] of Object.entries(page)) {
      Object.defineProperty(globalThis, name, { value, configurable: true });
    }
    const { Semaphore } = await library();
    const semaphore = Semaphore.create(1);
    const seen: number[] = [];
    for (const hidden of [false, true]) {
      document.hidden = hidden;
      frames = 0;
      const end = performance.now() + 1000;
      while (performance.now() < end) {
        await semaphore.acquireAsync();
        semaphore.release();
      }
      seen.push(frames);
    }
    console.log(JSON.stringify(seen));
    process.exit(0);
  },

  async "may not block"() {
    (Atomics as unknown as Atomic).wait = () => {
      throw new TypeError("Atomics.wait cannot be called in this context");
    };
    const all = await library();
    const kernel = await import("../../primitives/kernel/kernel.ts");
    const { Mutex, Semaphore } = all;
    const bytes = new Uint8Array(4);
    const mutex = Mutex.create();
    const held = Mutex.create();
    const semaphore = Semaphore.create(3);
    const work = all.WorkCounter.create(0);
    const lock = all.RwLock.create();
    const condition = all.Condition.create();
    const event = all.Event.create();
    const latch = all.Latch.create(2);
    const barrier = all.Barrier.create(1);
    const once = all.Once.create();
    const group = all.WaitGroup.create();
    const ring = all.CallRing.create({ slots: 2, request: 4, reply: 4 });
    const { codec } = all;
    const lines = all.Channel.create({ codec: codec.binary, capacity: 4 });
    const map = all.HashMap.create({ key: codec.i32, capacity: 4 });
    const memory = kernel.arena(1 << 12);
    const inKernel = memory.create(kernel.Mutex);
    const permits = memory.create(kernel.Semaphore, 3);
    held.tryLock();
    latch.countDown();
    group.add();
    lines.trySend(bytes);
    map.set(1, 1);
    const call = ring.tryPost(bytes)!;
    ring.tryServeOne(() => bytes);
    ring.tryPost(bytes);
    type Made = { readonly buffer: SharedArrayBuffer };
    const calls: [name: string, it: Made, call: () => unknown][] = [
      ["lockAsync", mutex, () => mutex.lock()],
      ["tryLockAsync", mutex, () => mutex.tryLock(5)],
      ["lockAsync", inKernel, () => inKernel.lock()],
      ["readAsync", lock, () => lock.read()],
      ["tryReadAsync", lock, () => lock.tryRead(5)],
      ["writeAsync", lock, () => lock.write()],
      ["tryWriteAsync", lock, () => lock.tryWrite(5)],
      ["waitAsync", condition, () => condition.wait(held)],
      ["tryWaitAsync", condition, () => condition.tryWait(held, 5)],
      ["acquireAsync", semaphore, () => semaphore.acquire()],
      ["tryAcquireAsync", semaphore, () => semaphore.tryAcquire(9, 1)],
      ["acquireAsync", permits, () => permits.acquire()],
      ["waitAsync", event, () => event.wait()],
      ["tryWaitAsync", event, () => event.tryWait(5)],
      ["waitAsync", latch, () => latch.wait()],
      ["tryWaitAsync", latch, () => latch.tryWait(5)],
      ["arriveAndWaitAsync", latch, () => latch.arriveAndWait()],
      ["tryArriveAndWaitAsync", latch, () => latch.tryArriveAndWait(5)],
      ["waitAsync", group, () => group.wait()],
      ["tryWaitAsync", group, () => group.tryWait(5)],
      ["arriveAndWaitAsync", barrier, () => barrier.arriveAndWait()],
      ["tryArriveAndWaitAsync", barrier, () => barrier.tryArriveAndWait(5)],
      ["runAsync", once, () => once.run(() => {})],
      ["tryRunAsync", once, () => once.tryRun(() => {}, 5)],
      ["waitAsync", work, () => work.wait()],
      ["tryWaitAsync", work, () => work.tryWait(5)],
      ["waitForAsync", map, () => map.waitFor(1)],
      ["tryWaitForAsync", map, () => map.tryWaitFor(1, 5)],
      ["callAsync", ring, () => ring.call(bytes)],
      ["tryCallAsync", ring, () => ring.tryCall(bytes, 5)],
      ["callIntoAsync", ring, () => ring.callInto(bytes, bytes)],
      ["tryCallIntoAsync", ring, () => ring.tryCallInto(bytes, bytes, 5)],
      ["postAsync", ring, () => ring.post(bytes)],
      ["receiveAsync", ring, () => call.receive()],
      ["tryReceiveAsync", ring, () => call.tryReceive(5)],
      ["receiveIntoAsync", ring, () => call.receiveInto(bytes)],
      ["tryReceiveIntoAsync", ring, () => call.tryReceiveInto(bytes, 5)],
      ["serveAsync", ring, () => ring.serve(() => bytes)],
      ["takeAsync", ring, () => ring.take()],
      ["tryTakeAsync", ring, () => ring.tryTake(5)],
      ["connect", ring, () => all.connect.blocking(ring)],
      ["serve", ring, () => all.serve.blocking(ring, { call() {} })],
      ["sendAsync", lines, () => lines.send(bytes)],
      ["trySendAsync", lines, () => lines.trySend(bytes, 5)],
      ["receiveAsync", lines, () => lines.receive()],
      ["tryReceiveAsync", lines, () => lines.tryReceive(5)],
      ["reserveAsync", lines, () => lines.reserve(4)],
      ["receiveIntoAsync", lines, () => lines.receiveInto(bytes)],
      ["select", lines, () => all.select.blocking([lines])],
    ];
    const queue = { capacity: 4 };
    const cast = all.Broadcast.create(queue);
    for (
      const [sink, source] of [
        ...[all.SpscQueue, all.MpmcQueue, all.LockFreeQueue]
          .map((Queue) => Queue.create(queue)).map((it) => [it, it] as const),
        [cast, cast.subscribe()] as const,
      ]
    ) {
      sink.tryPushInt(1);
      calls.push(
        ["pushAsync", sink, () => sink.push(bytes)],
        ["pushIntAsync", sink, () => sink.pushInt(1)],
        ["popAsync", sink, () => source.pop()],
        ["popIntoAsync", sink, () => source.popInto(bytes)],
        ["popIntAsync", sink, () => source.popInt()],
      );
    }
    const records = { capacity: 64 };
    for (
      const ring of [
        all.RecordRing.create(records),
        memory.create(kernel.RecordRing, records),
      ]
    ) {
      ring.tryPush(bytes);
      calls.push(
        ["pushAsync", ring, () => ring.push(bytes)],
        ["popAsync", ring, () => ring.pop()],
        ["popIntoAsync", ring, () => ring.popInto(bytes)],
      );
    }
    for (const [name, { buffer }, call] of calls) {
      const before = new Uint8Array(buffer).slice();
      const error = errorOf(call);
      const after = new Uint8Array(buffer);
      const same = before.every((byte, i) => byte === after[i]);
      const { message } = error;
      const named = new RegExp(`use ${name}(, which awaits)?$`).test(message);
      if (!(error instanceof TypeError) || !named || !same) {
        throw new Error(`${call}: ${error}, memory the same: ${same}`);
      }
    }
    const { agentId, HashMap, setAgentId } = all;
    const own = agentId();
    setAgentId(own + 1);
    const theirs = HashMap.from<number, number>(map.handle, {
      key: codec.i32,
    });
    setAgentId(own);
    let refused: Error | undefined;
    map.update(1, () => {
      refused = errorOf(() => theirs.set(1, 2));
      return 3;
    });
    if (!refused!.message.includes(`while agent ${own} writes`)) throw refused;
    if (map.get(1) !== 3) throw new Error(`it is ${map.get(1)}`);
    (await mutex.lockAsync()).unlock();
    await semaphore.acquireAsync(3);
    const wait = semaphore.tryAcquireAsync(2, { timeout: Infinity });
    semaphore.release(2);
    console.log(await wait, calls.length);
  },

  async "is a frame that was removed"() {
    const { Semaphore } = await library();
    const semaphore = Semaphore.create(0);
    semaphore.acquireAsync(1, { ref: false }).then(() => console.log("taken"));
    const scope = globalThis as Record<string, unknown>;
    Object.defineProperty(scope, "closed", { value: true });
    scope.document = {};
    semaphore.release();
    await new Promise((resolve) => setTimeout(resolve, 100));
    console.log(semaphore.tryAcquire());
    // Elsewhere, a variable of that name says nothing.
    delete scope.document;
    semaphore.acquireAsync(1, { ref: false }).then(() => console.log("taken"));
    semaphore.release();
    await new Promise((resolve) => setTimeout(resolve, 100));
    process.exit();
  },

  async "plays audio"() {
    const scope = globalThis as Record<string, unknown>;
    scope.AudioWorkletProcessor = class {};
    for (const name of ["setImmediate", "MessageChannel", "performance"]) {
      delete scope[name];
    }
    delete scope.setTimeout;
    delete scope.setInterval;
    const { Channel, Event, MpmcQueue, Mutex, waitAny } = await library();
    const mutex = Mutex.create();
    const event = Event.create();
    const queue = MpmcQueue.create({ capacity: 64 });
    const empty = Channel.create({ capacity: 64 });
    for (let i = 0; i < 64; i++) queue.tryPushInt(1);
    const calls: [it: { buffer: SharedArrayBuffer }, call: () => unknown][] = [
      [mutex, () => mutex.lock()],
      [mutex, () => mutex.lockAsync()],
      [event, () => event.tryWaitAsync({ timeout: 5 })],
      [event, () => waitAny([event])],
      [queue, () => queue.popIntAsync()],
      [empty, () => empty.receiveAsync()],
      [empty, () => empty[Symbol.asyncIterator]().next()],
    ];
    let refused = 0;
    for (const [{ buffer }, call] of calls) {
      const before = String(new Int32Array(buffer));
      const error = await (async () => await call())().catch((error) => error);
      const isSame = before === String(new Int32Array(buffer));
      if (
        error instanceof TypeError && isSame &&
        error.message.includes("worklet: use @weft/sync/realtime")
      ) refused++;
      else console.log(call, error, isSame);
    }
    queue.close();
    let sum = 0;
    for await (const value of queue) sum += value as number;
    console.log(refused, sum, mutex.tryLock() !== undefined);
  },

  async "may not block, in the kernel"() {
    (Atomics as unknown as Atomic).wait = () => {
      throw new TypeError("Atomics.wait cannot be called in this context");
    };
    const { arena, Mutex, MpmcQueue, RecordRing, Semaphore } = await import(
      "../../primitives/kernel/kernel.ts"
    );
    const memory = arena(1 << 16);
    const mutex = memory.create(Mutex);
    const semaphore = memory.create(Semaphore, 3);
    const queue = memory.create(MpmcQueue, { capacity: 4 });
    const ring = memory.create(RecordRing, { capacity: 256 });
    const bytes = new Uint8Array(memory.buffer, memory.allocate(64), 4);
    queue.tryPushInt(1);
    ring.tryPush(bytes);
    const calls: [string, () => unknown][] = [
      ["use lockAsync", () => mutex.lock()],
      ["use acquireAsync", () => semaphore.acquire()],
      ["from 1 to 1073741823", () => semaphore.acquire(-1)],
      ["use pushIntAsync", () => queue.pushInt(1)],
      ["use popIntoAsync", () => queue.popInto(bytes)],
      ["use pushAsync", () => ring.push(bytes)],
      ["use popIntoAsync", () => ring.popInto(bytes)],
    ];
    const before = new Uint8Array(memory.buffer).slice();
    for (const [said, call] of calls) {
      const { message } = errorOf(call);
      if (!message.includes(said)) throw new Error(`${call}: ${message}`);
    }
    const after = new Uint8Array(memory.buffer);
    console.log(before.every((byte, i) => byte === after[i]), calls.length);
  },

  async "has no shared memory"() {
    const memory = new WebAssembly.Memory(
      { initial: 1, maximum: 1, shared: true },
    );
    delete (globalThis as Partial<typeof globalThis>).SharedArrayBuffer;
    const all = await library();
    const { ok, reason } = all.isSupported();
    if (ok || !reason) throw new Error("said to be supported");
    const calls = [
      () => all.Mutex.create(),
      () => all.Semaphore.create(1),
      () => all.SpscQueue.create({ capacity: 1 }),
      () => all.MpmcQueue.create({ capacity: 1 }),
      () => all.WorkCounter.create(1),
      () => new all.Mutex(memory),
      () => new all.Semaphore(new ArrayBuffer(64) as never),
    ];
    for (const call of calls) {
      const { message } = errorOf(call);
      if (!message.includes(reason)) throw new Error(`${call}: ${message}`);
    }
    console.log(reason);
    // The same, after the page did everything it can.
    Object.assign(globalThis, { crossOriginIsolated: true });
    console.log(all.isSupported().reason);
  },

  async "is a SharedWorker"() {
    Object.assign(globalThis, { SharedWorkerGlobalScope: class {} });
    const { isSupported, Mutex } = await library();
    console.log(Mutex.create().byteLength, isSupported().reason);
    delete (globalThis as Partial<typeof globalThis>).SharedArrayBuffer;
    console.log(isSupported().reason);
  },

  async "drops queues that were awaited in vain"() {
    const { gc } = globalThis as unknown as { gc(): void };
    const { MpmcQueue } = await library();
    const soon = (ms: number) =>
      new Promise((resolve) => setTimeout(resolve, ms));
    const round = async (waits: boolean) => {
      for (let i = 1; i <= 400; i++) {
        const queue = MpmcQueue.create({ capacity: 65536 });
        const abort = new AbortController();
        const wait = waits && queue.popIntAsync({ signal: abort.signal });
        if (i % 2) await soon(0);
        abort.abort();
        if (wait) await wait.catch(() => {});
        if (i % 10 === 0) {
          await soon(5);
          gc();
        }
      }
      await soon(50);
      gc();
      return process.memoryUsage().rss / 2 ** 20;
    };
    const before = await round(false); // what the allocator keeps in any case
    // On a busy machine the allocator frees late, and keeps more for a while.
    // A leak grows in each round.
    let last = before;
    let grown = Infinity;
    for (let i = 0; i < 6 && grown > 8; i++) {
      const now = await round(true);
      grown = Math.min(grown, now - last);
      last = now;
    }
    console.log(JSON.stringify({ grown, kept: last - before }));
    process.exit(0);
  },

  async "awaits 100,000 times"() {
    const { gc } = globalThis as unknown as { gc(): void };
    const { Semaphore } = await library();
    const settle = async () => {
      for (let i = 0; i < 5; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    };
    const round = async (count: number) => {
      const semaphore = Semaphore.create(0);
      const waits = Array.from(
        { length: count },
        () => semaphore.tryAcquireAsync(1, { timeout: 200_000 }),
      );
      semaphore.release(count / 2);
      await Promise.all(waits.slice(0, count / 2));
      for (let i = 0; i < count / 2; i++) semaphore.release();
      const done = await Promise.all(waits);
      if (!done.every((value) => value)) throw new Error("a wait timed out");
    };
    await round(100_000); // the pools of the runtime have their size
    await settle();
    // Memory that is kept adds up in every round; an allocator's variations do
    // not.
    let [took, heap, rss] = [Infinity, Infinity, Infinity];
    for (let i = 0; i < 8 && (i < 2 || heap > 5 || rss > 5); i++) {
      const before = process.memoryUsage();
      const begin = process.cpuUsage(); // other programs do not lengthen it
      await round(100_000);
      const { user, system } = process.cpuUsage(begin);
      took = Math.min(took, (user + system) / 1000);
      await settle();
      const after = process.memoryUsage();
      heap = Math.min(heap, (after.heapUsed - before.heapUsed) / 2 ** 20);
      rss = Math.min(rss, (after.rss - before.rss) / 2 ** 20);
    }
    console.log(JSON.stringify({ took, heap, rss }));
    process.exit(0);
  },
};

await scenarios[process.argv[2]!]!();
