import type { Handle } from "../../mod.ts";
import { Channel } from "../../primitives/channel.ts";
import { transfer } from "../../primitives/calls.ts";

/** What the tests of ports serve. */
export const api = {
  memory: new SharedArrayBuffer(8),
  add: (a: number, b: number): number => a + b,
  /** The places of shared memory among the arguments. */
  places: (...args: unknown[]): number[] =>
    [...args.keys()].filter((i) => args[i] instanceof SharedArrayBuffer),
  /** Writes where the caller looks. */
  write(memory: SharedArrayBuffer, words: Int32Array, value: number): void {
    new Int32Array(memory)[0] = value;
    words[1] = value;
  },
  /** Sends through a channel that came through the ring. */
  tell(handle: Handle<"channel">, text: string): void {
    Channel.from<string>(handle).trySend(text);
  },
  channel(): Handle<"channel"> {
    const channel = Channel.create<string>({ capacity: 4 });
    channel.trySend("from there");
    return channel.handle;
  },
  fill(bytes: Uint8Array, n: number): Uint8Array {
    return transfer(bytes.fill(n), [bytes.buffer]);
  },
  async later(bytes: Uint8Array, n: number): Promise<Uint8Array> {
    await new Promise((resolve) => setTimeout(resolve, 3));
    return transfer(bytes.fill(n), [bytes.buffer]);
  },
  /** Answers by a port that came through the ring. */
  answer(port: MessagePort, { words }: { words: Int32Array }): void {
    port.postMessage(words[0]);
    port.close();
  },
  *buffers(n: number): Generator<Uint8Array> {
    for (let i = 0; i < n; i++) {
      const bytes = new Uint8Array(100).fill(i);
      yield transfer(bytes, [bytes.buffer]);
    }
  },
  each(
    fn: (n: number) => number | Promise<number>,
    bytes: Uint8Array,
  ): unknown {
    const end = (n: number) => transfer(bytes.fill(n), [bytes.buffer]);
    const n = fn(bytes.length);
    return typeof n === "number" ? end(n) : n.then(end);
  },
  wait: (bytes: Uint8Array, signal: AbortSignal): Promise<number> =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(bytes.length));
    }),
  fail(bytes: Uint8Array): void {
    throw new RangeError(`${bytes.length} bytes`);
  },
  nested: (): unknown => ({ bytes: transfer(new Uint8Array(1)) }),
  lengths: (memory: SharedArrayBuffer, text: string): number =>
    memory.byteLength + text.length,
  sync: (bytes: Uint8Array): number => bytes.length,
};

/** The same without promises, for servers that block. */
export type Api = typeof api;
