// How much time does the kernel save? Each operation runs in one thread, by the
// class of `@weft/sync` and by that of `@weft/sync/kernel`, which take turns.
// Floors: two bare compareExchange calls of JavaScript, and the functions of
// the kernel without the class.
import { beats, paired } from "./beats.ts";
import { type Contestant, type Row, threads } from "./contest.ts";
import type { Order } from "./_kernel.ts";

const MODULE = new URL("./_kernel.ts", import.meta.url);

/** A measurement: what it is called, and its target. */
interface Case {
  readonly name: string;
  readonly operation: Order["operation"];
  readonly least?: number;
}

const CASES: readonly Case[] = [
  { name: "MpmcQueue, push and pop an int", operation: "mpmc", least: 2.5 },
  {
    name: "LockFreeQueue, push and pop an int",
    operation: "lockFree",
    least: 2,
  },
  { name: "SpscQueue, push and pop an int", operation: "spsc", least: 1.8 },
  { name: "MpmcQueue, push and pop 16 bytes", operation: "mpmc16" },
  { name: "RecordRing, push and pop 100 bytes", operation: "ring" },
  { name: "Mutex, lock and unlock", operation: "mutex", least: 1.8 },
  {
    name: "Semaphore, acquire and release",
    operation: "semaphore",
    least: 1.8,
  },
  { name: "WorkCounter, next", operation: "next", least: 1.8 },
  { name: "WorkDeque, push and pop", operation: "deque" },
  { name: "HashMap, get of a number by a number", operation: "mapGet" },
  { name: "HashMap, set of a number", operation: "mapSet" },
  { name: "HashMap, add to a number", operation: "mapAdd" },
];

/** A contestant in a thread of its own. */
function one(name: string, make: string, operation: Order["operation"]) {
  const data: Order = { operation };
  return threads(name, MODULE, [{ make, data }]);
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const contests: Contestant[][] = [];
  for (const { operation } of CASES) {
    contests.push([
      await one("kernel", "inKernel", operation),
      await one("JavaScript", "inJavaScript", operation),
    ]);
  }
  contests.push([
    await one("kernel", "inKernel", "mutex"),
    await one("functions", "bareMutex", "mutex"),
    await one("bare", "twoExchanges", "mutex"),
  ]);
  const results = await beats(contests);
  const floors = results.pop()!;
  return [
    ...CASES.map(({ name, least }, k): Row => ({
      name: `${name}: time in JavaScript / in the kernel`,
      ...paired(results[k]!, "JavaScript", "kernel"),
      ...least === undefined ? {} : { target: { least } },
    })),
    {
      name: "Mutex in the kernel, lock and unlock: time / two compareExchange",
      ...paired(floors, "kernel", "bare"),
      target: { most: 0.7 },
    },
    {
      name: "The kernel's two functions of a lock: time / two compareExchange",
      ...paired(floors, "functions", "bare"),
    },
  ];
}
