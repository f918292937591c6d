// What `connect` and `task` accept, by the types that a codec carries. Nothing
// runs here: the compiler checks it, with the other tests.
import {
  type CallRing,
  codec,
  connect,
  type JsonValue,
  struct,
  valueCodec,
  valueCodecWith,
} from "../../mod.ts";
import { type Task, task } from "../../primitives/pool.ts";

interface Job {
  readonly id: number;
  readonly tags: string[];
  readonly size?: number;
}

const Point = struct({ x: "f64" });

/** A codec of a program's own, for anything. */
const own = {
  name: "own",
  encode: (_value: unknown, _into: Uint8Array): number => 0,
  decode: (_bytes: Uint8Array): unknown => undefined,
};

/** Methods of which JSON carries everything. */
export class Account {
  #sum = 0;
  add(n: number, _signal?: AbortSignal): number {
    return this.#sum += n;
  }
  jobs(_first?: Job): Promise<readonly Job[]> {
    return Promise.resolve([]);
  }
  all(...jobs: Job[]): void {
    jobs.length = 0;
  }
  same<T>(value: T): Promise<T> {
    return Promise.resolve(value);
  }
  // deno-lint-ignore no-explicit-any
  any(value: any): unknown {
    return value;
  }
}

export const callback = { on: (fn: () => void) => fn(), one: () => 1 };
export const date = { at: (date: Date) => date.getTime() };
export const now = { now: () => Promise.resolve(new Date()) };
export const map = { size: (map: Map<string, bigint>) => map.size };
export const generator = {
  *count() {
    yield 1;
  },
};
export const dated = { on: (fn: (date: Date) => void) => fn(new Date()) };
export const fed = { feed: (dates: AsyncIterable<Date>) => void dates };
export const inner = { on: (by: { fn: () => void }) => by.fn() };
export const days = {
  async *days(): AsyncGenerator<Date, number> {
    yield await new Date();
    return 1;
  },
};

/** Is never called. */
export function connects(ring: CallRing): unknown[] {
  return [
    connect<Account>(ring),
    connect<Account>(ring, { codec: codec.json, timeout: 5 }),
    connect<Account>(ring, { codec: codec.structured }),
    connect.blocking<Account>(ring, { timeout: 5 }),
    connect<typeof date>(ring),
    connect<typeof date>(ring, { codec: codec.structured }),
    connect<typeof now>(ring, { codec: valueCodec }),
    connect.blocking<typeof now>(ring, { timeout: 5 }),
    connect<typeof map>(ring),
    connect<typeof map>(ring, { codec: valueCodecWith({ errors: [] }) }),
    connect<typeof callback>(ring, { codec: own }),
    connect<typeof callback>(ring),
    connect.blocking<typeof callback>(ring, { timeout: 5 }),
    connect<typeof callback>(ring, { codec: codec.json }),
    connect<typeof dated>(ring),
    // @ts-expect-error: JSON has no dates
    connect<typeof dated>(ring, { codec: codec.json }),
    // @ts-expect-error: JSON has no dates
    connect<typeof fed>(ring, { codec: codec.json }),
    // @ts-expect-error: a function within an object is not sent
    connect<typeof inner>(ring),
    // @ts-expect-error: JSON has no dates
    connect<typeof date>(ring, { codec: codec.json }),
    // @ts-expect-error: JSON has no dates
    connect.blocking<typeof now>(ring, { codec: codec.json }),
    // @ts-expect-error: JSON has no maps
    connect<typeof map>(ring, { codec: codec.json }),
    connect<typeof generator>(ring),
    connect<typeof generator>(ring, { codec: codec.json }),
    // @ts-expect-error: JSON has no dates
    connect<typeof days>(ring, { codec: codec.json }),
    // @ts-expect-error: it carries text alone
    connect<Account>(ring, { codec: codec.text }),
  ];
}

