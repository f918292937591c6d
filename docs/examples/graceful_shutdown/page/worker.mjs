// Does jobs until the queue is closed and empty.
import { ClosedError, Latch, MpmcQueue } from "@weft/sync";

globalThis.onmessage = ({ data: { jobs, ended, done } }) => {
  const queue = MpmcQueue.from(jobs);
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  try {
    for (;;) {
      queue.popInt();
      Atomics.wait(asleep, 0, 0, 10); // here the job would be done
      Atomics.add(done, 0, 1);
    }
  } catch (error) {
    if (!(error instanceof ClosedError)) throw error;
  }
  Latch.from(ended).countDown();
};
