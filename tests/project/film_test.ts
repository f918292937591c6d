// The moving picture of the live page: pictures are joined without a change.
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { crc32, inflateSync } from "node:zlib";
import * as assert from "uvu/assert";
import { chunksOf, film } from "../../docs/page/film.ts";
import { suite } from "../_run/harness.ts";

const test = suite("the moving picture");

const read = (name: string) =>
  fs.readFileSync(new URL(`../../docs/page/${name}`, import.meta.url));

/** The pixels of each picture, and the numbers of the chunks of an APNG. */
function partsOf(png: Uint8Array) {
  const pictures: Buffer[][] = [];
  const numbers: number[] = [];
  for (const { type, data } of chunksOf(png)) {
    if (type === "fcTL") pictures.push([]);
    if (type === "fcTL" || type === "fdAT") numbers.push(data.readUInt32BE());
    if (type === "IDAT") (pictures.at(-1) ?? (pictures[0] = [])).push(data);
    if (type === "fdAT") pictures.at(-1)!.push(data.subarray(4));
  }
  const pixels = pictures.map((parts) => inflateSync(Buffer.concat(parts)));
  return { pixels, numbers };
}

test("each picture of a film has the pixels that it had", () => {
  const one = read("crowd.png");
  const joined = film([one, one, one], 100);
  const [alone] = partsOf(one).pixels;
  const { pixels, numbers } = partsOf(joined);
  assert.is(pixels.length, 3);
  for (const picture of pixels) assert.ok(picture.equals(alone!));
  assert.equal(numbers, [0, 1, 2, 3, 4]);
  const [head, control] = chunksOf(joined);
  assert.is(head!.type, "IHDR");
  assert.equal([control!.type, control!.data.readUInt32BE()], ["acTL", 3]);
  // A chunk that browsers take ends in the check sum of its name and bytes.
  const bytes = Buffer.from(joined);
  assert.is(bytes.readUInt32BE(29), crc32(bytes.subarray(12, 29)));
});

test("pictures of two sizes are refused, and what is no picture", () => {
  const two = [read("crowd.png"), read("tester.png")];
  assert.throws(() => film(two, 100), /another size/);
  assert.throws(() => film([new Uint8Array(20)], 100), /no PNG/);
});

test("that of the live page moves, and is not large", () => {
  const png = read("crowd_film.png");
  assert.ok(partsOf(png).pixels.length >= 10);
  assert.ok(png.length < 500_000);
});
