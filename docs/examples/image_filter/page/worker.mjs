// Blurs rows until none is left.
import { WorkCounter } from "@weft/sync";

const WIDE = 512;
const HIGH = 512;
const FAR = 12; // a blur that takes long enough to be seen

globalThis.onmessage = ({ data }) => {
  const { owners, agent } = data;
  const source = new Uint8Array(data.from);
  const target = new Uint8Array(data.to);
  const work = WorkCounter.from(data.rows);
  for (let range; (range = work.nextRange()) !== undefined;) {
    for (let y = range.start; y < range.end; y++) {
      blurRow(source, target, y);
      owners[y] = agent;
    }
    work.done(range.end - range.start);
  }
};

function blurRow(source, target, y) {
  for (let x = 0; x < WIDE; x++) {
    let sum = 0;
    let count = 0;
    for (let v = Math.max(y - FAR, 0); v <= Math.min(y + FAR, HIGH - 1); v++) {
      for (
        let u = Math.max(x - FAR, 0);
        u <= Math.min(x + FAR, WIDE - 1);
        u++
      ) {
        sum += source[v * WIDE + u];
        count++;
      }
    }
    target[y * WIDE + x] = sum / count;
  }
}
