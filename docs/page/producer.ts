/**
 * The worker that computes the tone.
 *
 * @module
 */
import { ClosedError, SpscQueue } from "@weft/sync";
import { TONE, type Tone } from "./tone_words.ts";

globalThis.onmessage = ({ data }: MessageEvent<Tone>) => {
  try {
    produce(data);
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
  close();
};

function produce({ blocks, words, rate }: Tone): never {
  const queue = SpscQueue.from(blocks);
  const shared = new Int32Array(words);
  const samples = new Float32Array(128);
  let phase = 0;
  while (true) {
    const pause = Atomics.exchange(shared, TONE.stall, 0);
    if (pause > 0) Atomics.wait(shared, TONE.idle, 0, pause);
    const step = 2 * Math.PI * Atomics.load(shared, TONE.pitch) / rate;
    for (let i = 0; i < samples.length; i++) {
      samples[i] = 0.12 * Math.sin(phase);
      phase = (phase + step) % (2 * Math.PI);
    }
    queue.push(samples); // waits while the queue is full
  }
}
