import {
  Channel,
  type Codec,
  codec as codecs,
  type Handle,
  oneToOne,
  struct,
} from "../mod.ts";
import type { Did, Run } from "./contest.ts";

/** Three numbers, as a graphics or physics program sends them. */
const Point = struct({ x: "f64", y: "f64", z: "f64" });

/** The codecs of the bench, by name. */
export const CODECS = {
  f64: codecs.f64,
  record: codecs.record(Point),
  text: codecs.text,
  json: codecs.json,
  binary: codecs.binary,
} as unknown as Record<string, Codec<unknown>>;

/** The data of each thread: it sends `value` `n` times in each turn. */
export interface End {
  handle: Handle<"channel">;
  codec: string;
  n: number;
  value: unknown;
}

const channelOf = ({ handle, codec }: End) =>
  Channel.from<unknown>(handle, {
    codec: CODECS[codec]!,
    carrier: oneToOne,
  });

export function send(end: End): Run {
  const channel = channelOf(end);
  const { n, value } = end;
  return (): Did => {
    for (let i = 0; i < n; i++) channel.send(value);
    return { ops: n };
  };
}

export function receive(end: End): Run {
  const channel = channelOf(end);
  const { n, value } = end;
  return (): Did => {
    let last;
    for (let i = 0; i < n; i++) last = channel.receive();
    if (typeof last !== typeof value) throw new Error(`received ${last}`);
    return { ops: 0 };
  };
}

/** Sends a value, and waits for one back. */
export function ping({ there, back }: { there: End; back: End }): Run {
  const [to, from] = [channelOf(there), channelOf(back)];
  return (): Did => {
    for (let i = 0; i < there.n; i++) {
      to.send(there.value);
      from.receive();
    }
    return { ops: there.n };
  };
}

/** Waits for a value, and sends it back. */
export function pong({ there, back }: { there: End; back: End }): Run {
  const [from, to] = [channelOf(there), channelOf(back)];
  return (): Did => {
    for (let i = 0; i < there.n; i++) to.send(from.receive());
    return { ops: 0 };
  };
}

// ---- postMessage ---------------------------------------------------------------

/** One end of a `MessageChannel`. */
export interface Port {
  port: MessagePort;
  n: number;
  value: unknown;
  /** Whether the value's buffer is transferred; it is a fresh one each time. */
  transfer?: boolean;
}

export function post({ port, n, value, transfer }: Port): Run {
  return (): Did => {
    for (let i = 0; i < n; i++) {
      if (transfer) {
        const copy = (value as Uint8Array).slice();
        port.postMessage(copy, [copy.buffer]);
      } else port.postMessage(value);
    }
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

export function pingPort({ port, n, value }: Port): Run {
  let over: () => void;
  port.onmessage = () => over();
  return async (): Promise<Did> => {
    for (let i = 0; i < n; i++) {
      const back = new Promise<void>((resolve) => over = resolve);
      port.postMessage(value);
      await back;
    }
    return { ops: n };
  };
}

export function pongPort({ port, n }: Port): Run {
  let left = 0;
  let over = () => {};
  port.onmessage = ({ data }) => {
    port.postMessage(data);
    if (--left === 0) over();
  };
  return async (): Promise<Did> => {
    left += n;
    if (left > 0) await new Promise<void>((resolve) => over = resolve);
    return { ops: 0 };
  };
}
