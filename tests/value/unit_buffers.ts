// also: node, browsers
// Bytes whose number changes, because their buffer is resized.
import * as assert from "uvu/assert";
import { Channel, codec, decodeValue, encodeValue } from "../../mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("value, in buffers that are resized", 60_000);

type Buffer = ArrayBufferLike & {
  readonly maxByteLength?: number;
  /** The one of an `ArrayBuffer`, the other of a `SharedArrayBuffer`. */
  resize?(bytes: number): void;
  grow?(bytes: number): void;
};

/** Buffers of each kind that the platform has. */
function made(bytes: number, maxByteLength: number): Buffer[] {
  return [ArrayBuffer, SharedArrayBuffer]
    .map((of): Buffer => Reflect.construct(of, [bytes, { maxByteLength }]))
    .filter((buffer) => buffer.maxByteLength === maxByteLength);
}

function resize(buffer: Buffer, bytes: number): void {
  buffer.resize ? buffer.resize(bytes) : buffer.grow!(bytes);
}

const value = {
  ascii: "a".repeat(900),
  latin1: "é".repeat(900),
  wide: "日本".repeat(300),
  numbers: [1e9, 0.5, -7],
  bytes: new Uint8Array(9000),
};

test("encodeValue() writes to bytes that have grown", () => {
  for (const buffer of made(10, 100_000)) {
    const bytes = new Uint8Array(buffer); // it is as long as its buffer
    for (const room of [10, 1000, 20_000, 50_000]) {
      encodeValue(-1, bytes);
      resize(buffer, room);
      const length = encodeValue(value, bytes);
      assert.is(length > room, room < 20_000, `${length} into ${room}`);
      if (length > room) continue;
      assert.equal(decodeValue(bytes.slice(0, length)), value);
      assert.equal(decodeValue(new Uint8Array(buffer, 0, length)), value);
    }
  }
});

test("decodeValue() reads bytes that have grown or shrunk", () => {
  const { length } = bytesOf(value);
  for (const buffer of made(length, 100_000)) {
    const all = new Uint8Array(buffer);
    const part = new Uint8Array(buffer, 0, length);
    encodeValue(value, all);
    assert.equal(decodeValue(all), value);
    resize(buffer, 90_000);
    assert.throws(() => decodeValue(all), /left over/);
    assert.equal(decodeValue(part), value);
    if (!buffer.resize) continue;
    resize(buffer, length);
    assert.equal(decodeValue(all), value);
    assert.equal(decodeValue(part), value);
    resize(buffer, 700);
    assert.throws(() => decodeValue(all), /its end is missing/);
    assert.throws(() => decodeValue(part), /begins with nothing/);
    assert.ok(encodeValue(value, part) > 0);
    resize(buffer, 0);
    assert.throws(() => decodeValue(all), /begins with nothing/);
    resize(buffer, length);
    encodeValue(value, all);
    assert.equal(decodeValue(part), value);
  }
});

test("text is read and written behind the former end of a buffer", () => {
  const text = "ä".repeat(2000);
  for (const buffer of made(5000, 100_000)) {
    const { encode, decode } = codec.text;
    const write = (into: Uint8Array) =>
      decode(into.subarray(0, encode(text, into)));
    assert.is(write(new Uint8Array(buffer)), text);
    resize(buffer, 80_000);
    assert.is(write(new Uint8Array(buffer, 40_000)), text);
    assert.is(write(new Uint8Array(buffer, 0, 4000)), text);
    if (!(buffer instanceof SharedArrayBuffer)) continue;
    const channel = Channel.init(buffer, 20_000, {
      capacity: 4,
      messageSize: 5000,
    });
    channel.send([text]);
    assert.equal(channel.receive(), [text]);
  }
});

function bytesOf(value: unknown): Uint8Array {
  const bytes = new Uint8Array(50_000);
  return bytes.slice(0, encodeValue(value, bytes));
}
