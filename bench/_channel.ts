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

/** The name of no codec and no carrier: what a channel has by itself. */
export const DEFAULT = "default";

/** The data of each thread: it sends `value` `n` times in each turn. */
export interface End {
  handle: Handle<"channel">;
  codec: string;
  n: number;
  value: unknown;
  /** Whether the carrier is the one that a channel has by itself. */
  usual?: boolean;
}

function channelOf({ handle, codec, usual }: End): Channel<unknown> {
  if (codec === DEFAULT) return Channel.from<unknown>(handle);
  const config = { codec: CODECS[codec]! };
  return Channel.from(
    handle,
    usual ? config : { ...config, carrier: oneToOne },
  );
}

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

/** The same end of a channel of bytes. */
const bytesOf = (end: End) => channelOf(end) as Channel<Uint8Array>;

/** Receives into one array. */
export function receiveInto(end: End): Run {
  const channel = bytesOf(end);
  const { n, value } = end;
  const target = new Uint8Array((value as Uint8Array).length);
  return (): Did => {
    let length = 0;
    for (let i = 0; i < n; i++) length += channel.receiveInto(target);
    if (length !== n * target.length) throw new Error(`${length} bytes`);
    return { ops: 0 };
  };
}

/** Looks at messages where they lie. */
export function peek(end: End): Run {
  const channel = bytesOf(end);
  const { n, value } = end;
  const { length } = value as Uint8Array;
  return (): Did => {
    for (let i = 0; i < n; i++) {
      const message = channel.peek();
      const { bytes } = message;
      if (bytes[length - 1] !== 0) throw new Error("other bytes");
      message.release();
    }
    return { ops: 0 };
  };
}

/** How long both sides are idle before each message, in ms. */
const IDLE = 1;

/**
 * The number of messages that go there and back first, without a pause, so that
 * the code is compiled: a program's first messages take several times as long.
 */
const WARM_UP = 5000;

const nothing = new Int32Array(new SharedArrayBuffer(4));

/** The times of messages there and back, in ns. */
class Times {
  readonly #all: number[] = [];
  #begin = 0;

  /** Lets both sides fall asleep, and starts the clock. */
  begin(): void {
    Atomics.wait(nothing, 0, 0, IDLE);
    this.#begin = performance.now();
  }

  end(): void {
    this.#all.push((performance.now() - this.#begin) * 1e6);
  }

  /** The figures of a turn. */
  did(): Did {
    const sorted = this.#all.splice(0).sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(sorted.length * share)]!;
    return { ops: sorted.length, p50: at(0.5), p99: at(0.99) };
  }
}

/** Sends a value, and waits for one back. */
export function ping({ there, back }: { there: End; back: End }): Run {
  const [to, from] = [channelOf(there), channelOf(back)];
  const times = new Times();
  let warmUp = WARM_UP;
  return (): Did => {
    for (; warmUp > 0; warmUp--) {
      to.send(there.value);
      from.receive();
    }
    for (let i = 0; i < there.n; i++) {
      times.begin();
      to.send(there.value);
      from.receive();
      times.end();
    }
    return times.did();
  };
}

/** Waits for a value, and sends it back. */
export function pong({ there, back }: { there: End; back: End }): Run {
  const [from, to] = [channelOf(there), channelOf(back)];
  let warmUp = WARM_UP;
  return (): Did => {
    for (; warmUp > 0; warmUp--) to.send(from.receive());
    for (let i = 0; i < there.n; i++) to.send(from.receive());
    return { ops: 0 };
  };
}

// ---- postMessage ------------------------------------------------------------

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

/** How many values are in a message of {@linkcode postMany}. */
export const BATCH = 64;

/** Posts arrays of values: `n` arrays in each turn. */
export function postMany({ port, n, value }: Port): Run {
  const batch = Array.from({ length: BATCH }, () => structuredClone(value));
  return (): Did => {
    for (let i = 0; i < n; i++) port.postMessage(batch);
    return { ops: n * BATCH };
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
  const times = new Times();
  port.onmessage = () => over();
  let warmUp = WARM_UP;
  return async (): Promise<Did> => {
    for (; warmUp > 0; warmUp--) {
      const back = new Promise<void>((resolve) => over = resolve);
      port.postMessage(value);
      await back;
    }
    for (let i = 0; i < n; i++) {
      const back = new Promise<void>((resolve) => over = resolve);
      times.begin();
      port.postMessage(value);
      await back;
      times.end();
    }
    return times.did();
  };
}

export function pongPort({ port, n }: Port): Run {
  let left = WARM_UP;
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
