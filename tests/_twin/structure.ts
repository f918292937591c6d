// Does the same to the data structures as threads of C in structures.c, in
// TypeScript and blocking: one part after the other.
import {
  Broadcast,
  Channel,
  ClosedError,
  type Codec,
  codec as codecs,
  HashMap,
  LockFreeQueue,
  RecordRing,
  SlabPool,
  Snapshot,
  WorkDeque,
} from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { isSent, messageOf } from "./sent.ts";

/** The codecs of the maps. */
const COUNTS = { key: codecs.text, value: codecs.i32 };
const TEXTS = { key: codecs.i32, value: codecs.text };

/** The orders of an agent: what to do, and where. */
export interface Part {
  role:
    | `queue ${"push" | "pop"}`
    | `record ${"push" | "pop"}`
    | "pool use"
    | `deque ${"own" | "steal"}`
    | `snapshot ${"write" | "read"}`
    | `broadcast ${"push" | "see"}`
    | `channel ${"send" | "receive"}`
    | `map ${"count" | "write"}`;
  memory: WebAssembly.Memory;
  at: number;
  count: number;
  number: number;
}

/** Plays a part; answers as C does. */
function play(
  { role, memory, at, count, number }: Part,
  begun: () => void,
): number {
  let result = 0;
  const untilClosed = (step: () => void): number => {
    try {
      for (;;) step();
    } catch (error) {
      if (!(error instanceof ClosedError)) throw error;
      return result;
    }
  };
  const check = (condition: boolean) => {
    if (!condition) throw new Error(`${role}: not as it was left`);
  };
  if (role !== "broadcast see") begun();
  switch (role) {
    case "queue push": {
      const queue = new LockFreeQueue(memory, at);
      for (let i = 1; i <= count; i++) queue.pushInt(i);
      return 0;
    }
    case "queue pop": {
      const queue = new LockFreeQueue(memory, at);
      return untilClosed(() => result += queue.popInt()!);
    }
    case "record push": {
      const ring = new RecordRing(memory, at);
      for (let i = 1; i <= count; i++) {
        const length = 1 + i % 24;
        const record = Uint8Array.from({ length }, (_, k) => i + k);
        if (i % 2 === 0) ring.push(record);
        else {
          let place;
          while (!(place = ring.reserve(length)));
          place.set(record);
          ring.commit();
        }
      }
      return 0;
    }
    case "record pop": {
      const ring = new RecordRing(memory, at);
      return untilClosed(() => {
        const record = ring.pop()!;
        check(record.every((byte, k) => byte === (record[0]! + k & 0xff)));
        result++;
      });
    }
    case "pool use": {
      const pool = new SlabPool(memory, at);
      pool.useCache(number);
      for (let i = 0; i < count; i++) {
        const block = pool.allocate();
        if (block < 0) continue;
        const words = new Int32Array(pool.buffer, at + block, 2);
        words[0] = i;
        words[1] = number + i;
        check(words[0] === i && words[1] === number + i);
        pool.free(block);
        result++;
      }
      pool.release();
      return result;
    }
    case "map count": {
      const map = new HashMap(memory, at, COUNTS);
      for (let i = 0; i < count; i++, result++) {
        const length = 1 + i % 8;
        map.add(String.fromCharCode(97 + length).repeat(length), 1);
      }
      return result;
    }
    case "map write": {
      const map = new HashMap(memory, at, TEXTS);
      for (let i = 0; i < count; i++) {
        const key = i * 7 % 13;
        const text = String.fromCharCode(97 + i % 20).repeat(1 + i % 9);
        if (i % 5 === 0) map.delete(key);
        else if (i % 5 === 1) map.set(key, text, { ifAbsent: i % 2 === 0 });
        else {
          const found = i % 5 === 2 ? map.take(key) : map.get(key);
          if (found === undefined) continue;
          check(found === found.charAt(0).repeat(found.length));
          result++;
        }
      }
      return result;
    }
    case "deque own": {
      const deque = new WorkDeque(memory, at);
      for (let next = 1; next <= count;) {
        if (deque.push(next)) next++;
        else result += deque.pop() ?? 0;
        if (next % 3 === 0) result += deque.pop() ?? 0;
      }
      for (let item; (item = deque.pop()) !== undefined;) result += item;
      while (!deque.push(-1)); // the end
      return result;
    }
    case "deque steal": {
      const deque = new WorkDeque(memory, at);
      for (let item = 0; item >= 0; result += Math.max(item, 0)) {
        item = deque.steal() ?? 0;
      }
      return result;
    }
    case "snapshot write": {
      const snapshot = new Snapshot(memory, at);
      for (let i = 1; i <= count; i++) {
        snapshot.write(Int32Array.from({ length: 8 }, (_, k) => i * (k + 1)));
      }
      return 0;
    }
    case "snapshot read": {
      const snapshot = new Snapshot(memory, at);
      const words = new Int32Array(8);
      for (let version = 0; version < count; result++) {
        const seen = snapshot.read(words);
        check(seen >= version);
        version = seen;
        check(words.every((word, k) => word === seen * (k + 1)));
      }
      return result;
    }
    case "channel send": {
      const channel = channelAt(memory, at);
      const end = channel.tracked > 0 ? channel.sender() : undefined;
      for (let i = 0; i < count; i++) {
        channel.send(messageOf("field" in channel.codec, number, i));
      }
      end?.leave();
      return 0;
    }
    case "channel receive": {
      const channel = channelAt(memory, at);
      return untilClosed(() => {
        check(isSent(channel.receive()));
        result++;
      });
    }
    case "broadcast push": {
      const broadcast = new Broadcast(memory, at);
      for (let i = 1; i <= count; i++) broadcast.pushInt(i);
      broadcast.close();
      return 0;
    }
    case "broadcast see": {
      using seat = new Broadcast(memory, at).subscribe();
      begun(); // from here on it sees all
      let last = 0;
      return untilClosed(() => {
        const item = seat.popInt()!;
        check(item > last);
        last = item;
        result++;
      });
    }
  }
}

/** The channel there, of either codec. */
function channelAt(memory: WebAssembly.Memory, at: number): Channel<unknown> {
  const { f64, text } = codecs;
  try {
    return new Channel<unknown>(memory, at, { codec: f64 as Codec<unknown> });
  } catch {
    return new Channel<unknown>(memory, at, { codec: text as Codec<unknown> });
  }
}

const { data, post, next } = await hello<Part>();
for (let part = data;; part = await next<Part>()) {
  post(play(part, () => post("begun")));
}
