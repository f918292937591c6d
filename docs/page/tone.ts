/// <reference lib="dom" />
/**
 * A tone: a worker computes it, and an AudioWorklet plays it.
 *
 * @module
 */
import { SpscQueue, StripedCounter } from "@weft/sync";
import { at, gauge, press, slider, told, write } from "./dom.ts";
import { TONE, type Tone } from "./tone_words.ts";

/** Blocks of 128 samples in the queue: 46 ms at 44.1 kHz. */
const CAPACITY = 16;

const words = new Int32Array(new SharedArrayBuffer(128));
const fill = gauge("blocks in the queue", "large");

/** What plays now. */
let playing:
  | {
    readonly context: AudioContext;
    readonly blocks: SpscQueue<number | Uint8Array<ArrayBuffer>>;
    readonly played: StripedCounter;
    readonly underruns: StripedCounter;
    readonly worker: Worker;
  }
  | undefined;

async function play() {
  const context = new AudioContext();
  await context.audioWorklet.addModule("player.js");
  const blocks = SpscQueue.create({
    capacity: CAPACITY,
    elementSize: 128 * 4,
  });
  const played = StripedCounter.create();
  const underruns = StripedCounter.create();
  const tone: Tone = {
    blocks: blocks.handle,
    played: played.handle,
    underruns: underruns.handle,
    words: words.buffer,
    rate: context.sampleRate,
  };
  const worker = new Worker("producer.js", { type: "module" });
  worker.postMessage(tone);
  playing = { context, blocks, played, underruns, worker };
  while (blocks.size < CAPACITY / 2) { // else it would begin with an underrun
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const node = new AudioWorkletNode(context, "player", {
    outputChannelCount: [1],
    processorOptions: tone,
  });
  node.connect(context.destination);
}

async function stop() {
  const { blocks, context } = playing!;
  playing = undefined;
  blocks.close(); // the worker and the worklet end
  await context.close();
}

function show() {
  if (playing === undefined) return fill.set(0, CAPACITY, "silent");
  const { blocks, played, underruns } = playing;
  fill.set(blocks.size, CAPACITY, `${blocks.size} of ${CAPACITY}`);
  write(at("played"), told(Number(played.sum())));
  write(at("underruns"), told(Number(underruns.sum())));
  at("underruns").classList.toggle("bad", Number(underruns.sum()) > 0);
}

/** Lets the buttons play and stop the tone. */
export function showTone(): void {
  const button = at<HTMLButtonElement>("tone-play");
  const stall = at<HTMLButtonElement>("tone-stall");
  at("blocks").append(fill.element);
  slider("pitch", (pitch) => Atomics.store(words, TONE.pitch, pitch));
  button.addEventListener("click", async () => {
    button.disabled = true;
    await (playing === undefined ? play() : stop());
    const plays = playing !== undefined;
    button.disabled = false;
    stall.disabled = !plays;
    press(button, plays);
    write(button, plays ? "Stop" : "Play");
  });
  stall.addEventListener(
    "click",
    () => Atomics.store(words, TONE.stall, 300),
  );
  setInterval(show, 60);
}
