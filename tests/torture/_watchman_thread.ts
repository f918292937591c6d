/** The thread of `_watchman.ts`. */
import { writeSync } from "node:fs";
import process from "node:process";
import { hello } from "../_run/workers.ts";
import type { Row } from "./_row.ts";
import { BEATS, LENGTH, LOOKS, TEXT_AT, type Watch } from "./_watchman.ts";

const { data: { buffer, limit }, post } = await hello<Watch>();
const words = new Int32Array(buffer, 0, 2);
const letters = new Uint16Array(buffer, TEXT_AT);
let seen = -1;
let looks = 0;
setInterval(() => {
  const beats = Atomics.load(words, BEATS);
  looks = beats === seen ? looks + 1 : 0;
  seen = beats;
  if (looks < LOOKS) return;
  const length = Atomics.load(words, LENGTH);
  const what = String.fromCharCode(...letters.subarray(0, length));
  const row: Row = {
    what: "the main thread",
    volume: 0,
    unit: "rows",
    problems: [`it stands still for ${limit} ms, in ${what}`],
  };
  writeSync(1, `${JSON.stringify(row)}\n`);
  process.kill(process.pid, "SIGKILL");
}, limit / LOOKS);
post("watching");
