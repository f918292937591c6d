/**
 * Plays one storm: `main.ts` starts it in Node and in Deno, as
 * `storms.ts NAME MILLISECONDS SEED`. Each line of the output is a row, as JSON.
 *
 * @module
 */
import process from "node:process";
import type { Row } from "./_row.ts";
import { storm } from "./_storm.ts";
import { callsStorm } from "./storm_calls.ts";
import { channelsStorm } from "./storm_channels.ts";
import { poolStorm } from "./storm_pool.ts";
import { valuesStorm } from "./storm_values.ts";

/** The storms by their names. */
const STORMS: Readonly<
  Record<string, (ms: number, seed: number) => Promise<Row>>
> = {
  pool: (ms, seed) => storm(poolStorm, ms, seed),
  calls: (ms, seed) => storm(callsStorm, ms, seed),
  channels: (ms, seed) => storm(channelsStorm, ms, seed),
  values: (ms, seed) => Promise.resolve(valuesStorm(ms, seed)),
};

const [, , name, ms, seed] = process.argv;
const row = await STORMS[name!]!(Number(ms), Number(seed));
process.stdout.write(`${JSON.stringify(row)}\n`, () => process.exit(0));
