import {
  Channel,
  type Codec,
  f64,
  type Handle,
  json,
  RecordRing,
  text,
} from "../mod.ts";
import type { Did, Run } from "./contest.ts";

const CODECS = { text, json, f64 } as unknown as Record<
  string,
  Codec<unknown>
>;

/** What each thread is given: `n` messages, each `value`, a turn. */
export interface End {
  handle: Handle;
  codec: string;
  n: number;
  value: unknown;
}

export function send({ handle, codec, n, value }: End): Run {
  const channel = Channel.from(handle, { codec: CODECS[codec]! });
  return (): Did => {
    for (let i = 0; i < n; i++) channel.send(value);
    return { ops: n };
  };
}

export function receive({ handle, codec, n, value }: End): Run {
  const channel = Channel.from(handle, { codec: CODECS[codec]! });
  return (): Did => {
    let last;
    for (let i = 0; i < n; i++) last = channel.receive();
    if (typeof last !== typeof value) throw new Error(`received ${last}`);
    return { ops: 0 };
  };
}

// ---- the floor: the same bytes, without a codec --------------------------------

/** Records of `length` bytes. */
export interface Records {
  handle: Handle<"record_ring">;
  n: number;
  length: number;
}

export function push({ handle, n, length }: Records): Run {
  const ring = RecordRing.from(handle);
  const bytes = new Uint8Array(length);
  return (): Did => {
    for (let i = 0; i < n; i++) ring.push(bytes);
    return { ops: n };
  };
}

export function pop({ handle, n }: Records): Run {
  const ring = RecordRing.from(handle);
  return (): Did => {
    for (let i = 0; i < n; i++) ring.pop();
    return { ops: 0 };
  };
}

// ---- postMessage ---------------------------------------------------------------

/** One end of a `MessageChannel`. */
export interface Port {
  port: MessagePort;
  n: number;
  value: unknown;
}

export function post({ port, n, value }: Port): Run {
  return (): Did => {
    for (let i = 0; i < n; i++) port.postMessage(value);
    return { ops: n };
  };
}

export function take({ port, n }: Port): Run {
  let left = 0;
  let over = () => {};
  let early = 0;
  port.onmessage = () => {
    if (left === 0) early++;
    else if (--left === 0) over();
  };
  return async (): Promise<Did> => {
    left = n - early;
    early = 0;
    if (left > 0) await new Promise<void>((resolve) => over = resolve);
    return { ops: 0 };
  };
}
