// also: node
// Values that are nested as deep as they may be. They are the first that this
// process sends: code that is not compiled yet takes the most of the stack.
import * as assert from "uvu/assert";
import { decodeValue, encodeValue } from "../../mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("value, nested deep", 60_000);

const NESTS: Record<string, (inner: unknown) => unknown> = {
  error: (cause) => Object.assign(new Error("outer"), { cause }),
  map: (inner) => new Map([[inner, 1]]),
  set: (inner) => new Set([inner]),
  object: (inner) => ({ inner }),
  array: (inner) => [inner],
  names: (inner) => ({
    ...Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`n${i}`, i])),
    inner,
  }),
};

for (const [name, nest] of Object.entries(NESTS)) {
  test(`1000 levels arrive, each ${name} in another one`, () => {
    let value: unknown = 1;
    for (let i = 0; i < 1000; i++) value = nest(value);
    const bytes = new Uint8Array(2 ** 21);
    const length = encodeValue(value, bytes);
    let copy = decodeValue<unknown>(bytes.subarray(0, length));
    let depth = 0;
    for (; typeof copy === "object" && copy !== null; depth++) {
      copy = copy instanceof Error
        ? copy.cause
        : copy instanceof Map
        ? [...copy.keys()][0]
        : copy instanceof Set
        ? [...copy][0]
        : Object.values(copy).at(-1);
    }
    assert.is(depth, 1000);
    assert.throws(() => encodeValue(nest(value), bytes), /1000 deep/);
  });
}

/** What begins a message of nested objects, and the bytes of each level. */
const LEVELS: Record<string, [begin: number[], level: number[]]> = {
  array: [[0], [0xc1]],
  set: [[0], [0xf5, 1, 0, 0, 0]],
  object: [[0, 0xee, 3, 0, 1, 0x41, 0x61], [0xd0]],
  names: [[0], [0xef, 1, 0, 0, 0, 0x41, 0x61]],
};

for (const [name, [begin, level]] of Object.entries(LEVELS)) {
  test(`a message is refused that nests each ${name} in one more`, () => {
    const nested = (depth: number) =>
      Uint8Array.from([...begin, ...Array(depth).fill(level).flat(), 7]);
    assert.is(typeof decodeValue(nested(1000)), "object");
    assert.throws(() => decodeValue(nested(1001)), /1000 deep/);
  });
}

test("a value that is too deep is refused soon", () => {
  let value: unknown = 1;
  for (let i = 0; i < 1001; i++) value = NESTS.names!(value);
  const begin = performance.now();
  assert.throws(() => encodeValue(value, new Uint8Array(9)), /1000 deep/);
  assert.ok(performance.now() - begin < 800);
});
