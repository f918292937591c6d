// Sorts a part, and merges parts with the other workers.
import { Barrier, Latch } from "@weft/sync";

globalThis.onmessage = ({ data }) => {
  const { agent, agents, numbers, spare, owners } = data;
  const barrier = Barrier.from(data.barrier);
  let size = numbers.length / agents;
  const begin = agent * size;
  for (let part = 1; part < size; part *= 2) {
    for (let at = begin; at < begin + size; at += 2 * part) {
      merge(numbers, spare, at, at + part, at + 2 * part);
    }
  }
  for (let step = 1; step < agents; step *= 2) {
    barrier.arriveAndWait(); // all parts of this size are sorted
    if (agent % (2 * step) === 0) {
      owners.fill(agent, agent, agent + 2 * step);
      merge(numbers, spare, begin, begin + size, begin + 2 * size);
    }
    size *= 2;
  }
  Latch.from(data.sorted).countDown();
};

const asleep = new Int32Array(new SharedArrayBuffer(4));
let merged = 0;

/** Merges two sorted parts that lie side by side. */
function merge(numbers, spare, begin, middle, end) {
  let [a, b] = [begin, middle];
  for (let i = begin; i < end; i++) {
    const first = b === end || (a < middle && numbers[a] <= numbers[b]);
    spare[i] = first ? numbers[a++] : numbers[b++];
    if (++merged % 128 === 0) Atomics.wait(asleep, 0, 0, 1); // to be seen
  }
  numbers.set(spare.subarray(begin, end), begin);
}
