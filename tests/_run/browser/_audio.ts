// Plays blocks of samples that come through shared memory, and sends the peak
// of each, in an AudioWorklet.
import { MpmcQueue, SpscQueue } from "../../../primitives/realtime.ts";
import type { Handle } from "../../../mod.ts";

/** The options of the processor. */
export interface AudioOptions {
  readonly blocks: Handle;
  readonly peaks: Handle;
}

// The scope of an AudioWorklet, of which TypeScript's libraries know nothing.
declare const AudioWorkletProcessor: { new (): object };
declare function registerProcessor(name: string, processor: unknown): void;

class Player extends AudioWorkletProcessor {
  readonly #blocks: SpscQueue;
  readonly #peaks: MpmcQueue;

  constructor({ processorOptions }: { processorOptions: AudioOptions }) {
    super();
    this.#blocks = SpscQueue.from(processorOptions.blocks);
    this.#peaks = MpmcQueue.from(processorOptions.peaks);
  }

  process(_: unknown, [[samples]]: [[Float32Array]]): boolean {
    if (!this.#blocks.tryPopInto(samples)) return false;
    let peak = 0;
    for (const sample of samples) peak = Math.max(peak, sample);
    this.#peaks.tryPushInt(Math.round(1000 * peak));
    return true;
  }
}

registerProcessor("weft", Player);
