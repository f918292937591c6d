/**
 * The worker that computes the tone.
 *
 * @module
 */
import { SpscQueue } from "@weft/sync/realtime";
import { TONE, type Tone } from "./tone_words.ts";

/** How often the queue is filled, in ms. */
const PERIOD = 4;

globalThis.onmessage = ({ data }: MessageEvent<Tone>) => produce(data);

function produce({ blocks, words, rate }: Tone) {
  const queue = SpscQueue.from(blocks);
  const shared = new Int32Array(words);
  const samples = new Float32Array(128);
  let phase = 0;
  const compute = () => {
    const step = 2 * Math.PI * Atomics.load(shared, TONE.pitch) / rate;
    for (let i = 0; i < samples.length; i++) {
      samples[i] = 0.12 * Math.sin(phase);
      phase = (phase + step) % (2 * Math.PI);
    }
  };
  const fill = () => {
    const pause = Atomics.exchange(shared, TONE.stall, 0);
    if (pause > 0) Atomics.wait(shared, TONE.idle, 0, pause);
    while (queue.tryPush(samples)) compute();
    if (queue.closed) close();
  };
  compute();
  setInterval(fill, PERIOD);
  fill();
}
