/** A caller of the storm on calls that is a thread of C, one call at a time. */
import { hello } from "../_run/workers.ts";
import { AT, type Guest, GuestThread } from "./_guest.ts";

/** A call: its number, its method, and its second argument. */
export interface GuestCall {
  readonly at: number;
  readonly kind: "echo" | "nap" | "fail";
  /** A length, or ms. */
  readonly n: number;
}

/** What a caller is told. */
export interface CallerOrders {
  readonly guest: Guest;
  readonly calls: readonly GuestCall[];
  /** The timeout of each call, in ms; below 0 for ever. */
  readonly timeout: number;
}

/** How calls have ended, in the order of the calls, or what was wrong. */
export type CallerEnds = (GuestEnd | `wrong: ${string}`)[];

/** How one call has ended. */
export type GuestEnd = "done" | "failed" | "late" | "closed" | "died";

/** The results of `storm.c`, and what an answer is. */
const ENDS = ["done", "late", "closed"] as const;
const VALUE = 2, ERROR = 3;

const { data, post } = await hello<CallerOrders>();
const thread = new GuestThread(data.guest);
const utf8 = new TextEncoder();

function endOf({ at, kind, n }: GuestCall): CallerEnds[number] {
  const { c, name, text, words } = thread;
  const xs = "x".repeat(n);
  const args = [at, kind === "nap" ? n % 5 : xs, null];
  thread.write(utf8.encode(`${kind}\0`), name);
  const length = thread.write(utf8.encode(JSON.stringify(args)));
  const result = c.call!(AT, name, text, length, data.timeout, words);
  if (result !== 0) return ENDS[result as 1] ?? "died";
  const what = thread.word(0);
  const bytes = thread.bytes(text, thread.word(1)).slice();
  const answer = JSON.parse(new TextDecoder().decode(bytes));
  if (what === VALUE) {
    const right = kind === "nap" ? n % 5 : xs + xs;
    if (kind !== "fail" && answer === right) return "done";
  } else if (what === ERROR) {
    if (kind === "fail" && answer.message === xs) return "failed";
  }
  return `wrong: call ${at}, ${kind} of ${n}: ${JSON.stringify(answer)}`;
}

const ends: CallerEnds = [];
for (const call of data.calls) {
  const end = endOf(call);
  ends.push(end);
  if (end === "closed") break;
}
post(ends);
