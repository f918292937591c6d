/**
 * The main thread of a page, which reads and writes pieces of a file. It must
 * not block, so that each step is awaited.
 *
 * @module
 */

import { CallRing } from "../../../mod.ts";
import type { Order } from "./keeper.ts";
import { byteOf, open, PIECE, READ, WRITE } from "./opfs.ts";

/** What one way of a step cost. */
export interface Cost {
  readonly way: string;
  readonly step: "write" | "read";
  /** µs a piece. */
  readonly each: number;
  /** The longest time the main thread's timers had to wait, in ms. */
  readonly pause: number;
}

type Step = (kind: number, k: number) => Promise<unknown>;

const BEAT = 2;

/** Does `count` steps of a kind, `inFlight` at a time, and measures them. */
async function measure(
  way: string,
  kind: number,
  count: number,
  inFlight: number,
  step: Step,
): Promise<Cost> {
  let beat = performance.now(), pause = 0, next = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    pause = Math.max(pause, now - beat - BEAT);
    beat = now;
  }, BEAT);
  const begin = performance.now();
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (next < count) await step(kind, next++);
  }));
  const ms = performance.now() - begin;
  clearInterval(timer);
  const name = kind === WRITE ? "write" : "read";
  return { way, step: name, each: ms * 1000 / count, pause };
}

function request(kind: number, k: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(8 + (kind === WRITE ? PIECE : 0));
  new Int32Array(bytes.buffer, 0, 2).set([kind, k * PIECE]);
  return bytes.fill(byteOf(k), 8);
}

function check(kind: number, k: number, answer: Uint8Array | Int32Array) {
  const right = kind === READ
    ? answer.length === PIECE && answer[0] === byteOf(k)
    : new Int32Array(answer.buffer, answer.byteOffset, 1)[0] === PIECE;
  if (!right) throw new Error(`piece ${k} is not as it was written`);
}

/** The browser's own asynchronous calls. */
async function itself(): Promise<Step> {
  const file = await open("own.bin");
  return async (kind, k) => {
    if (kind === READ) {
      const blob = (await file.getFile()).slice(k * PIECE, (k + 1) * PIECE);
      return check(kind, k, new Uint8Array(await blob.arrayBuffer()));
    }
    const writable = await file.createWritable({ keepExistingData: true });
    const data = request(kind, k).subarray(8);
    await writable.write({ type: "write", position: k * PIECE, data });
    await writable.close();
  };
}

/** A worker that keeps the file; `next` is what it posts next. */
async function hire(url: string) {
  const worker = new Worker(url, { type: "module" });
  const heard: unknown[] = [];
  const waiting: ((data: never) => void)[] = [];
  worker.onmessage = ({ data }) => {
    const hear = waiting.shift();
    if (hear === undefined) heard.push(data);
    else hear(data as never);
  };
  const next = <T>() =>
    new Promise<T>((resolve) => {
      if (heard.length > 0) resolve(heard.shift() as T);
      else waiting.push(resolve);
    });
  await next();
  return { worker, next, post: (it: Order) => worker.postMessage(it) };
}

/** Measures all ways, in their order. */
async function all(url: string, count: number): Promise<Cost[]> {
  const costs: Cost[] = [];
  const both = async (way: string, n: number, inFlight: number, step: Step) => {
    for (const kind of [WRITE, READ]) {
      await measure(way, kind, Math.min(n, 50), inFlight, step); // warms up
      costs.push(await measure(way, kind, n, inFlight, step));
    }
  };
  const slow = Math.ceil(count / 20);
  await both("the page's own calls", slow, 1, await itself());

  let keeper = await hire(url);
  const message: Step = async (kind, k) => {
    keeper.worker.postMessage(request(kind, k));
    check(kind, k, await keeper.next<Uint8Array>());
  };
  await both("messages to a worker", count, 1, message);
  await both("messages, 16 in flight", count, 16, message);
  keeper.post({ alone: count });
  await keeper.next();
  keeper.post({ alone: count });
  const [write, read] = await keeper.next<[number, number]>();
  costs.push(
    {
      way: "the worker alone",
      step: "write",
      each: write * 1e3 / count,
      pause: 0,
    },
    {
      way: "the worker alone",
      step: "read",
      each: read * 1e3 / count,
      pause: 0,
    },
  );
  keeper.worker.terminate();

  const ring = CallRing.create({ slots: 16, request: 8 + PIECE, reply: PIECE });
  // The file is free again a little after the worker has ended.
  await new Promise((resolve) => setTimeout(resolve, 500));
  keeper = await hire(url);
  keeper.post({ serve: ring.handle });
  await keeper.next();
  const call: Step = async (kind, k) =>
    check(kind, k, await ring.callAsync(request(kind, k)));
  await both("CallRing", count, 1, call);
  await both("CallRing, 16 in flight", count, 16, call);
  ring.close();
  await keeper.next();
  keeper.worker.terminate();
  return costs;
}

Object.assign(globalThis, { measureFiles: all });
