/**
 * Tells an agent that rests from one that goes on looking.
 *
 * @module
 */

import process from "node:process";

/**
 * How long one look takes, in ms, and how much of it a process that rests uses.
 */
const LOOK = 500;
const REST = 0.05;
/** The most looks: compilers and the collector may work, but not for 30 s. */
const LOOKS = 60;

/**
 * Whether this process comes to rest: for half a second, all its threads use
 * hardly any processor time. A busy machine cannot make it use more.
 */
export async function comesToRest(): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    const before = process.cpuUsage();
    const begin = performance.now();
    await new Promise((resolve) => setTimeout(resolve, LOOK));
    const { user, system } = process.cpuUsage(before);
    const took = performance.now() - begin;
    if ((user + system) / 1000 < REST * took) return true;
  }
  return false;
}
