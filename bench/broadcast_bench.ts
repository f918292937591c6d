// What does one more subscriber cost? One thread pushes ints and reads them at
// each seat; the producer waits for the slowest, or drops.
import { Broadcast, MpmcQueue } from "../mod.ts";
import { contest, type Contestant, ratio, type Row } from "./contest.ts";

const N = 100_000;

function timed<Name extends string>(
  name: Name,
  run: (i: number) => void,
): Contestant & { readonly name: Name } {
  return {
    name,
    turn() {
      const begin = performance.now();
      for (let i = 0; i < N; i++) run(i);
      const ns = (performance.now() - begin) * 1e6 / N;
      return Promise.resolve({ ns });
    },
  };
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const make = (slow: "block" | "drop", count: number) => {
    const made = Broadcast.create({ capacity: 64, subscribers: 8, slow });
    const seats = Array.from({ length: count }, () => made.subscribe());
    return (i: number) => {
      made.tryPushInt(i);
      for (const seat of seats) seat.tryPopInt();
    };
  };
  const queue = MpmcQueue.create({ capacity: 64 });
  const results = await contest([
    timed("one waited for", make("block", 1)),
    timed("four waited for", make("block", 4)),
    timed("four dropping", make("drop", 4)),
    timed("queue", (i) => {
      queue.tryPushInt(i);
      queue.tryPopInt();
    }),
  ]);
  return (["one waited for", "four waited for", "four dropping"] as const)
    .map((name) => ({
      name: `Broadcast, ${name}: time / MpmcQueue's push and pop`,
      ...ratio(results, name, "queue"),
    }));
}
