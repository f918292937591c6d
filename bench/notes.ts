/**
 * What bounds the figures: findings of profiles and of counted accesses, for
 * docs/benchmarks.md. Times in them are from Node 20.20 and Deno 2.9.6 on the
 * machine of the page; they are no part of a run.
 *
 * @module
 */

/** A finding about some rows of a group. */
export interface Note {
  /** The group, as in `bench/NAME_bench.ts`. */
  readonly group: string;
  /** The rows, by their names. */
  readonly rows: RegExp;
  readonly text: string;
}

/** All findings, in the order of the page. */
export const NOTES: readonly Note[] = [
  {
    group: "call_ring",
    rows: /posted ahead/,
    text:
      "In one thread of Node 20, posting a call takes 160 ns, answering it " +
      "120, and receiving the reply 150. In two threads, the line of its slot " +
      "moves four times between the cores: 700 to 1300 ns a call.",
  },
  {
    group: "channel",
    rows: /^Channel, 100 letters/,
    text:
      "[Channel](primitives/channel.md#waiting-and-progress) says what was " +
      "found: in one thread of Node 20, a `send` and a `receive` take 160 to " +
      "190 ns each. In two threads they take 420 to 540 ns, because four " +
      "cache lines move between the cores for each message.",
  },
  {
    group: "channel",
    rows: /^Channel, 64 KiB/,
    text: "One copy by V8 to shared memory takes 4 to 6 µs. Node's `Buffer` " +
      "does it in 2.5 µs, and the channel uses it there. A ring of 2 MiB " +
      "instead of 1 MiB took a quarter more in Deno: it does not stay in the " +
      "cache of a core. A new array has to be cleared first, which takes " +
      "longer than the copy.",
  },
  {
    group: "channel",
    rows: /both sides idle before/,
    text:
      "Code that is not compiled yet takes most of the time: in Node 20, a " +
      "`send` takes 45 µs at first, and 3 µs later. So both sides exchange " +
      "5,000 messages before they are measured. The rest are two wakes of the " +
      "system, as for `postMessage`.",
  },
  {
    group: "channel",
    rows: /^Channel, a small object in JSON/,
    text: "[Channel](primitives/channel.md#waiting-and-progress) says what a " +
      "profile of Node 20 showed: `JSON.stringify` and `JSON.parse` take most " +
      "of the time, then the check that JSON loses nothing.",
  },
  {
    group: "kernel",
    rows: /^WorkCounter, next/,
    text: "`next` is one exchange. Alone, it takes 17 to 22 ns in JavaScript " +
      "and 14 ns in WebAssembly, the call included. So the kernel cannot save " +
      "more than what `next` does beside the exchange. It saves most of that: " +
      "if tasks are taken singly, it keeps no range.",
  },
  {
    group: "kernel",
    rows: /^Mutex in the kernel, lock and unlock/,
    text: "The row of the kernel's two functions is the floor: the same two " +
      "calls without the class. Two calls of an empty function of WebAssembly " +
      "take 6 to 7 ns, and two that exchange a word take 23 to 25 ns. Two " +
      "calls of `Atomics.compareExchange` take 30 ns in some runs of Node and " +
      "54 ns in others, so the ratio depends on the run.",
  },
  {
    group: "lock_free_queue",
    rows: /^LockFreeQueue, . to .*MpmcQueue$/,
    text: "See the counts in [Scaling](scaling.md): an element moves through " +
      "two rings, so that a terminated agent blocks nobody. That costs two or " +
      "three exchanges where `MpmcQueue` has one, and three lines that all " +
      "agents write where `MpmcQueue` has one.",
  },
  {
    group: "mpmc_queue",
    rows: /^MpmcQueue/,
    text:
      "A push and a pop have four atomic operations each, and none can be " +
      "left out; [Scaling](scaling.md) says why. JavaScript calls a function " +
      "of the engine for each, which takes 12 to 22 ns. So one element costs " +
      "about 130 ns of calls, spread over the threads. With four producers and " +
      "four consumers there are more threads than cores here. Then the " +
      "figures also depend on how the system shares the cores, which their " +
      "spread shows.",
  },
  {
    group: "mutex",
    rows: /ns sections.*always notifies/,
    text: "While a section runs, all other threads wait. So no lock can pass " +
      "more sections than one thread that never waits, and the row " +
      '"one thread\'s sections without a pause" compares with that. The longer ' +
      "the sections, the less a lock can gain: a rival that wastes 100 ns per " +
      "section loses half of its throughput with sections of 100 ns, and a " +
      "tenth with sections of 1000 ns.",
  },
  {
    group: "mutex",
    rows: /guard\.unlock \/ two bare/,
    text:
      "Lock and unlock took 57 ns in Node 20, and the two exchanges alone " +
      "45 ns, when both took turns in one process. The rest are calls and the " +
      "guard.",
  },
  {
    group: "pool",
    rows: /two processes that share nothing/,
    text: "The two processes have two cores. The two workers share them with " +
      "the thread that has the pool.",
  },
  {
    group: "record_ring",
    rows: /100-byte records/,
    text: "A record of 100 bytes with its head lies in two or three cache " +
      "lines, and each of them moves from one core to the other. The ring of " +
      "bare atomics is the floor: it copies the same bytes by a loop, and does " +
      "nothing else but one store for each record and side. With one producer, " +
      "a push has an exchange and a load, and a pop has a store and a load; in " +
      "a profile of Node 20 these four take a quarter of the time, and copying " +
      "takes a third. Native copies and loops of four words at a time were " +
      "tried for these 25 words, and gave 3 %.",
  },
  {
    group: "round_trip",
    rows: /async/,
    text:
      "In a profile of Node 20, the JavaScript of a round trip takes less " +
      "than 5 % of the time. The threads are idle for 36 to 52 % of it, because " +
      "the system has to wake them, and `Atomics.notify` takes 10 %. The " +
      "library adds what the bare floor leaves out: a wait that keeps the " +
      "program alive, that can time out and be aborted, and that a " +
      "blocking call of the same agent can interrupt.",
  },
  {
    group: "spsc_queue",
    rows: /one int at a time/,
    text: "The ring of bare atomics is the floor: Lamport's ring with one " +
      "store for each side, which cannot wait and cannot be closed. SpscQueue " +
      "takes about the same time, so in JavaScript nothing is left to gain.",
  },
  {
    group: "spsc_queue",
    rows: /batches of 64 ints/,
    text:
      "A profile of Node 20 showed that half of the time went into views: " +
      "`subarray` took 120 ns a batch, and the getter `buffer` of an array 80 " +
      "ns. Today a push copies the whole array without a view, and a pop makes " +
      "one by `new`. The rest is the same for all: four cache lines that move " +
      "to another core, and the bench's own loops, which fill and sum up a " +
      "batch. C takes 4 to 7 ns an int (see [twins](#twins)), so 1.5 times " +
      "ringbuf.js is close to the speed of C.",
  },
  {
    group: "spsc_queue",
    rows: /64-byte records/,
    text: "Each record is one cache line that moves to another core. C takes " +
      "42 to 134 ns for that (see [twins](#twins)).",
  },
  {
    group: "synchronizers",
    rows: /async/,
    text: "See [round_trip](#round_trip). A condition also takes its mutex " +
      "again after each wake.",
  },
  {
    group: "synchronizers",
    rows: /^StripedCounter/,
    text: "The floor is one `Atomics.add` of JavaScript on a word that no " +
      "other thread touches; the row below it says how much faster that is " +
      "than a shared word. So the target is at the limit of what stripes can " +
      "give to two threads.",
  },
  {
    group: "twins",
    rows: /^LockFreeQueue.*MpmcQueue$/,
    text: "See [lock_free_queue](#lock_free_queue). In JavaScript the price " +
      "is hidden behind the calls of `Atomics`; in WebAssembly, what counts " +
      "are the exchanges and the lines that move.",
  },
];

/** The finding about a row, if there is one. */
export function noteOn(group: string, row: string): Note | undefined {
  return NOTES.find((note) => note.group === group && note.rows.test(row));
}
