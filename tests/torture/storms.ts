/**
 * Plays one storm: `main.ts` starts it in Node and in Deno, as
 * `storms.ts NAME MILLISECONDS SEED`. Each line of the output is a row, as
 * JSON.
 *
 * With a fourth word, a promise that does not end within that time, in ms, has
 * never ended, and a plan that fails is not made shorter: `storms_test.ts`
 * looks for mistakes that it has made itself. A fifth word is the only plan, in
 * the format of `valueCodec`, as base64.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import process from "node:process";
import { valueCodec } from "../../mod.ts";
import type { Row } from "./_row.ts";
import { type Limits, storm } from "./_storm.ts";
import { callsStorm } from "./storm_calls.ts";
import { channelsStorm } from "./storm_channels.ts";
import { gatesStorm } from "./storm_gates.ts";
import { locksStorm } from "./storm_locks.ts";
import { poolStorm } from "./storm_pool.ts";
import { selectStorm } from "./storm_select.ts";
import { shopStorm } from "./storm_shop.ts";
import { valuesStorm } from "./storm_values.ts";
import { watchman } from "./_watchman.ts";

/** The storms by their names. */
const STORMS: Readonly<
  Record<string, (ms: number, seed: number, limits?: Limits) => Promise<Row>>
> = {
  pool: (ms, seed, limits) => storm(poolStorm, ms, seed, limits),
  calls: (ms, seed, limits) => storm(callsStorm, ms, seed, limits),
  channels: (ms, seed, limits) => storm(channelsStorm, ms, seed, limits),
  select: (ms, seed, limits) => storm(selectStorm, ms, seed, limits),
  locks: (ms, seed, limits) => storm(locksStorm, ms, seed, limits),
  gates: (ms, seed, limits) => storm(gatesStorm, ms, seed, limits),
  shop: (ms, seed, limits) => storm(shopStorm, ms, seed, limits),
  values: (ms, seed) => Promise.resolve(valuesStorm(ms, seed)),
};

const [, , name, ms, seed, patience, given] = process.argv;
if (name !== "values") await watchman(); // that one never lets go
const plan = given === undefined
  ? undefined
  : valueCodec.decode(Buffer.from(given, "base64"));
const limits = patience === undefined
  ? undefined
  : { patience: Number(patience), shrinks: false, plan };
const row = await STORMS[name!]!(Number(ms), Number(seed), limits);
process.stdout.write(`${JSON.stringify(row)}\n`, () => process.exit(0));
