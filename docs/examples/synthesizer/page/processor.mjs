// Plays the keys that are down. It allocates nothing while it plays.
import { SpscQueue, StripedCounter } from "@weft/sync/realtime";

const VOICES = 8;

class Synthesizer extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.keys = SpscQueue.from(processorOptions.keys);
    this.blocks = StripedCounter.from(processorOptions.blocks);
    this.notes = new Int32Array(VOICES); // 0: free
    this.down = new Uint8Array(VOICES);
    this.phases = new Float64Array(VOICES);
    this.levels = new Float64Array(VOICES);
  }

  process(_inputs, [[samples]]) {
    for (let key; (key = this.keys.tryPopInt()) !== undefined;) this.take(key);
    samples.fill(0);
    let heard = false;
    for (let voice = 0; voice < VOICES; voice++) {
      if (this.notes[voice] === 0) continue;
      heard = true;
      this.play(voice, samples);
    }
    if (heard) this.blocks.add(1);
    return true;
  }

  take(key) {
    const note = key < 0 ? ~key : key;
    if (key < 0) {
      for (let voice = 0; voice < VOICES; voice++) {
        if (this.notes[voice] === note) this.down[voice] = 0;
      }
      return;
    }
    const voice = this.notes.indexOf(0);
    if (voice < 0) return; // all are busy
    this.notes[voice] = note;
    this.down[voice] = 1;
    this.phases[voice] = this.levels[voice] = 0;
  }

  play(voice, samples) {
    const step = 440 * 2 ** ((this.notes[voice] - 69) / 12) / sampleRate;
    for (let i = 0; i < samples.length; i++) {
      const goal = this.down[voice] ? 0.15 : 0;
      this.levels[voice] += (goal - this.levels[voice]) * 0.001;
      this.phases[voice] = (this.phases[voice] + step) % 1;
      // A triangle: softer than a saw, and cheap.
      const wave = 4 * Math.abs(this.phases[voice] - 0.5) - 1;
      samples[i] += this.levels[voice] * wave;
    }
    if (!this.down[voice] && this.levels[voice] < 1e-4) this.notes[voice] = 0;
  }
}

registerProcessor("synthesizer", Synthesizer);
