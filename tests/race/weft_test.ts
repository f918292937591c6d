// it explores
// Code that uses the primitives is explored without a word of set-up: from the
// sources, from bundles, and with two copies of the library in one program.
import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import * as here from "../../mod.ts";
import * as kernel from "../../primitives/kernel/kernel.ts";
import {
  type CallTuple,
  type Options,
  race,
  type RaceError,
  type Result,
} from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

type Weft = typeof here;

const test = suite("race over the primitives");

interface Program {
  readonly name: string;
  memory(weft: Weft): SharedArrayBuffer;
  /** Makes a view, and what an agent does by each name. */
  agent(weft: Weft, memory: SharedArrayBuffer, id: number): Actions;
  readonly agents: readonly (readonly string[])[];
}

type Actions = Record<string, () => unknown>;

const PROGRAMS: readonly Program[] = [
  {
    name: "Mutex",
    memory: ({ Mutex }) => Mutex.create().buffer,
    agent({ Mutex }, memory) {
      const mutex = new Mutex(memory);
      return {
        use: () => mutex.run(() => {}),
        try: () => mutex.tryLock()?.unlock(),
      };
    },
    agents: [["use"], ["use", "try"]],
  },
  {
    name: "RwLock",
    memory: ({ RwLock }) => RwLock.create().buffer,
    agent({ RwLock }, memory) {
      const lock = new RwLock(memory);
      return {
        read: () => lock.read().unlock(),
        write: () => lock.write().unlock(),
      };
    },
    agents: [["read"], ["write"]],
  },
  {
    name: "Condition",
    memory: ({ Mutex, Condition }) =>
      new SharedArrayBuffer(Mutex.byteLength() + Condition.byteLength() + 4),
    agent({ Mutex, Condition }, memory) {
      const at = Mutex.byteLength();
      const mutex = new Mutex(memory);
      const condition = new Condition(memory, at);
      const flag = new Int32Array(memory, at + Condition.byteLength(), 1);
      return {
        wait() {
          using _guard = mutex.lock();
          while (flag[0] === 0) condition.wait(mutex);
        },
        tell() {
          using _guard = mutex.lock();
          flag[0] = 1;
          condition.notifyAll();
        },
      };
    },
    agents: [["wait"], ["tell"]],
  },
  {
    name: "Semaphore",
    memory: ({ Semaphore }) => Semaphore.create(1).buffer,
    agent({ Semaphore }, memory) {
      const semaphore = new Semaphore(memory);
      return { use: () => (semaphore.acquire(), semaphore.release()) };
    },
    agents: [["use"], ["use"]],
  },
  {
    name: "Event",
    memory: ({ Event }) => Event.create().buffer,
    agent({ Event }, memory) {
      const event = new Event(memory);
      return { wait: () => event.wait(), set: () => event.set() };
    },
    agents: [["wait"], ["set"]],
  },
  {
    name: "Latch",
    memory: ({ Latch }) => Latch.create(1).buffer,
    agent({ Latch }, memory) {
      const latch = new Latch(memory);
      return { wait: () => latch.wait(), down: () => latch.countDown() };
    },
    agents: [["wait"], ["down"]],
  },
  {
    name: "Barrier",
    memory: ({ Barrier }) => Barrier.create(2).buffer,
    agent({ Barrier }, memory) {
      const barrier = new Barrier(memory);
      return { meet: () => void barrier.arriveAndWait() };
    },
    agents: [["meet", "meet"], ["meet", "meet"]],
  },
  {
    name: "Once",
    memory: ({ Once }) => new SharedArrayBuffer(Once.byteLength() + 4),
    agent({ Once }, memory) {
      const once = new Once(memory);
      const count = new Int32Array(memory, Once.byteLength(), 1);
      return { run: () => (once.run(() => count[0]!++), count[0]) };
    },
    agents: [["run"], ["run"]],
  },
  {
    name: "Snapshot",
    memory: ({ Snapshot }) => Snapshot.create({ size: 8 }).buffer,
    agent({ Snapshot }, memory) {
      const snapshot = new Snapshot(memory);
      return {
        write: () => snapshot.write(new Int32Array([1, 1])),
        read() {
          const value = new Int32Array(2);
          snapshot.read(value);
          if (value[0] !== value[1]) throw new Error("torn");
        },
      };
    },
    agents: [["write", "write"], ["read"]],
  },
  ...["SpscQueue" as const, "MpmcQueue" as const, "LockFreeQueue" as const]
    .map((name): Program => ({
      name,
      memory: (weft) => weft[name].create({ capacity: 2 }).buffer,
      agent(weft, memory) {
        const queue = new weft[name](memory);
        return {
          push: () => queue.pushInt(7),
          pop: () => queue.popInt(),
        };
      },
      agents: [["push", "push"], ["pop"]],
    })),
  {
    name: "RecordRing",
    memory: ({ RecordRing }) => RecordRing.create({ capacity: 32 }).buffer,
    agent({ RecordRing }, memory) {
      const ring = new RecordRing(memory);
      return {
        push: () => ring.push(new Uint8Array([1, 2, 3, 4])),
        pop: () => ring.pop()[3],
      };
    },
    agents: [["push"], ["pop"]],
  },
  {
    name: "Broadcast",
    memory: ({ Broadcast }) =>
      Broadcast.create({ capacity: 2, subscribers: 1 }).buffer,
    agent({ Broadcast }, memory) {
      const broadcast = new Broadcast(memory);
      return {
        push: () => broadcast.pushInt(7),
        see() {
          const seat = broadcast.subscribe();
          seat.tryPopInt();
          seat.leave();
        },
      };
    },
    agents: [["push"], ["see"]],
  },
  {
    name: "Channel",
    memory: ({ Channel, codec }) =>
      Channel.create({ codec: codec.json, capacity: 64 }).buffer,
    agent({ Channel, codec }, memory) {
      const channel = new Channel(memory, 0, { codec: codec.json });
      return {
        send: () => channel.send("ab"),
        receive: () => channel.receive(),
      };
    },
    agents: [["send"], ["receive"]],
  },
  {
    name: "CallRing",
    memory: ({ CallRing }) =>
      CallRing.create({ slots: 1, request: 4, reply: 4 }).buffer,
    agent({ CallRing }, memory) {
      const ring = new CallRing(memory);
      return {
        call: () => ring.call(new Uint8Array([1, 2, 3, 4])).length,
        serve: () => ring.take().reply(4),
      };
    },
    agents: [["call"], ["serve"]],
  },
  {
    name: "WorkCounter",
    memory: ({ WorkCounter }) => WorkCounter.create(2).buffer,
    agent({ WorkCounter }, memory) {
      const counter = new WorkCounter(memory);
      return {
        work() {
          while (counter.next() >= 0) counter.done();
        },
        wait: () => counter.wait(),
      };
    },
    agents: [["work"], ["work", "wait"]],
  },
  {
    name: "WorkDeque",
    memory: ({ WorkDeque }) => WorkDeque.create({ capacity: 2 }).buffer,
    agent({ WorkDeque }, memory) {
      const deque = new WorkDeque(memory);
      return {
        push: () => deque.push(3),
        pop: () => deque.pop(),
        steal: () => deque.steal(),
      };
    },
    agents: [["push", "pop"], ["steal"]],
  },
  {
    name: "SlabPool",
    memory: ({ SlabPool }) =>
      SlabPool.create({ capacity: 2, blockSize: 4 }).buffer,
    agent({ SlabPool }, memory) {
      const pool = new SlabPool(memory);
      return { use: () => pool.free(pool.allocate()!) };
    },
    agents: [["use"], ["use"]],
  },
  {
    name: "StripedCounter",
    memory: ({ StripedCounter }) =>
      StripedCounter.create({ stripes: 2 }).buffer,
    agent({ StripedCounter }, memory) {
      const counter = new StripedCounter(memory);
      return { add: () => counter.add(1), sum: () => counter.sum() };
    },
    agents: [["add"], ["add", "sum"]],
  },
];

