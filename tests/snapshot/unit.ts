// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { DamagedError, Snapshot } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  NEAR_WRAP,
  preempted,
  preemptedAnywhere,
  refuses,
  wordsOf,
} from "../_run/model.ts";
import { element, inside, MAKERS } from "../_queue/model.ts";

const { state: STATE } = LAYOUT.snapshot;

/** A snapshot to which `written` values count as written. */
function snapshotAt(size: number, single: boolean, written = 0): Snapshot {
  const snapshot = Snapshot.create({ size, singleReader: single });
  const words = wordsOf(snapshot);
  if (single) words[STATE]! |= written << 5;
  else words[STATE] = written;
  return snapshot;
}

const again = (snapshot: Snapshot) => new Snapshot(snapshot.buffer);

/** The value that a read returns, and its number. */
function readFrom(snapshot: Snapshot): [version: number, bytes: number[]] {
  const dst = new Uint8Array(snapshot.size);
  const version = snapshot.read(dst);
  return [version, [...dst]];
}

const test = suite("Snapshot");

test("read() brings the last value written, wherever versions wrap", () => {
  const calls = fc.array(
    fc.record({
      op: fc.constantFrom("write", "read", "read", "reader", "writer"),
      maker: fc.constantFrom(...Object.keys(MAKERS)),
    }),
    { maxLength: 40 },
  );
  const size = fc.constantFrom(4, 8, 64, 128, 132, 400);
  const start = fc.tuple(fc.constantFrom(0, ...NEAR_WRAP, 2 ** 27), fc.nat(5))
    .map(([wrap, before]) => wrap - before | 0);
  fc.assert(
    fc.property(
      size,
      fc.boolean(),
      start,
      calls,
      (size, single, from, calls) => {
        let writer = snapshotAt(size, single, from);
        let reader = again(writer);
        let value = new Uint8Array(size); // the model
        let version = from & 2 ** 27 - 1;
        let i = 0;
        for (const { op, maker } of calls) {
          const array = MAKERS[maker]!(size);
          if (op === "write") {
            value = element(++i, size);
            inside(array).set(value);
            writer.write(array);
            version = version + 1 & 2 ** 27 - 1;
          } else if (op === "read") {
            const all = new Uint8Array(array.buffer).fill(0xee);
            assert.is(reader.read(array), version);
            assert.equal([...inside(array)], [...value]);
            inside(array).fill(0xee);
            assert.ok(all.every((byte) => byte === 0xee), "more was written");
          } else if (op === "reader") reader = again(writer);
          else writer = again(reader);
          assert.is(reader.version, version);
        }
      },
    ),
  );
});

test("a value, or a size, of the wrong length is refused", () => {
  for (const single of [false, true]) {
    const snapshot = Snapshot.create({ size: 8, singleReader: single });
    const { buffer } = snapshot;
    for (const n of [0, 4, 7, 9, 16]) {
      const write = () => snapshot.write(new Uint8Array(n));
      refuses(buffer, write, RangeError, "8 bytes", `received ${n}`);
    }
    const read = () => snapshot.read(new Uint8Array(7));
    refuses(buffer, read, RangeError, "8 bytes", "7 bytes");
    const long = new Uint8Array(12).fill(1);
    snapshot.read(long);
    assert.equal([...long], [...new Array(8).fill(0), 1, 1, 1, 1]);
  }
  const memory = new SharedArrayBuffer(4096);
  for (const size of [0, -4, 2, 6, 4.5, NaN, 2 ** 28 + 4]) {
    const init = () => Snapshot.init(memory, 0, { size });
    refuses(memory, init, RangeError, `received ${size}`);
  }
  const config = { size: 8, singleReader: 7 as never };
  const init = () => Snapshot.init(memory, 0, config);
  refuses(memory, init, TypeError, "singleReader must be", "received 7");
});

test("a state that names a copy twice, or none, is damage", () => {
  for (const state of [0, 0b0101, 0b0011, 0b1100, 0b1111]) {
    const snapshot = Snapshot.create({ size: 8, singleReader: true });
    snapshot.write(new Uint8Array(8));
    snapshot.read(new Uint8Array(8));
    wordsOf(snapshot)[STATE] = state;
    const { buffer } = snapshot;
    const write = () => snapshot.write(new Uint8Array(8).fill(1));
    refuses(buffer, write, DamagedError, "snapshot is damaged");
    const read = () => snapshot.read(new Uint8Array(8));
    refuses(buffer, read, DamagedError, "snapshot is damaged");
  }
});

