// Reads and writes a pair of words that are equal whenever nobody writes.
import { RwLock } from "../../primitives/rw_lock.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  memory: SharedArrayBuffer;
  /** How many of 10 sections write. */
  writes: number;
  /** Not 0 once it is over. */
  over: Int32Array<SharedArrayBuffer>;
  patient: boolean;
}>();
const lock = new RwLock(data.memory);
const pair = new Int32Array(data.memory, RwLock.byteLength(), 2);
const did = { read: 0, written: 0, torn: 0, late: 0, longest: 0 };
for (let i = 0; Atomics.load(data.over, 0) === 0; i++) {
  const writes = i % 10 < data.writes;
  const timeout = data.patient || i % 3 ? 20_000 : 0.05;
  const begin = performance.now();
  const isAsync = !data.patient && i % 5 === 0;
  const guard = writes
    ? isAsync ? await lock.tryWriteAsync({ timeout }) : lock.tryWrite(timeout)
    : isAsync
    ? await lock.tryReadAsync({ timeout })
    : lock.tryRead(timeout);
  did.longest = Math.max(did.longest, performance.now() - begin);
  if (guard === undefined) {
    did.late++;
    continue;
  }
  let held: { unlock(): void } = guard; // WebKit has no Symbol.dispose
  if (writes) {
    pair[0]!++;
    for (let n = 0; n < 50; n++) pair[1]! ^= n; // 50 times twice is nothing
    for (let n = 0; n < 50; n++) pair[1]! ^= n;
    pair[1]!++;
    did.written++;
    if (i % 7 === 0 && "downgrade" in guard) held = guard.downgrade();
  } else did.read++;
  if (pair[0] !== pair[1]) did.torn++;
  for (let n = 0; n < 20; n++) if (pair[0] !== pair[1]) did.torn++;
  held.unlock();
}
post(did);