/** Is never called. */
export function tasks(): unknown[] {
  const bytes: Task<Uint8Array, Uint8Array> = task({
    request: codec.binary,
    reply: codec.binary,
  });
  const mixed: Task<Uint8Array, unknown> = task({ request: codec.binary });
  const text: Task<JsonValue, string> = task({
    request: codec.json,
    reply: codec.text,
  });
  return [
    bytes,
    mixed,
    text,
    task(),
    task({ idempotent: true }),
    task({ reply: codec.record(Point) }),
    task<Job, Job[]>({ idempotent: true }),
    task<undefined, undefined>(),
    task<string | undefined, never>(),
    task<string, unknown>(),
    task<Uint8Array, Job | undefined>({ request: codec.binary }),
    task<Map<string, bigint>, Date>({
      request: codec.structured,
      reply: codec.structured,
    }),
    task<Uint8Array, Date>(),
    task<Uint8Array, Date>({ idempotent: true }),
    task<Uint8Array, Date>({ request: codec.binary }),
    // @ts-expect-error: no function is sent
    task<Uint8Array, () => void>(),
    // @ts-expect-error: no function is sent
    task<() => void, Date>({ idempotent: true }),
    // @ts-expect-error: no function is sent
    task<Uint8Array, () => void>({ request: codec.binary }),
    // @ts-expect-error: JSON has no dates
    task<Job, Date>({ reply: codec.json }),
    // @ts-expect-error: structuredClone has no functions
    task<() => void, number>({ request: codec.structured }),
    // @ts-expect-error: the codec carries bytes
    task<Date, string>({ request: codec.binary }),
  ];
}

export class Counter {
  constructor(readonly count: number) {}
  add(n: number): number {
    return this.count + n;
  }
}

const nested = {
  math: { add: (a: number, b: number): number => a + b },
  version: "1",
  at: new Date(),
  Counter,
};
const dates = { deep: { at: (date: Date): number => date.getTime() } };

/** Is never called. */
export async function objects(ring: CallRing): Promise<unknown[]> {
  const remote = connect<typeof nested>(ring);
  const now = connect.blocking<typeof nested>(ring);
  const counter = await new remote.Counter(1);
  const here = new now.Counter(1);
  const numbers: number[] = [
    await remote.math.add(1, 2),
    now.math.add(1, 2),
    await counter.add(1),
    await counter.count,
    here.add(1),
    here.count(),
    (await remote.at).getTime(),
  ];
  const texts: string[] = [await remote.version, now.version()];
  connect<typeof dates>(ring);
  // @ts-expect-error: JSON has no dates, within objects, too
  connect<typeof dates>(ring, { codec: codec.json });
  // @ts-expect-error: JSON has no dates
  connect<typeof nested>(ring, { codec: codec.json });
  // @ts-expect-error: it takes numbers
  remote.math.add("1", 2);
  // @ts-expect-error: a number, and no text
  new remote.Counter("1");
  // @ts-expect-error: a class is not called
  remote.Counter(1);
  // @ts-expect-error: nothing is assigned
  remote.version = "2";
  // @ts-expect-error: nothing is assigned
  remote.math.add = () => 1;
  // @ts-expect-error: a promise of a text
  texts.push(remote.version);
  return [numbers, texts];
}

const add = (a: number, b: number): number => a + b;
const when = (date: Date): Date => date;
const each = (fn: (n: number) => string): string => fn(1);
const held = { within: (_inner: { fn: () => void }): void => {} }.within;