test("a read returns one whole value, whichever writes meet it at any step", () => {
  for (const single of [false, true]) {
    for (const writes of [1, 2, 3, 4]) {
      for (const before of [0, 1, 2]) {
        preemptedAnywhere(
          () => {
            const snapshot = snapshotAt(12, single, NEAR_WRAP[1]!);
            for (let i = 0; i < before; i++) snapshot.write(element(i, 12));
            return { snapshot, seen: [] as number[][] };
          },
          ({ snapshot, seen }) => seen.push(readFrom(again(snapshot))[1]),
          ({ snapshot }) => {
            for (let i = 0; i < writes; i++) {
              snapshot.write(element(before + i, 12));
            }
          },
          ({ snapshot, seen }, at) => {
            const all = [new Array(12).fill(0)];
            for (let i = 0; i < before + writes; i++) {
              all.push([...element(i, 12)]);
            }
            const path = `${writes} writes at ${at}, single ${single}`;
            const which = all.findIndex((value) => `${value}` === `${seen[0]}`);
            assert.ok(which >= before, `${path}: torn, or old`);
            assert.equal(readFrom(snapshot)[1], all.at(-1));
          },
        );
      }
    }
  }
});

test("a write is whole, whichever reads meet it at any step", () => {
  for (const single of [false, true]) {
    preemptedAnywhere(
      () => {
        const snapshot = snapshotAt(12, single);
        snapshot.write(element(1, 12));
        return { snapshot, reader: again(snapshot), seen: [] as number[][] };
      },
      ({ snapshot }) => snapshot.write(element(2, 12)),
      ({ reader, seen }) => {
        seen.push(readFrom(reader)[1], readFrom(reader)[1]);
      },
      ({ reader, seen }, at) => {
        const both = [element(1, 12), element(2, 12)].map((e) => `${[...e]}`);
        for (const value of seen) assert.ok(both.includes(`${value}`), `${at}`);
        assert.equal(`${readFrom(reader)[1]}`, both[1]);
      },
    );
  }
});

test("a writer or a reader that died anywhere changes nothing", () => {
  const death = new Error("terminated");
  for (const single of [false, true]) {
    for (const op of ["write", "read"]) {
      for (let at = 0;; at++) {
        const snapshot = snapshotAt(12, single);
        snapshot.write(element(1, 12));
        const dead = again(snapshot);
        let over = false;
        try {
          const steps = preempted(
            () => op === "read" ? readFrom(dead) : dead.write(element(2, 12)),
            at,
            () => {
              throw death;
            },
          );
          over = at >= steps;
        } catch (error) {
          if (error !== death) throw error;
        }
        if (over) break;
        const seen = `${readFrom(snapshot)[1]}`;
        assert.ok(seen === `${[...element(1, 12)]}`, `${op} died at ${at}`);
        for (let i = 3; i < 9; i++) {
          snapshot.write(element(i, 12));
          const value = `${[...element(i, 12)]}`;
          assert.is(`${readFrom(snapshot)[1]}`, value);
        }
      }
    }
  }
});

test("a second writer, or single reader, is refused until abandon()", () => {
  const [A, B] = [1001, 1002];
  const value = Int32Array.of(7);
  const seen = new Int32Array(1);
  for (const singleReader of [false, true]) {
    const { buffer } = Snapshot.create({ size: 4, singleReader });
    const [first, second] = [A, B].map((id) =>
      asAgent(id, () => new Snapshot(buffer))
    ) as [Snapshot, Snapshot];
    first.write(value);
    assert.is(first.read(seen), 1);
    refuses(buffer, () => second.write(value), TypeError, `agent ${A}`);
    if (singleReader) {
      refuses(buffer, () => second.read(seen), TypeError, `agent ${A}`);
    } else assert.is(second.read(seen), 1);
    assert.is(second.abandon(B), 0);
    assert.is(second.abandon(A), singleReader ? 2 : 1);
    assert.is(second.abandon(A), 0);
    assert.is(second.abandon(0), 0); // nobody has a role
    second.write(value);
    assert.is(second.read(seen), 2);
    assert.is(wordsOf(second)[LAYOUT.snapshot.writer], B);
    assert.is(second.abandon(B), singleReader ? 2 : 1); // it gives them up
    second.write(value); // and takes them again
    for (const wrong of [-1, 2 ** 28, 0.5]) {
      refuses(buffer, () => second.abandon(wrong), RangeError, `${wrong}`);
    }
  }
});
