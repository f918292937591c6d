// What does it cost the owner to push a task and pop it? Floor: the three
// atomic stores and the load that Chase and Lev's algorithm needs for both.
import { WorkDeque } from "../mod.ts";
import { contest, ratio, type Row, timed } from "./contest.ts";

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const deque = WorkDeque.create({ capacity: 1024 });
  const words = new Int32Array(new SharedArrayBuffer(1024));
  const results = await contest([
    timed("pop", (n) => {
      deque.push(0); // so that no pop meets the last item
      for (let i = 0; i < n; i++) {
        deque.push(i);
        deque.pop();
      }
      deque.pop();
    }),
    timed("steal", (n) => {
      for (let i = 0; i < n; i++) {
        deque.push(i);
        deque.steal();
      }
    }),
    timed("bare", (n) => {
      for (let i = 0; i < n; i++) {
        Atomics.store(words, 64, i);
        Atomics.store(words, 0, i);
        Atomics.store(words, 0, i);
        Atomics.load(words, 32);
      }
    }),
  ]);
  return [{
    name: "WorkDeque, push and pop: time / three stores and a load",
    ...ratio(results, "pop", "bare"),
  }, {
    name: "WorkDeque, push and steal: time / three stores and a load",
    ...ratio(results, "steal", "bare"),
  }];
}
