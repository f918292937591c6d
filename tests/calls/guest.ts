// A thread of C: it serves a ring, or calls what JavaScript serves there.
import { hello } from "../_run/workers.ts";
import type { GuestJob } from "./api.ts";

const self = await hello<GuestJob>();
const { module, memory, at, calls } = self.data;
const now = () => performance.now();
const env = { memory, weft_now: now, weft_random: () => 7 };
const { exports } = await WebAssembly.instantiate(module, { env });
const { serve, call, text_at } = exports as Record<
  string,
  (...words: number[]) => number
>;
self.post("ready");
if (calls === undefined) self.post(serve!(at, 4711));
else {
  const text = text_at!();
  /** Where the method's name and what is told lie. */
  const name = at - 256;
  const told = new Int32Array(memory.buffer, at - 8, 2);
  const bytes = new Uint8Array(memory.buffer);
  const encode = (text: string) => new TextEncoder().encode(text);
  for (const [method, args] of calls) {
    bytes.set(encode(`${method}\0`), name);
    const sent = encode(args);
    bytes.set(sent, text);
    const result = call!(at, name, sent.length, at - 8);
    const got = bytes.slice(text, text + told[0]!);
    self.post([result, told[1]!, new TextDecoder().decode(got)]);
  }
}
