// Asks for 100 different values again and again.
import { RwLock, StripedCounter, struct, WorkCounter } from "@weft/sync";

const SLOTS = 256;
const Entry = struct({ key: "u32", by: "u32", value: "f64" });

globalThis.onmessage = ({ data }) => {
  const entry = Entry.view(new Uint8Array(data.table), 0);
  const computed = StripedCounter.from(data.computed);
  const lock = RwLock.from(data.lock);
  const questions = WorkCounter.from(data.questions);

  /** Moves `entry` to the key, or to the slot that it shall have. */
  const seek = (key) => {
    const first = Math.imul(key, 2654435761) >>> 24;
    for (let i = 0; i < SLOTS; i++) {
      entry.$at = ((first + i) % SLOTS) * Entry.size;
      if (entry.key === key) return true;
      if (entry.key === 0) return false;
    }
    return false; // the table is full: another value gives way
  };
  const get = (key) => {
    const found = lock.reading(() => seek(key) ? entry.value : undefined);
    if (found !== undefined) return found;
    const value = compute(key); // without the lock: others go on
    computed.add(1);
    lock.writing(() => {
      if (seek(key)) return; // another agent was faster
      entry.value = value;
      entry.by = data.agent;
      entry.key = key;
    });
    return value;
  };
  for (const question of questions) {
    get(1 + question % 100);
    questions.done();
  }
};

/** The sum of some square roots: what takes long in a real program. */
function compute(key) {
  let sum = 0;
  for (let i = 0; i < 1e7; i++) sum += Math.sqrt(key + i);
  return sum;
}
