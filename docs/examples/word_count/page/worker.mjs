// Counts the words of one line after the other.
import { codec, HashMap, WorkCounter } from "@weft/sync";

const CODECS = { key: codec.text, value: codec.i32 };
const WORD = /\p{L}+/gu;
const nothing = new Int32Array(new SharedArrayBuffer(4));

globalThis.onmessage = ({ data }) => {
  const counts = HashMap.from(data.counts, CODECS);
  const work = WorkCounter.from(data.work);
  for (let i; (i = work.next()) >= 0; work.done()) {
    for (const [word] of data.lines[i].toLowerCase().matchAll(WORD)) {
      const key = [...word].slice(0, 10).join(""); // it has 40 bytes at most
      counts.add(key, 1);
      Atomics.wait(nothing, 0, 0, 20); // slow enough to see
    }
  }
};