/** Explores a program, whose agents may use different copies of the library. */
function explored(
  program: Program,
  ...copies: readonly Weft[]
): Result {
  return exploredWith({}, program, ...copies);
}

function exploredWith(
  options: Options,
  { memory, agent, agents }: Program,
  ...copies: readonly Weft[]
): Result {
  const names = [...new Set(agents.flat())];
  const spec = race.spec({
    memory: () => memory(copies[0]!),
    agent: (memory, id) => agent(copies[id % copies.length]!, memory, id),
    ops: Object.fromEntries(
      names.map((name) => [name, { run: (it) => (it as Actions)[name]!() }]),
    ),
  });
  const calls = agents.map((names) => names.map((name): CallTuple => [name]));
  const most = { states: 400_000, time: 250_000 };
  return race.check(spec, ...calls, { ...most, ...options });
}

/** What is wrong, if anything is. */
const complaint = ({ ok, complete, summary, failure }: Result): string =>
  !ok
    ? `${failure!.kind}: ${failure!.message}\n${failure!.table}`
    : complete
    ? ""
    : summary;

for (const program of PROGRAMS) {
  test(`${program.name}: two agents`, () => {
    assert.is(complaint(explored(program, here)), "");
  });
}

/** The library as another module, as bundlers make it. */
async function copyOf(): Promise<Weft> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [fileURLToPath(new URL("../../mod.ts", import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
  });
  const text = `${outputFiles[0]!.text}\n// ${Math.random()}`;
  return await import(`data:text/javascript,${encodeURIComponent(text)}`);
}

