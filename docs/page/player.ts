/**
 * The AudioWorklet: plays blocks that the worker computed, and counts the
 * moments in which there was none.
 *
 * @module
 */
import { SpscQueue, StripedCounter } from "@weft/sync/realtime";
import type { Tone } from "./tone_words.ts";

// The scope of an AudioWorklet, of which TypeScript's libraries know nothing.
declare const AudioWorkletProcessor: { new (): object };
declare function registerProcessor(name: string, processor: unknown): void;

class Player extends AudioWorkletProcessor {
  readonly #blocks: SpscQueue;
  readonly #played: StripedCounter;
  readonly #underruns: StripedCounter;

  constructor({ processorOptions }: { processorOptions: Tone }) {
    super();
    this.#blocks = SpscQueue.from(processorOptions.blocks);
    this.#played = StripedCounter.from(processorOptions.played);
    this.#underruns = StripedCounter.from(processorOptions.underruns);
  }

  process(_inputs: unknown, [[samples]]: [[Float32Array]]): boolean {
    const over = this.#blocks.closed; // read first: a last block may come now
    if (this.#blocks.tryPopInto(samples)) {
      this.#played.add(1);
      return true;
    }
    if (over) return false; // the end
    samples.fill(0);
    this.#underruns.add(1);
    return true;
  }
}

registerProcessor("player", Player);
