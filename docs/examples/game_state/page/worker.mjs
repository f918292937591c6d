// Moves the things, a step each millisecond, and takes the keys.
import { Snapshot, SpscQueue } from "@weft/sync";

const PUSHES = [[0, 0], [-0.002, 0], [0.002, 0], [0, -0.004]];

globalThis.onmessage = ({ data }) => {
  const state = Snapshot.from(data.state);
  const keys = SpscQueue.from(data.keys);
  const things = new Float64Array(state.size / 8);
  const speeds = things.map(() => (Math.random() - 0.5) / 1000);
  things.forEach((_, i) => things[i] = i === 0 ? 0 : Math.random());
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  while (true) {
    Atomics.wait(asleep, 0, 0, 1); // a step is a millisecond
    const [px, py] = PUSHES[keys.tryPopInt() ?? 0];
    things[0]++;
    for (let i = 1; i < things.length; i++) {
      speeds[i] += i % 2 === 1 ? px : py + 2e-6; // they fall
      things[i] += speeds[i];
      if (things[i] < 0 || things[i] > 1) {
        things[i] = Math.min(Math.max(things[i], 0), 1);
        speeds[i] *= -0.9;
      }
    }
    state.write(things);
  }
};