const among = (...names: string[]) =>
  PROGRAMS.filter(({ name }) => names.includes(name));

test("bundles, and two copies in one program", async () => {
  const copies = [await copyOf(), await copyOf()];
  await esbuild.stop();
  assert.is.not(copies[0]!.Mutex, copies[1]!.Mutex);
  const mutex = exploredWith(
    { primitives: "atomic" },
    among("Mutex")[0]!,
    ...copies,
  );
  assert.match(mutex.summary, /mutex as one step each$/);
  for (const program of among("Mutex", "Once", "MpmcQueue", "Semaphore")) {
    assert.is(complaint(explored(program, ...copies)), "", program.name);
    assert.is(complaint(explored(program, copies[0]!, here)), "");
    const whole = { primitives: "atomic" } as const;
    assert.is(complaint(exploredWith(whole, program, ...copies)), "");
  }
});

test("the kernel's classes", () => {
  const classes = kernel as unknown as Weft;
  for (const program of among("Mutex", "SpscQueue", "MpmcQueue", "Event")) {
    assert.is(complaint(explored(program, classes)), "", program.name);
  }
  const page = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const spec = race.spec({
    memory: () => page,
    agent: (memory) => new kernel.Mutex(memory),
    ops: { use: { run: (mutex) => mutex.lock().unlock() } },
  });
  assert.is(complaint(race.check(spec, [["use"]], [["use"]])), "");
});

test("a mistake in the code around the primitives is found", () => {
  const { Mutex } = here;
  const at = Mutex.byteLength();
  const forgets = race.spec({
    memory: () => new SharedArrayBuffer(at + 4),
    agent: (memory) => ({
      mutex: new Mutex(memory),
      total: new Int32Array(memory, at, 1),
    }),
    ops: {
      add: { run: ({ mutex, total }) => mutex.run(() => total[0]!++) },
      read: { run: ({ total }) => total[0] },
    },
  });
  const { failure } = race.check(forgets, [["add"]], [["read"]]);
  assert.is(failure?.kind, "data-race");
  const order = race.spec({
    memory: () => new SharedArrayBuffer(2 * at),
    agent: (memory) => [new Mutex(memory), new Mutex(memory, at)] as const,
    ops: {
      move: {
        run: ([a, b], back: boolean) => {
          using _one = back ? b.lock() : a.lock();
          using _two = back ? a.lock() : b.lock();
        },
      },
    },
  });
  const crossed = race.check(order, [["move", false]], [["move", true]]);
  assert.is(crossed.failure?.kind, "deadlock");
  assert.ok(race.check(order, [["move", false]], [["move", false]]).complete);
});

