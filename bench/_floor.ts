/**
 * The floor of everything that is a message there and back. All benches use it,
 * so that one name has one meaning.
 *
 * @module
 */
import { type Contestant, threads } from "./contest.ts";

/** How contestants that wait for each other in turn are measured. */
export const BY_TURNS = { byTurns: true } as const;

/** Round trips a lap. */
export const TRIPS = 500;

/**
 * A word each way: by Atomics.wait and notify, or by Atomics.waitAsync and
 * notify.
 */
export function bareRoundTrip(
  form: "blocking" | "async",
): Promise<Contestant & { readonly name: "bare" }> {
  const words = new Int32Array(new SharedArrayBuffer(256));
  const make = form === "async" ? "bareAsync" : "bare";
  const module = new URL("./_round_trip.ts", import.meta.url);
  const roles = [true, false].map((first) => ({
    make,
    data: { words, n: TRIPS, first },
  }));
  return threads("bare", module, roles, BY_TURNS);
}

/** What that floor is called. */
export function floorOf(form: "blocking" | "async"): string {
  return form === "async" ? "bare waitAsync" : "bare wait/notify";
}
