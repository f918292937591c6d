// In a module of C without Emscripten, the instruction that waits stands apart:
// in the function that sleeps, and not in those that need their locals after
// it. V8 11 loses some of them otherwise; see `WEFT__APART`.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { readCode, Reader, skipImmediates } from "../../race/wasm/binary.ts";
import { compileGuest } from "../_run/guest.ts";
import { suite } from "../_run/harness.ts";
import { BUILT } from "../_run/native.ts";

const SOURCE = fileURLToPath(new URL("../torture/storm.c", import.meta.url));

/** The section with the code. */
const CODE = 10;
const ATOMIC = 0xfe, WAIT32 = 1;

/**
 * The functions that wait: one that sleeps, or what it was compiled into, and
 * the linker's, which waits for other threads to fill the memory.
 */
const WAITING = 2;

const test = suite("Wait code");

/** How many functions of a module wait. */
function waitingIn(bytes: Uint8Array): number {
  const from = new Reader(bytes, 8); // after the magic number and the version
  let waiting = 0;
  while (!from.done) {
    const id = from.byte();
    const part = from.part();
    if (id !== CODE) continue;
    for (let left = part.number(); left > 0; left--) {
      if (waits(part.part())) waiting++;
    }
  }
  return waiting;
}

function waits(body: Reader): boolean {
  for (let groups = body.number(); groups > 0; groups--) {
    body.number();
    body.byte(); // how many locals of which type
  }
  while (!body.done) {
    const instruction = readCode(body);
    const { code, sub } = instruction;
    if (code === ATOMIC && sub === WAIT32) return true;
    skipImmediates(body, instruction);
  }
  return false;
}

for (const level of ["-O1", "-O2", "-O3", "-Os"]) {
  test(`${level}: one function waits`, async () => {
    fs.mkdirSync(BUILT, { recursive: true });
    const out = path.join(BUILT, `waits${level}.wasm`);
    await compileGuest(SOURCE, out, [level]);
    const waiting = waitingIn(fs.readFileSync(out));
    assert.is(waiting, WAITING);
  });
}
