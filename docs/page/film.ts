/**
 * Joins pictures of one size into one that moves: an APNG, which browsers play
 * and all else shows as its first picture.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { crc32, deflateSync, inflateSync } from "node:zlib";

/** The eight bytes with which a PNG begins. */
const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

/** A part of a PNG: four letters, and bytes. */
interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** The chunks of a PNG. */
export function chunksOf(png: Uint8Array): Chunk[] {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  if (!bytes.subarray(0, 8).equals(SIGNATURE)) throw new TypeError("no PNG");
  const chunks: Chunk[] = [];
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    chunks.push({ type, data: bytes.subarray(at + 8, at + 8 + length) });
    at += 12 + length; // with its check sum
  }
  return chunks;
}

function written({ type, data }: Chunk): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const bytes = Buffer.alloc(named.length + 8);
  bytes.writeUInt32BE(data.length, 0);
  named.copy(bytes, 4);
  bytes.writeUInt32BE(crc32(named), named.length + 4);
  return bytes;
}

/** Words of 32 bits, and then words of 16 bits, as chunks have them. */
function words(long: readonly number[], short: readonly number[] = []): Buffer {
  const bytes = Buffer.alloc(4 * long.length + 2 * short.length);
  long.forEach((n, i) => bytes.writeUInt32BE(n, 4 * i));
  short.forEach((n, i) => bytes.writeUInt16BE(n, 4 * long.length + 2 * i));
  return bytes;
}

/** Plays `pictures`, PNGs of one size, again and again, `ms` for each. */
export function film(pictures: readonly Uint8Array[], ms: number): Uint8Array {
  const all = pictures.map(chunksOf);
  const head = all[0]!.find(({ type }) => type === "IHDR")!;
  const size = [head.data.readUInt32BE(0), head.data.readUInt32BE(4)];
  const out: Chunk[] = [
    head,
    { type: "acTL", data: words([all.length, 0]) },
  ];
  let number = 0; // of the chunks that only an APNG has
  for (const [i, chunks] of all.entries()) {
    const own = chunks.find(({ type }) => type === "IHDR")!;
    if (!own.data.equals(head.data)) throw new TypeError("another size");
    const place = words([number++, ...size, 0, 0], [ms, 1000, 0]);
    out.push({ type: "fcTL", data: place });
    const parts = chunks.filter(({ type }) => type === "IDAT");
    const pixels = inflateSync(Buffer.concat(parts.map(({ data }) => data)));
    // Browsers compress in a hurry.
    const data = deflateSync(pixels, { level: 9 });
    out.push(
      i === 0
        ? { type: "IDAT", data }
        : { type: "fdAT", data: Buffer.concat([words([number++]), data]) },
    );
  }
  out.push({ type: "IEND", data: Buffer.alloc(0) });
  return Buffer.concat([SIGNATURE, ...out.map(written)]);
}
