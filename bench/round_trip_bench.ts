// Does a message there and back between two threads take little longer than the
// platform itself needs to wake a thread? Floors: bare Atomics.wait and bare
// Atomics.waitAsync with notify.
import { type Handle, MpmcQueue, Semaphore } from "../mod.ts";
import { bareRoundTrip, BY_TURNS, floorOf, TRIPS } from "./_floor.ts";
import { contest, ratio, type Row, threads } from "./contest.ts";

const MODULE = new URL("./_round_trip.ts", import.meta.url);

function pair(make: string, data: unknown) {
  return [true, false].map((first) => ({
    make,
    data: { ...data as Record<string, unknown>, first },
  }));
}

function places(): Record<"there" | "back", Handle>[] {
  const queue = (): Handle => MpmcQueue.create({ capacity: 1 }).handle;
  const semaphore = (): Handle => Semaphore.create(0).handle;
  return [queue, semaphore].map((make) => ({ there: make(), back: make() }));
}

async function compare(form: "blocking" | "async", most: number) {
  const [queues, semaphores] = places();
  const suffix = form === "async" ? "Async" : "";
  const results = await contest([
    await threads(
      "semaphore",
      MODULE,
      pair(`semaphores${suffix}`, { ...semaphores, n: TRIPS }),
      BY_TURNS,
    ),
    await threads(
      "queue",
      MODULE,
      pair(`queues${suffix}`, { ...queues, n: TRIPS }),
      BY_TURNS,
    ),
    await bareRoundTrip(form),
  ]);
  return (["semaphore", "queue"] as const).map((name): Row => ({
    name: `${name === "queue" ? "MpmcQueue" : "Semaphore"}, ${form} round ` +
      `trip / ${floorOf(form)}`,
    ...ratio(results, name, "bare"),
    target: { most },
  }));
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  return [...await compare("blocking", 1.25), ...await compare("async", 1.3)];
}
