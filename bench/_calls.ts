import { CallRing, connect, type Handle, serve } from "../mod.ts";
import { start } from "../tests/_run/workers.ts";
import type { Did, Run } from "./contest.ts";

/** One side of the calls: two numbers there, their sum back. */
export interface Side {
  ring: Handle<"call_ring">;
  /** Calls each turn. */
  n: number;
  /** Callers, each of which awaits its reply. */
  callers: number;
}

/** The same over a port, by the module of a peer if there is one. */
export interface PortSide {
  port: MessagePort;
  n: number;
  callers: number;
  peer?: string;
}

interface Api {
  add(a: number, b: number): number;
}

/** What is served, and a turn that ends once it was called `n` times. */
function counted(n: number): { api: Api; run: Run } {
  let left = 0;
  let done = () => {};
  const add = (a: number, b: number) => {
    // The reply is on its way when the turn ends, and this thread may block.
    if (--left === 0) setImmediate(done);
    return a + b;
  };
  const run = () =>
    new Promise<Did>((resolve) => {
      left += n;
      done = () => resolve({ ops: 0 });
      if (left === 0) done();
    });
  return { api: { add }, run };
}

/** Turns of `n` calls by that number of callers. */
function calling(
  add: (a: number, b: number) => Promise<number>,
  { n, callers }: { n: number; callers: number },
): Run {
  const one = async (first: number) => {
    for (let i = first; i < n; i += callers) {
      if (await add(i, 0.5) !== i + 0.5) throw new Error("another's reply");
    }
  };
  return async (): Promise<Did> => {
    await Promise.all(Array.from({ length: callers }, (_, k) => one(k)));
    return { ops: n };
  };
}

export function served({ ring, n }: Side): Run {
  const { api, run } = counted(n);
  serve(CallRing.from(ring), api);
  return run;
}

/**
 * In a thread of its own, because it blocks for ever: this one only arrives.
 */
export function servedBlocking({ ring }: Side): Run {
  const url = new URL("./_calls_server.ts", import.meta.url);
  start(url, ring);
  return () => ({ ops: 0 });
}

export function called(side: Side): Run {
  const remote = connect<Api>(CallRing.from(side.ring));
  return calling(remote.add, side);
}

// ---- the peers: comlink, and calls by hand over a port ----------------------

interface Comlink {
  expose(api: Api, port: MessagePort): void;
  wrap(port: MessagePort): { add(a: number, b: number): Promise<number> };
}

export async function comlinkServed(side: PortSide): Promise<Run> {
  const comlink: Comlink = await import(side.peer!);
  const { api, run } = counted(side.n);
  comlink.expose(api, side.port);
  return run;
}

export async function comlinkCalled(side: PortSide): Promise<Run> {
  const comlink: Comlink = await import(side.peer!);
  const remote = comlink.wrap(side.port);
  return calling((a, b) => remote.add(a, b), side);
}

interface Message {
  id: number;
  args?: [number, number];
  result?: number;
}

export function messagesServed({ port, n }: PortSide): Run {
  const { api, run } = counted(n);
  port.onmessage = ({ data: { id, args } }: MessageEvent<Message>) => {
    port.postMessage({ id, result: api.add(...args!) });
  };
  return run;
}

export function messagesCalled(side: PortSide): Run {
  const { port } = side;
  const waiting = new Map<number, (result: number) => void>();
  let last = 0;
  port.onmessage = ({ data: { id, result } }: MessageEvent<Message>) => {
    const resolve = waiting.get(id)!;
    waiting.delete(id);
    resolve(result!);
  };
  const add = (...args: [number, number]) =>
    new Promise<number>((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      port.postMessage({ id, args });
    });
  return calling(add, side);
}
