/**
 * Tells how much other programs use the processor.
 *
 * @module
 */

import * as fs from "node:fs";
import process from "node:process";

/** Milliseconds of processor time. */
interface Used {
  /** Of this process. */
  readonly own: number;
  /** Of all processes; undefined where the system does not tell. */
  readonly all: number | undefined;
}

/** Milliseconds of a tick of Linux. */
const TICK = 10;

function used(): Used {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1000;
  try {
    const line = fs.readFileSync("/proc/stat", "utf8").split("\n", 1)[0]!;
    const ticks = line.trim().split(/ +/).slice(1, 9).map(Number);
    const [, , , idle, wait] = ticks;
    const sum = ticks.reduce((a, b) => a + b, 0);
    return { own, all: TICK * (sum - idle! - wait!) };
  } catch {
    return { own, all: undefined }; // not Linux
  }
}

/** Measures from when it is made. */
export class Others {
  readonly #before = used();

  /** Milliseconds of processor time since then. */
  end(): { own: number; others: number | undefined } {
    const before = this.#before, now = used();
    const own = now.own - before.own;
    if (now.all === undefined || before.all === undefined) {
      return { own, others: undefined };
    }
    return { own, others: Math.max(now.all - before.all - own, 0) };
  }
}
