// also: node, browsers
// Views of buffers: those that grow, and those that share one.
import * as assert from "uvu/assert";
import { decodeValue, viewValue } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { bytesOf, refuses, resizable, sent } from "./values.ts";

const test = suite("value, views of one buffer");

interface Resizable {
  readonly maxByteLength: number;
  resize(byteLength: number): void;
}

/** Whether this platform has buffers that may grow. */
const hasResizable = "resizable" in ArrayBuffer.prototype;

/** How long a view is when its buffer has each length; -1: it is outside. */
function lengthsOf(view: ArrayBufferView): number[] {
  const buffer = view.buffer as unknown as Resizable;
  return Array.from({ length: buffer.maxByteLength + 1 }, (_, byteLength) => {
    buffer.resize(byteLength);
    try {
      if (!(view instanceof DataView)) (view as Uint8Array).at(0);
      return view.byteLength;
    } catch {
      return -1;
    }
  });
}

test("a view of a resizable buffer grows as the copy of structuredClone", () => {
  if (!hasResizable) return;
  const most = 18;
  let compared = 0;
  const classes = [Uint8Array, Int16Array, BigInt64Array, DataView];
  for (const View of classes as (typeof Uint8Array)[]) {
    const { BYTES_PER_ELEMENT: size = 1 } = View;
    for (let length = 0; length <= most; length++) {
      for (let from = 0; from <= length; from += size) {
        for (let items = -1; items <= (length - from) / size; items++) {
          const at = from + Math.max(items, 0) * size;
          const buffer = resizable(new Uint8Array(at), most - at);
          const view = items < 0
            ? new View(buffer, from)
            : new View(buffer, from, items);
          (buffer as unknown as Resizable).resize(length);
          new Uint8Array(buffer).fill(7);
          const got = sent(view) as ArrayBufferView;
          const copy = structuredClone(view);
          assert.is(got.byteOffset, copy.byteOffset);
          assert.is(buffer.byteLength, length); // it was not resized
          assert.ok(new Uint8Array(got.buffer).every((byte) => byte === 7));
          assert.equal(lengthsOf(got), lengthsOf(copy));
          compared++;
        }
      }
    }
  }
  assert.ok(compared > 2000, `${compared}`);
});

test("resizable buffers are whole, and shared by their views", () => {
  if (!hasResizable) return;
  const buffer = resizable(Uint8Array.of(1, 2, 3, 4), 4);
  const [part, again, whole] = sent([
    new Uint8Array(buffer, 1, 2),
    new DataView(buffer),
    buffer,
  ]) as [Uint8Array, DataView, ArrayBuffer];
  assert.ok(part.buffer === whole && again.buffer === whole);
  assert.is((whole as unknown as Resizable).maxByteLength, 8);
  assert.equal([...part], [2, 3]);
  const { view } = sent({ view: new Int8Array(resizable(part, 0), 2) }) as {
    view: Int8Array;
  };
  assert.is(view.byteLength, 0);
  // A view that is outside of its buffer now.
  const outside = [new Uint8Array(buffer, 2, 2), new DataView(buffer, 2, 2)];
  (buffer as unknown as Resizable).resize(3);
  for (const view of outside) {
    refuses(() => sent({ view }), TypeError, /too short.* at \["view"\]/);
  }
});

test("a few bytes cannot reserve much memory", () => {
  if (!hasResizable) return;
  const none = new Uint8Array(0);
  const largest = resizable(none, 2 ** 28);
  assert.is((sent(largest) as unknown as Resizable).maxByteLength, 2 ** 28);
  const larger = resizable(none, 2 ** 28 + 1);
  refuses(
    () => sent({ larger }),
    TypeError,
    /268435456 bytes.* at \["larger"\]/,
  );
  refuses(() => sent([resizable(none, 1), largest]), TypeError, /268435456/);
  sent(largest); // each message begins anew
  const many = Array.from({ length: 4097 }, () => resizable(none, 1));
  refuses(() => sent(many), TypeError, /268435456 bytes.* at \[4096\]/);
  many.pop();
  const bytes = bytesOf(many);
  assert.is((decodeValue(bytes) as unknown[]).length, 4096);
  // The same, but one of them says that it may become longer.
  bytes.set([1, 0, 1, 0], bytes.length - 8);
  refuses(() => decodeValue(bytes), TypeError, /wrong length/);
  for (const most of [[0, 0, 0, 0x80], [1, 0, 0, 0x10], [0, 0, 0, 0]]) {
    const one = Uint8Array.of(0, 0xfb, ...most, 1, 0, 0, 0, 7);
    refuses(() => decodeValue(one), TypeError, /wrong length/);
  }
  // A view that says it is as long as its buffer, and is not.
  const view = Uint8Array.of(0, 0xf7, 0x82, 0, 0, 0, 0, 1, 0, 0, 0);
  const two = Uint8Array.of(0xfb, 2, 0, 0, 0, 2, 0, 0, 0, 1, 2);
  refuses(() => decodeValue(Uint8Array.of(...view, ...two)), TypeError, /view/);
});

test("a view reads resizable buffers again and again", () => {
  if (!hasResizable) return;
  const buffer = resizable(new Uint8Array(8), 2 ** 27);
  for (const value of [{ buffer }, { buffer, view: new Uint8Array(buffer) }]) {
    const view = viewValue<typeof value>(bytesOf(value));
    for (let i = 0; i < 5; i++) {
      const copy = view.get("buffer")!.read() as unknown as Resizable;
      assert.is(copy.maxByteLength, 2 ** 27 + 8);
    }
  }
});

test("two views of one buffer arrive as such; others have exact buffers", () => {
  const buffer = new ArrayBuffer(64);
  const whole = new Uint8Array(buffer);
  whole.set([1, 2, 3, 4, 5, 6, 7, 8]);
  const parts = [new Uint8Array(buffer, 2, 4), new Float64Array(buffer, 8, 2)];
  for (const value of [parts, [parts[0], buffer], [buffer, parts[0]]]) {
    const [a, b] = sent(value) as [Uint8Array, Uint8Array];
    const bufferOf = (it: ArrayBufferView | ArrayBufferLike) =>
      ArrayBuffer.isView(it) ? it.buffer : it;
    assert.is(bufferOf(a), bufferOf(b));
    assert.is(bufferOf(a).byteLength, 64);
  }
  const alone = sent(parts[0]) as Uint8Array;
  assert.equal([...alone], [3, 4, 5, 6]);
  assert.is(alone.buffer.byteLength, 4);
  const { first, again } = sent({ first: parts[0], again: parts[0] }) as {
    first: Uint8Array;
    again: Uint8Array;
  };
  assert.is(first, again);
  assert.is(first.buffer.byteLength, 4);
});