test("two producers of an SpscQueue are found", () => {
  const queue = among("SpscQueue")[0]!;
  const wrong = { ...queue, agents: [["push"], ["push"]] };
  const { failure } = explored(wrong, here);
  assert.is(failure?.kind, "exception");
  assert.match(failure!.message, /one producer/);
});

test("asynchronous forms: each agent has its own waits", async () => {
  const { Mutex, Semaphore } = here;
  const at = Mutex.byteLength();
  const spec = race.spec({
    async: true,
    memory: () => {
      const memory = new SharedArrayBuffer(at + Semaphore.byteLength());
      Semaphore.init(memory, at);
      return memory;
    },
    agent: (memory) => ({
      mutex: new Mutex(memory),
      semaphore: new Semaphore(memory, at),
    }),
    ops: {
      use: { run: ({ mutex }) => mutex.runAsync(async () => {}) },
      take: { run: ({ semaphore }) => semaphore.acquireAsync() },
      give: { run: ({ semaphore }) => semaphore.release() },
    },
  });
  const used = await race.check(spec, [["use"]], [["use"]]);
  assert.is(complaint(used), "");
  const given = await race.check(spec, [["take"]], [["give"]]);
  assert.is(complaint(given), "");
  const { failure } = await race.check(spec, [["take"]], [["take"]]);
  assert.is(failure?.kind, "deadlock");
});

test("agents in free form may await in views that they make themselves", async () => {
  const { Mutex } = here;
  const at = Mutex.byteLength();
  const memory = () => new SharedArrayBuffer(at + 4);
  const adds = (memory: SharedArrayBuffer) => {
    const word = new Int32Array(memory, at);
    word[0] = word[0]! + 1;
  };
  const awaits = async (memory: SharedArrayBuffer) => {
    const mutex = new Mutex(memory);
    await mutex.lockAsync();
    adds(memory);
    mutex.unlock();
  };
  const blocks = (memory: SharedArrayBuffer) => {
    using _guard = new Mutex(memory).lock();
    adds(memory);
  };
  const after = (memory: SharedArrayBuffer) =>
    assert.is(new Int32Array(memory, at)[0], 2);
  for (const other of [awaits, blocks]) {
    const result = await race.agents({ memory }, awaits, other, { after });
    assert.ok(result.complete, result.summary);
  }
  const keeps = async (memory: SharedArrayBuffer) => {
    await new Mutex(memory).lockAsync();
  };
  try {
    await race.agents({ memory }, keeps, awaits);
    assert.unreachable();
  } catch (error) {
    assert.is((error as RaceError).kind, "deadlock");
  }
});

test("agents have ids 1, 2, 3 unless they take others", () => {
  const { agentId, setAgentId } = here;
  const mine = agentId();
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (_, id) => void (id === 1 && setAgentId(77)),
    ops: { ask: { run: () => agentId() } },
    final: (_, results) => {
      if (`${results}` !== "1,77,3") return `${results}`;
    },
  });
  assert.is(complaint(race.check(spec, [["ask"]], [["ask"]], [["ask"]])), "");
  assert.is(agentId(), mine);
});

test("a terminated agent can be recovered", () => {
  const { Mutex } = here;
  const spec = race.spec({
    memory: () => Mutex.create().buffer,
    agent: (memory) => new Mutex(memory),
    ops: { use: { run: (mutex) => mutex.lock().unlock() } },
    recover: (mutex, dead) => mutex.abandon(dead + 1),
  });
  const program = [[["use"]], [["use"]]] as const;
  assert.is(complaint(race.check(spec, ...program, { kill: true })), "");
});
