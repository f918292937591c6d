// Sorts a part, and merges parts with the other workers.
import { Barrier, Latch } from "@weft/sync";

globalThis.onmessage = ({ data }) => {
  const { agent, agents, numbers, spare } = data;
  const barrier = Barrier.from(data.barrier);
  let size = numbers.length / agents;
  const begin = agent * size;
  numbers.subarray(begin, begin + size).sort();
  for (let step = 1; step < agents; step *= 2) {
    barrier.arriveAndWait(); // all parts of this size are sorted
    if (agent % (2 * step) === 0) {
      merge(numbers, spare, begin, begin + size, begin + 2 * size);
    }
    size *= 2;
  }
  Latch.from(data.sorted).countDown();
};

/** Merges two sorted parts that lie side by side. */
function merge(numbers, spare, begin, middle, end) {
  let [a, b] = [begin, middle];
  for (let i = begin; i < end; i++) {
    const first = b === end || (a < middle && numbers[a] <= numbers[b]);
    spare[i] = first ? numbers[a++] : numbers[b++];
  }
  numbers.set(spare.subarray(begin, end), begin);
}