/** Is never called. */
export async function whole(ring: CallRing): Promise<unknown[]> {
  const remote = connect<typeof add>(ring, { codec: codec.json });
  const numbers: number[] = [
    await remote(1, 2),
    connect.blocking<typeof add>(ring)(1, 2),
    await (await new (connect<typeof Counter>(ring))(1)).add(1),
    new (connect.blocking<typeof Counter>(ring))(1).count(),
    (await connect<typeof when>(ring)(new Date())).getTime(),
  ];
  const texts = [await connect<typeof each>(ring)((n) => n.toFixed())];
  // deno-lint-ignore no-explicit-any
  connect<any>(ring, { codec: codec.json });
  // @ts-expect-error: it takes numbers
  remote("1", 2);
  // @ts-expect-error: an object is not called
  connect<typeof nested>(ring)();
  // @ts-expect-error: a class is not called
  connect<typeof Counter>(ring)(1);
  // @ts-expect-error: JSON has no dates
  connect<typeof when>(ring, { codec: codec.json });
  // @ts-expect-error: a function within an object is not sent
  connect<typeof held>(ring);
  return [numbers, texts];
}

/** Is never called. */
export async function iterates(ring: CallRing): Promise<unknown[]> {
  const remote = connect<typeof days & typeof generator>(ring);
  const now = connect.blocking<typeof days & typeof generator>(ring);
  const dates: Date[] = [];
  const counts: number[] = [];
  for await (const date of remote.days()) dates.push(date);
  for await (const count of await remote.count()) counts.push(count);
  for (const date of now.days()) dates.push(date);
  for (const count of now.count()) counts.push(count);
  // @ts-expect-error: its values are numbers
  for await (const date of remote.count()) dates.push(date);
  // @ts-expect-error: an agent that does not block awaits its values
  for (const date of remote.days()) dates.push(date);
  return [dates, counts];
}

const called = {
  each: async (
    fn: (n: number) => Promise<string>,
    of?: AsyncIterable<Date>,
  ): Promise<string> => await fn(1) + String(of),
  now: (fn: (n: number) => number): number => fn(1),
};

/** Is never called. */
export async function callsBack(ring: CallRing): Promise<unknown[]> {
  const remote = connect<typeof called>(ring);
  const now = connect.blocking<typeof called>(ring);
  async function* dates() {
    yield await new Date();
  }
  const texts: string[] = [
    await remote.each((n) => n.toFixed()),
    await remote.each((n) => Promise.resolve(n.toFixed()), dates()),
    await remote.each((n) => n.toFixed(), [new Date()].values()),
    now.each((n) => n.toFixed(), [new Date()].values()),
  ];
  const sums: number[] = [
    await remote.now((n) => n),
    await remote.now((n) => Promise.resolve(n)),
    now.now((n) => n),
  ];
  // @ts-expect-error: it gets a number
  await remote.each((n: string) => n);
  // @ts-expect-error: it returns a text
  await remote.each((n) => n);
  // @ts-expect-error: this agent blocks, so nobody awaits a promise of it
  now.each((n) => Promise.resolve(n.toFixed()));
  // @ts-expect-error: its values are dates
  await remote.each((n) => n.toFixed(), [1].values());
  return [texts, sums];
}

/** What a plugin may have, or lack. */
interface Plugin {
  name?: string;
  begin?(path: string): number;
  readonly end: ((why: Error) => Promise<void>) | undefined;
  readonly hooks?: { read?(path: string): Uint8Array } | null;
}

/** Is never called. */
export async function calls(ring: CallRing): Promise<unknown[]> {
  const plugin = connect<Plugin>(ring);
  const blocking = connect.blocking<Plugin>(ring);
  const counts: (number | undefined)[] = [
    await plugin.begin?.("a"),
    blocking.begin?.("a"),
  ];
  await plugin.end(new Error("enough"));
  const bytes: Uint8Array[] = [
    await plugin.hooks!.read!("a"),
    blocking.hooks!.read!("a"),
  ];
  const names: (string | undefined)[] = [
    await plugin.name,
    blocking.name?.(),
  ];
  // @ts-expect-error: its arguments are those of the method
  await plugin.begin?.(1);
  // @ts-expect-error: JSON carries no bytes
  connect<Plugin>(ring, { codec: codec.json });
  // @ts-expect-error: no codec carries shared memory
  connect<{ take?(memory: SharedArrayBuffer): void }>(ring);
  return [counts, bytes, names];
}
