/**
 * A compiled module in parts: its sections, what it imports, and where it keeps
 * the stack pointer.
 *
 * @module
 */
import {
  BadModule,
  readCode,
  Reader,
  skipImmediates,
  Writer,
} from "./binary.ts";
import { TYPES } from "./access.ts";

/** An imported memory; sizes in pages of 64 KiB. */
export interface MemoryImport {
  readonly module: string;
  readonly name: string;
  readonly pages: number;
  /** The most that it may grow to. */
  readonly most: number;
  readonly shared: boolean;
}

/** The numbers of sections. */
export const TYPE = 1;
export const IMPORT = 2;
export const FUNCTION = 3;
export const MEMORY = 5;
export const GLOBAL = 6;
export const EXPORT = 7;
export const START = 8;
export const ELEMENT = 9;
export const CODE = 10;
export const DATA = 11;
/** The same, in the order in which they must come. */
export const ORDER = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11];

interface Parts {
  readonly sections: Map<number, Reader>;
  /** The name section, if there is one. */
  readonly names: Reader | undefined;
}

/** Divides a module. */
export function partsOf(bytes: Uint8Array): Parts {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  if (header.some((byte, i) => bytes[i] !== byte)) {
    throw new BadModule("Not a module of WebAssembly 1");
  }
  const sections = new Map<number, Reader>();
  let names: Reader | undefined;
  const from = new Reader(bytes, 8);
  while (!from.done) {
    const id = from.byte();
    const part = from.part();
    if (id !== 0) sections.set(id, part);
    else if (part.name() === "name") names = part;
  }
  return { sections, names };
}

/** What a module imports. */
export interface Imports {
  readonly functions: number;
  readonly globals: number;
  readonly memory: MemoryImport;
  /** All imports, with a memory that may have grown. */
  readonly entries: Uint8Array;
  readonly count: number;
}

/** The most pages of a memory. */
const MOST_PAGES = 65536;

/** The error for a module that has several memories. */
export const severalMemories = (): BadModule =>
  new BadModule("Cannot explore a module that has several memories");

/** Reads the section of imports. */
export function readImports(from: Reader | undefined): Imports {
  const out = new Writer();
  let functions = 0;
  let globals = 0;
  let memory: MemoryImport | undefined;
  const count = from?.number() ?? 0;
  for (let i = 0; i < count; i++) {
    const start = from!.at;
    const module = from!.name();
    const name = from!.name();
    const kind = from!.byte();
    if (kind !== 2) {
      if (kind === 0) functions++;
      if (kind === 3) globals++;
      if (kind === 1) from!.byte();
      if (kind === 1) skipLimits(from!);
      else {
        if (kind === 4) from!.byte();
        from!.skipNumber();
        if (kind === 3) from!.byte();
      }
      out.bytes(from!.bytes.subarray(start, from!.at));
      continue;
    }
    out.bytes(from!.bytes.subarray(start, from!.at));
    if (memory !== undefined) throw severalMemories();
    const flags = from!.byte();
    if (flags & 4) throw new BadModule("Cannot explore 64-bit memory");
    const pages = from!.number();
    const most = flags & 1 ? from!.number() : MOST_PAGES;
    const shared = (flags & 2) !== 0;
    memory = { module, name, pages, most, shared };
    out.byte(shared ? 3 : 0);
    out.number(pages);
    if (shared) out.number(MOST_PAGES);
  }
  if (memory === undefined) {
    throw new BadModule("The module must import its memory");
  }
  return { functions, globals, memory, entries: out.written, count };
}

function skipLimits(from: Reader): void {
  const flags = from.byte();
  from.skipNumber();
  if (flags & 1) from.skipNumber();
}

/** A global that can change. */
export interface Variable {
  readonly index: number;
  readonly type: number;
  /** Its first value, if that is an `i32.const`. */
  readonly first: number | undefined;
}

/** The globals of a module that can change, besides those it imports. */
export function variablesOf(
  from: Reader | undefined,
  imported: number,
): Variable[] {
  const variables: Variable[] = [];
  const count = from?.number() ?? 0;
  for (let i = 0; i < count; i++) {
    const type = from!.byte();
    const changes = from!.byte() === 1;
    let first: number | undefined;
    for (let at = readCode(from!); at.code !== 0x0b; at = readCode(from!)) {
      if (at.code === 0x41) first = from!.signed();
      else skipImmediates(from!, at);
    }
    if (changes) variables.push({ index: imported + i, type, first });
  }
  return variables;
}

/**
 * The variable in which a compiler keeps the stack pointer: the one that has
 * the name, or else the first one, if it begins with the end of a stack.
 */
export function stackPointer(
  variables: readonly Variable[],
  names: ReadonlyMap<number, string>,
  { pages }: MemoryImport,
): Variable | undefined {
  const named = variables.find(({ index }) =>
    names.get(index)?.endsWith("__stack_pointer")
  );
  if (named !== undefined) return named;
  const [one] = variables.filter(({ type }) => type === TYPES.i32);
  const top = one?.first ?? 0;
  return top > 0 && top % 16 === 0 && top <= pages * 65536 ? one : undefined;
}

/** The memory a module imports. */
export function memoryOf(bytes: Uint8Array): MemoryImport {
  return readImports(partsOf(bytes).sections.get(IMPORT)).memory;
}
