/**
 * The files to hash, as a stream of chunks that is read ahead.
 *
 * @module
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { Complaint } from "./options.ts";

/** A file to hash. */
export interface File {
  /** The path as it was given, or found. */
  name: string;
  /** Bytes when it was found. */
  size: number;
  /** Its bytes, if they are made up. */
  made?: Uint8Array;
  /** Bytes read so far. */
  read: number;
  /** The digests of its chunks, in their order. */
  digests: Uint8Array;
}

/** A chunk of a file, in memory that nobody shares. */
export interface Chunk {
  file: File;
  /** The number of the chunk in its file. */
  index: number;
  bytes: Uint8Array;
}

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** The files of the default input that are real. */
const SOURCES = ["deno.json", "mod.ts", "primitives", "wasm"];

/** Bytes of the default input that are made up. */
const MADE = 2 ** 28;

/** Bytes read ahead. */
const AHEAD = 2 ** 25;
/** Bytes of a read, unless a chunk has more. */
const BLOCK = 2 ** 20;
/** Files read at a time. */
const LANES = 4;

/** How many chunks a file of `size` bytes has. An empty file has one, too. */
export function chunksOf(size: number, chunk: number): number {
  return Math.max(Math.ceil(size / chunk), 1);
}

const file = (name: string, size: number): File => ({
  name,
  size,
  read: 0,
  digests: new Uint8Array(0),
});

/** The files at `paths`, and in the folders there, or the default input. */
export async function find(paths: string[]): Promise<File[]> {
  const files: File[] = [];
  if (paths.length === 0) {
    const name = "(256 MiB made up)";
    files.push({ ...file(name, MADE), made: makeUp(MADE) });
    for (const source of SOURCES) {
      await collect(path.join(PROJECT, source), files);
    }
    return files;
  }
  for (const path of paths) await collect(path, files);
  if (files.length === 0) throw new Complaint("no files there");
  return files;
}

async function collect(name: string, files: File[]): Promise<void> {
  const stat = await reading(name, () => fs.stat(name));
  if (stat.isDirectory()) {
    const entries = await reading(
      name,
      () => fs.readdir(name, { withFileTypes: true }),
    );
    for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
      // Links and devices are skipped: they may lead in circles.
      if (entry.isDirectory() || entry.isFile()) {
        await collect(path.join(name, entry.name), files);
      }
    }
  } else if (stat.isFile()) {
    await reading(name, () => fs.access(name, fs.constants.R_OK));
    files.push(file(name, stat.size));
  } else throw new Complaint(`cannot read ${name}: not a file or folder`);
}

/** Bytes that look random, and are the same each time. */
function makeUp(bytes: number): Uint8Array {
  const words = new Uint32Array(bytes / 4);
  let word = 0x57656674;
  for (let i = 0; i < words.length; i++) {
    word ^= word << 13; // Marsaglia's xorshift32
    word ^= word >>> 17;
    word ^= word << 5;
    words[i] = word;
  }
  return new Uint8Array(words.buffer);
}

/** The result of `action`. A failure to read `name` becomes a complaint. */
export async function reading<T>(
  name: string,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    throw new Complaint(`cannot read ${name}: ${REASONS[code!] ?? message}`);
  }
}

const REASONS: Record<string, string> = {
  EACCES: "permission denied",
  EISDIR: "it is a folder",
  ELOOP: "links in a circle",
  ENOENT: "no such file or folder",
  ENOTDIR: "a part of the path is no folder",
  EPERM: "not permitted",
};

/**
 * A file's bytes to its end, or up to `most` of them, in blocks of whole
 * chunks. It may have become shorter or longer since it was found.
 */
export async function* blocks(
  { name, size, made }: File,
  chunk: number,
  most = Infinity,
): AsyncGenerator<Uint8Array, void, void> {
  const block = chunk * Math.max(Math.floor(BLOCK / chunk), 1);
  if (made) {
    for (let at = 0; at < size; at += block) {
      yield made.subarray(at, at + block);
    }
    return;
  }
  const handle = await reading(name, () => fs.open(name));
  try {
    for (let at = 0; at < most;) {
      const rest = chunksOf(size + 1 - at, chunk) * chunk; // up to its end
      const buffer = new Uint8Array(Math.min(block, rest, most - at));
      let length = 0;
      while (length < buffer.length) {
        const { bytesRead } = await reading(
          name,
          () => handle.read(buffer, length, buffer.length - length),
        );
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      if (length > 0) yield buffer.subarray(0, length);
      if (length < buffer.length) break;
      at += length;
    }
  } finally {
    await handle.close();
  }
}

/** Reads files ahead of the agents that take their chunks. */
export class Reader {
  readonly #chunk: number;
  readonly #files: IterableIterator<File>;
  readonly #chunks: Chunk[] = [];
  /** Chunks taken from the front of `#chunks`. */
  #taken = 0;
  /** Bytes read and not taken. */
  #held = 0;
  #reading = LANES;
  #failure: unknown;
  /** Resolves when something changes. */
  #change = Promise.withResolvers<void>();

  /** Begins to read. */
  constructor(files: File[], chunk: number) {
    this.#chunk = chunk;
    this.#files = files.values();
    for (let lane = 0; lane < LANES; lane++) {
      this.#read().catch((error) => this.#failure = error)
        .finally(() => (this.#reading--, this.#changed()));
    }
  }

  /** Resolves when everything is read, or the limit of reading ahead. */
  async filled(): Promise<void> {
    while (this.#reading > 0 && this.#held < AHEAD && !this.#failure) {
      await this.#change.promise;
    }
  }

  /** The first chunks read ahead, still to be taken. */
  get ahead(): readonly Chunk[] {
    return this.#chunks;
  }

  /** Takes up to `most` chunks, or none after all were taken. */
  async take(most: number): Promise<Chunk[]> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      const chunks = this.#chunks.slice(this.#taken, this.#taken + most);
      if (chunks.length === 0 && this.#reading > 0) {
        await this.#change.promise;
        continue;
      }
      this.#taken += chunks.length;
      for (const { file, bytes } of chunks) {
        if (!file.made) this.#held -= bytes.length;
      }
      if (this.#taken >= 1024) {
        this.#chunks.splice(0, this.#taken);
        this.#taken = 0;
      }
      this.#changed();
      return chunks;
    }
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  /** Reads files, one after the other, while others read others. */
  async #read(): Promise<void> {
    const chunk = this.#chunk;
    for (const file of this.#files) {
      const most = chunksOf(file.size, chunk) * chunk;
      let index = 0;
      const put = (bytes: Uint8Array) => {
        this.#chunks.push({ file, index: index++, bytes });
        if (!file.made) this.#held += bytes.length;
      };
      for await (const block of blocks(file, chunk, most)) {
        for (let at = 0; at < block.length; at += chunk) {
          put(block.subarray(at, at + chunk));
        }
        file.read += block.length;
        this.#changed();
        while (this.#held >= AHEAD) await this.#change.promise;
      }
      if (index === 0) put(new Uint8Array(0));
      this.#changed();
    }
  }
}
