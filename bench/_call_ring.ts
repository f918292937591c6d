import { CallRing, type Handle, type PendingCall } from "../mod.ts";
import type { Did, Run } from "./contest.ts";

/** One side of the calls: requests and replies of 8 bytes. */
export interface Side {
  ring: Handle<"call_ring">;
  /** Calls each turn. */
  n: number;
}

/** Calls under way at a time. */
export const IN_FLIGHT = 16;

/** Answers `n` calls with the request's first byte, plus 1. */
export function serve({ ring, n }: Side): Run {
  const server = CallRing.from(ring);
  const answer = (request: Uint8Array, reply: Uint8Array) => {
    reply[0] = request[0]! + 1;
    return 8;
  };
  return (): Did => {
    for (let left = n; left > 0;) {
      left--;
      if (server.tryServeOne(answer)) continue;
      const call = server.take()!;
      call.reply(answer(call.request, call.space));
    }
    return { ops: 0 };
  };
}

function check(reply: Uint8Array, first: number): void {
  if (reply[0] !== (first + 1 & 0xff)) throw new Error("another's reply");
}

/** One call after the other. */
export function call({ ring, n }: Side): Run {
  const caller = CallRing.from(ring);
  const request = new Uint8Array(8);
  const reply = new Uint8Array(8);
  return (): Did => {
    for (let i = 0; i < n; i++) {
      request[0] = i;
      caller.callInto(request, reply);
      check(reply, i);
    }
    return { ops: n };
  };
}

/** Posts calls ahead, and blocks for the oldest. */
export function callAhead({ ring, n }: Side): Run {
  const caller = CallRing.from(ring);
  const request = new Uint8Array(8);
  const reply = new Uint8Array(8);
  const calls: PendingCall[] = new Array(IN_FLIGHT);
  return (): Did => {
    for (let i = 0; i < n + IN_FLIGHT; i++) {
      const place = i % IN_FLIGHT;
      if (i >= IN_FLIGHT) {
        calls[place]!.receiveInto(reply);
        check(reply, i - IN_FLIGHT);
      }
      if (i >= n) continue;
      request[0] = i;
      calls[place] = caller.tryPost(request)!;
    }
    return { ops: n };
  };
}

/** As many callers as calls under way; each awaits its reply. */
export function callAsync({ ring, n }: Side): Run {
  const caller = CallRing.from(ring);
  return async (): Promise<Did> => {
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async (_, first) => {
        const request = new Uint8Array(8);
        const reply = new Uint8Array(8);
        for (let i = first; i < n; i += IN_FLIGHT) {
          request[0] = i;
          await caller.callIntoAsync(request, reply);
          check(reply, i);
        }
      }),
    );
    return { ops: n };
  };
}

// ---- the peer: requests and replies as messages -----------------------------

interface PortSide {
  port: MessagePort;
  n: number;
}

interface Message {
  id: number;
  bytes: Uint8Array;
}

export function messagesServe({ port, n }: PortSide): Run {
  let left = 0;
  let done = () => {};
  port.onmessage = ({ data }: MessageEvent<Message>) => {
    const { id, bytes } = data;
    bytes[0] = bytes[0]! + 1;
    port.postMessage({ id, bytes });
    if (--left === 0) done();
  };
  return () =>
    new Promise<Did>((resolve) => {
      left += n;
      done = () => resolve({ ops: 0 });
      if (left === 0) done();
    });
}

export function messagesCall({ port, n }: PortSide): Run {
  const waiting = new Map<number, (bytes: Uint8Array) => void>();
  let last = 0;
  port.onmessage = ({ data }: MessageEvent<Message>) => {
    const resolve = waiting.get(data.id)!;
    waiting.delete(data.id);
    resolve(data.bytes);
  };
  const call = (bytes: Uint8Array) =>
    new Promise<Uint8Array>((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      port.postMessage({ id, bytes });
    });
  return async (): Promise<Did> => {
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async (_, first) => {
        const request = new Uint8Array(8);
        for (let i = first; i < n; i += IN_FLIGHT) {
          request[0] = i;
          check(await call(request), i);
        }
      }),
    );
    return { ops: n };
  };
}
