/**
 * A module as one agent runs it: its stack, its variables, and the imports by
 * which it uses simulated memory.
 *
 * @module
 */
import type { Memory } from "../engine/scenario.ts";
import { execute } from "../engine/state/agent/operation.ts";
import * as k from "../engine/kinds.ts";
import { Unsupported } from "../engine/kinds.ts";
import { I32, native, RealViews, U8 } from "../engine/platform/native.ts";
import type { Access } from "./access.ts";
import {
  BOTTOM,
  RACE,
  type Rewritten,
  STACK,
  STACK_BYTES,
  VARIABLE,
} from "./rewrite.ts";
import { getHost, type Host, Target } from "../engine/platform/views.ts";
import { conversion, KINDS, viewOf } from "./conversion.ts";
import { imported, KNOWN, missing } from "./imports.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/**
 * The functions that a module exports. {@linkcode Wasm} explains its pointers.
 */
// deno-lint-ignore no-explicit-any
export type WasmExports = Record<string, (...args: any[]) => any>;

/** Options of a module. */
export interface WasmOptions {
  /**
   * Plain accesses below this address, in bytes, are not steps: use it for
   * constants and for data that only one agent uses. 0 by default. Atomic
   * accesses are always steps.
   */
  readonly from?: number | undefined;
  /** Imports besides memory, clocks and random numbers, by module and name. */
  readonly imports?:
    | Readonly<Record<string, Readonly<Record<string, unknown>>>>
    | undefined;
}

/** Bytes of a page of memory. */
export const PAGE = 65536;

/** Bytes at the bottom of a stack for thread-local variables. */
const LOCALS_BYTES = 1024;
/** Words after them, in which Emscripten's pthreads describe a thread. */
const THREAD_WORDS = 128;
/**
 * Indices in musl's struct: its own address, the thread's number, its keys, and
 * the end of a ring of locks.
 */
const SELF = 0;
const NUMBER = 6;
const KEYS = 17;
const LOCKS = 18;
const KEYS_WORDS = 128;
/** The address at which a module finds shared memory that is not its own. */
export const WINDOW = 0x4000_0000;
/** The end of all addresses. */
export const END = 2 ** 32;

/** A `WebAssembly.Module`, if TypeScript knows that name. */
type Module = typeof globalThis extends {
  WebAssembly: { Module: { prototype: infer Wasm extends object } };
} ? Wasm
  : object;

/** A rewritten module, compiled. */
export interface Build extends Rewritten {
  readonly module: Module;
}

/** Simulated memory, as an instance sees it. */
interface Binding {
  readonly buffer: SharedArrayBuffer;
  /** The address of its first byte. */
  readonly base: number;
  /** The exploration that the targets belong to. */
  host: Host | null;
  targets: Record<string, Target>;
  readonly exports: WasmExports;
}

/**
 * What the calls under way need again. The engine runs an agent ahead from the
 * start while its calls are on the stack, inside one of their operations. That
 * writes to the memory that only this agent uses, which is given back when the
 * operation has been done.
 */
interface Kept {
  /** The address of `bytes`. */
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly pages: number;
  /** What the module's variables hold. */
  readonly variables: readonly unknown[];
  /** How many calls were under way. */
  readonly depth: number;
}

/** The platform's function, which agents may not call. */
const { grow: growMemory } = WebAssembly.Memory.prototype;

/** A module, as one agent runs it. */
export class Instance {
  readonly #raw: WebAssembly.Exports;
  #bytes: Uint8Array;
  /** How many pages its memory has for the module, and what it says of it. */
  #pages: number;
  readonly #limits: Build["memory"];
  readonly #stack: WebAssembly.Global | undefined;
  /** The stack pointer, and all other globals that change. */
  readonly #variables: readonly WebAssembly.Global[];
  /** The address where the stack begins; it grows down. */
  readonly #top: number;
  /** The address of thread-local variables, if it has no memory of its own. */
  readonly #locals: number;
  /** The address behind what lies at the bottom of such a stack. */
  readonly #low: number;
  /** The struct in which Emscripten's pthreads describe this thread, if any. */
  readonly #thread: Int32Array | undefined;
  /** The first of the addresses that belong to this agent alone. */
  readonly #ownStart: number;
  readonly #ownEnd: number;
  /** Plain accesses of memory that is shared by all are no steps before it. */
  readonly #from: number;
  /** The first content of its own memory, if it has any. */
  #image: Uint8Array | undefined;
  /** What its variables, and the size of its own memory, were then. */
  readonly #first: readonly unknown[];
  readonly #firstPages: number;
  readonly #bindings = new WeakMap<SharedArrayBuffer, Binding>();
  #binding: Binding | undefined;
  /** How many calls are under way. */
  #depth = 0;
  /** What is to be given back: see {@linkcode Kept}. */
  readonly #kept: Kept[] = [];

  /** Runs the module in memory shared by all, or in its own if `id` is -1. */
  constructor(
    build: Build,
    { imports = {}, from = 0 }: WasmOptions,
    readonly memory: Exclude<Memory, SharedArrayBuffer>,
    id: number,
  ) {
    const own = build.memory.pages * PAGE;
    this.#ownStart = id < 0 ? 0 : own;
    this.#ownEnd = id < 0 ? WINDOW : END;
    this.#from = id < 0 ? 0 : from;
    this.#bytes = new U8(memory.buffer);
    this.#limits = build.memory;
    this.#pages = build.memory.pages;
    this.#raw = new WebAssembly.Instance(
      build.module,
      this.#imports(build, imports),
    ).exports;
    this.#stack = this.#raw[STACK] as WebAssembly.Global | undefined;
    this.#variables = Object.keys(this.#raw).filter(isOurs)
      .map((name) => this.#raw[name] as WebAssembly.Global);
    // Nothing lies before the first stack, where it would go on if it is full.
    this.#top = id < 0 ? this.#stack?.value ?? 0 : own + (id + 2) * STACK_BYTES;
    this.#locals = this.#top - STACK_BYTES;
    const bottom = this.#raw[BOTTOM] as WebAssembly.Global | undefined;
    if (bottom !== undefined) bottom.value = this.#locals;
    this.#low = this.#locals + LOCALS_BYTES;
    if (this.#raw._emscripten_thread_init !== undefined) {
      this.#low += 4 * (THREAD_WORDS + KEYS_WORDS);
      const at = id < 0 ? own : this.#locals + LOCALS_BYTES;
      this.#thread = new I32(memory.buffer, at, THREAD_WORDS + KEYS_WORDS);
      // It is not the main thread, which polls and does others' work. It may
      // sleep.
      this.#callIfThere("_emscripten_thread_init", at, 0, 0, 1, 0, 0);
    }
    if (id < 0) {
      this.construct();
      const heap = this.#raw.__heap_base as WebAssembly.Global | undefined;
      this.#image = this.#bytes.slice(0, heap?.value);
    }
    this.#first = this.#variables.map(({ value }) => value);
    this.#firstPages = this.#pages;
  }

  /** Runs the module's constructors, if it has any. */
  construct(): void {
    this.#callIfThere("__wasm_call_ctors");
    this.#callIfThere("_initialize");
  }

  #callIfThere(name: string, ...args: number[]): void {
    const target = this.#raw[name];
    if (typeof target === "function") this.#call(target as Any, args);
  }

  /** Prepares for running the agent's code from its start. */
  enter(buffer: SharedArrayBuffer, base: number): WasmExports {
    let binding = this.#bindings.get(buffer);
    if (binding === undefined) {
      binding = { buffer, base, host: null, targets: {}, exports: {} };
      this.#wrap(binding);
      this.#bindings.set(buffer, binding);
    }
    this.#binding = binding;
    if (this.#depth > 0) this.#keep();
    this.#depth = 0;
    this.#setVariables(this.#first);
    this.#bytes.fill(0, this.#firstPages * PAGE, this.#grownEnd);
    this.#pages = this.#firstPages;
    if (this.#image !== undefined) this.#bytes.set(this.#image);
    else {
      const locals = this.#locals;
      this.#bytes.fill(0, locals, locals + LOCALS_BYTES);
      this.#callIfThere("__wasm_init_tls", locals);
      const host = getHost();
      host?.region(buffer).own.push([this.#ownStart, buffer.byteLength]);
    }
    this.#thread?.fill(0);
    return binding.exports;
  }

  /** Keeps what the calls under way need. */
  #keep(): void {
    const image = this.#image;
    const at = image === undefined ? this.#top - STACK_BYTES : 0;
    const end = image === undefined
      ? this.#top
      : Math.max(image.length, this.#grownEnd);
    const bytes = this.#bytes.slice(at, end);
    const variables = this.#variables.map(({ value }) => value);
    const { depth, pages } = { depth: this.#depth, pages: this.#pages };
    this.#kept.push({ at, bytes, pages, variables, depth });
  }

  #setVariables(values: readonly unknown[]): void {
    this.#variables.forEach((variable, i) => variable.value = values[i]);
  }

  /** The end of the pages by which its own memory has grown; 0 if it has not. */
  get #grownEnd(): number {
    return this.#pages > this.#firstPages ? this.#pages * PAGE : 0;
  }

  /** Goes back to the first of what was kept since there were `count` of it. */
  #giveBack(count: number): void {
    const { at, bytes, pages, variables, depth } = this.#kept[count]!;
    this.#kept.length = count;
    this.#bytes.set(bytes, at);
    this.#pages = pages;
    this.#setVariables(variables);
    this.#depth = depth;
  }

  // ---- calls

  #wrap(binding: Binding): void {
    for (const [name, value] of Object.entries(this.#raw)) {
      if (isOurs(name)) continue;
      binding.exports[name] = typeof value === "function"
        ? (...args: Any[]) => {
          this.#binding = binding;
          return this.#call(value as Any, args);
        }
        : value as Any;
    }
  }

  /** Calls a function. The outermost call begins with an empty stack. */
  #call(target: (...args: Any[]) => Any, args: Any[]): Any {
    // The token that suspended the agent skipped the ends of its functions.
    if (this.#depth === 0) {
      if (this.#stack !== undefined) this.#stack.value = this.#top;
      // Copies of structs have bytes that nobody has written.
      if (this.#ownStart > 0) this.#bytes.fill(0, this.#low, this.#top);
      if (this.#thread !== undefined) awaken(this.#thread);
    }
    this.#depth++;
    try {
      return target(...args);
    } finally {
      this.#depth--;
    }
  }

  // ---- imports

  #imports(
    build: Build,
    given: NonNullable<WasmOptions["imports"]>,
  ): WebAssembly.Imports {
    const { memory: { module, name } } = build;
    const all: Record<string, Record<string, Any>> = {};
    for (const { module: from, name, kind } of imported(build)) {
      (all[from] ??= {})[name] = given[from]?.[name] ?? KNOWN[name] ??
        (kind === "function" ? missing(from, name) : undefined);
    }
    (all[module] ??= {})[name] = this.memory;
    for (const [name, access] of build.accesses) {
      (all[RACE] ??= {})[name] = this.#import(access);
    }
    return all;
  }

  #import(access: Access): Any {
    switch (access.what) {
      case "wait":
        return this.#wait(access);
      case "notify":
        return (at: number, count: number, offset: number) =>
          this.#operate(
            k.NOTIFY,
            "Int32Array",
            (at >>> 0) + (offset >>> 0),
            count >>> 0,
            0,
            0,
          );
      case "copy":
        return (to: number, from: number, bytes: number) =>
          this.#copy(to >>> 0, from >>> 0, bytes >>> 0);
      case "grow":
        return (pages: number) => this.#grow(pages >>> 0);
      case "fill":
        return (to: number, value: number, bytes: number) =>
          this.#fill(to >>> 0, value, bytes >>> 0);
      case "plain load":
      case "plain store":
        return this.#plain(access);
      default:
        return this.#atomic(access);
    }
  }

  #atomic(access: Access): Any {
    const kind = KINDS[access.what]!;
    const view = viewOf(access);
    const { into, out } = conversion(access);
    switch (kind) {
      case k.LOAD:
        return (at: number, offset: number) =>
          out(this.#operate(kind, view, (at >>> 0) + (offset >>> 0), 0, 0, 0));
      case k.CAS:
        return (at: number, from: Any, to: Any, offset: number) => {
          const address = (at >>> 0) + (offset >>> 0);
          return out(
            this.#operate(kind, view, address, into(from), into(to), 0),
          );
        };
      default:
        return (at: number, value: Any, offset: number) => {
          const address = (at >>> 0) + (offset >>> 0);
          return out(this.#operate(kind, view, address, into(value), 0, 0));
        };
    }
  }

  #plain(access: Access): Any {
    const view = viewOf(access);
    const { into, out } = conversion(access);
    const { size } = access;
    if (access.what === "plain load") {
      return (at: number) => {
        at >>>= 0;
        return at % size === 0
          ? out(this.#operate(k.READ, view, at, 0, 0, 0))
          : this.#readBytes(at, access);
      };
    }
    return (at: number, value: Any) => {
      at >>>= 0;
      if (at % size === 0) {
        this.#operate(k.WRITE, view, at, into(value), 0, 0);
      } else this.#writeBytes(at, access, value);
    };
  }

  /** Makes an unaligned plain access byte by byte. */
  #readBytes(at: number, access: Access): Any {
    const bytes = new U8(access.size);
    for (let i = 0; i < access.size; i++) {
      bytes[i] = this.#operate(k.READ, "Uint8Array", at + i, 0, 0, 0);
    }
    const value = new RealViews[viewOf(access)](bytes.buffer)[0];
    return conversion(access).out(value);
  }

  #writeBytes(at: number, access: Access, value: Any): void {
    const whole = new RealViews[viewOf(access)](1);
    whole[0] = conversion(access).into(value);
    new U8(whole.buffer).forEach((byte, i) => {
      this.#operate(k.WRITE, "Uint8Array", at + i, byte, 0, 0);
    });
  }

  #wait(access: Access): Any {
    const view = viewOf(access);
    return (at: number, value: Any, ns: bigint, offset: number) => {
      const ms = ns < 0n ? Infinity : Number(ns) / 1e6;
      const address = (at >>> 0) + (offset >>> 0);
      const end = this.#operate(k.WAIT, view, address, value, 0, ms);
      return end === "ok" ? 0 : end === "not-equal" ? 1 : 2;
    };
  }

  /** Copies word by word where possible, as compilers do. */
  #copy(to: number, from: number, bytes: number): void {
    const words = (to | from) % 4 === 0 ? bytes & ~3 : 0;
    const move = (at: number, size: number) => {
      const view = size === 4 ? "Int32Array" : "Uint8Array";
      const value = this.#access(k.READ, view, from + at, 0);
      this.#access(k.WRITE, view, to + at, value);
    };
    if (to > from && to < from + bytes) {
      for (let at = bytes; at > 0;) {
        const size = at > words ? 1 : 4;
        move(at -= size, size);
      }
      return;
    }
    for (let at = 0; at < bytes;) {
      const size = at < words ? 4 : 1;
      move(at, size);
      at += size;
    }
  }

  #fill(to: number, value: number, bytes: number): void {
    const words = to % 4 === 0 ? bytes & ~3 : 0;
    const byte = value & 0xff;
    const word = byte * 0x01010101 | 0;
    for (let at = 0; at < words; at += 4) {
      this.#access(k.WRITE, "Int32Array", to + at, word);
    }
    for (let at = words; at < bytes; at++) {
      this.#access(k.WRITE, "Uint8Array", to + at, byte);
    }
  }

  /** A plain access of a copy or a fill. */
  #access(kind: number, view: string, address: number, value: number): Any {
    return address < this.#from
      ? this.#directly(kind, view, true, address, value, 0)
      : this.#operate(kind, view, address, value, 0, 0);
  }

  /** Grows the agent's own memory, and returns what its size was, or -1. */
  #grow(pages: number): number {
    const before = this.#pages;
    const after = before + pages;
    if (pages === 0) return before;
    const { most, shared } = this.#limits;
    if (this.#ownStart > 0 || shared || after > most) return -1;
    const missing = after - this.memory.buffer.byteLength / PAGE;
    if (after * PAGE > WINDOW) return -1;
    if (missing > 0) growMemory.call(this.memory, missing);
    if (missing > 0) this.#bytes = new U8(this.memory.buffer);
    this.#pages = after;
    return before;
  }

  // ---- operations

  #operate(
    kind: number,
    view: string,
    address: number,
    a: Any,
    b: Any,
    timeout: number,
  ): Any {
    const own = address >= this.#ownStart && address < this.#ownEnd;
    const host = getHost();
    const binding = this.#binding;
    if (own && this.#ownStart > 0 && this.#stack !== undefined) {
      const stacks = address < this.#locals || address >= this.#top;
      if (stacks && address < this.#bytes.length) this.#refuseStack(address);
    }
    if (own || host === null || !host.running || binding === undefined) {
      return this.#directly(kind, view, own, address, a, b);
    }
    if (binding.host !== host) {
      binding.host = host;
      binding.targets = {};
    }
    const target = binding.targets[view] ??= targetFor(binding, view);
    const index = (address - binding.base) / target.size;
    if (index >= 0 && index < target.view.length && Number.isInteger(index)) {
      const kept = this.#kept.length;
      try {
        return host.operate(kind, target, index, a, b, timeout);
      } finally {
        if (this.#kept.length > kept) this.#giveBack(kept);
      }
    }
    host.outside(target, index, `${k.OP_NAMES[kind]} of wasm`);
    throw new RangeError(`No such memory at address ${address}`);
  }

  /** Refuses an access to memory of stacks that is not the agent's own one. */
  #refuseStack(address: number): never {
    const message = this.#stack!.value < this.#locals
      ? `Cannot explore: the stack of an agent has ${STACK_BYTES} bytes, and ` +
        "the module needs more"
      : `Cannot explore: the module uses address ${address}, in the ` +
        "stack or among the thread-local variables of another agent; let " +
        "agents share static or allocated memory";
    const host = getHost();
    if (host?.running) host.refuseAccess(message);
    throw new RangeError(message);
  }

  /** Accesses memory that no other agent sees, or outside an exploration. */
  #directly(
    kind: number,
    view: string,
    own: boolean,
    address: number,
    a: Any,
    b: Any,
  ): Any {
    const { buffer, base } = own || this.#binding === undefined
      ? { buffer: this.memory.buffer, base: 0 }
      : this.#binding;
    const all = new RealViews[view](buffer);
    const index = (address - base) / all.BYTES_PER_ELEMENT;
    if (!Number.isInteger(index) || !(index >= 0 && index < all.length)) {
      const why = Number.isInteger(index) ? "no memory" : "not aligned";
      throw new RangeError(
        `${k.OP_NAMES[kind]} of wasm: ${why} at address ${address}`,
      );
    }
    if (kind === k.NOTIFY) return native.notify(all, index, a);
    if (kind === k.WAIT) {
      if (native.load(all, index) !== a) return "not-equal";
      throw new Unsupported("Cannot wait on memory that no other agent sees");
    }
    return execute(kind, all, index, a, b);
  }
}

/** Whether the rewriter has added an export. */
const isOurs = (name: string): boolean =>
  name === STACK || name === BOTTOM || name.startsWith(VARIABLE);

/** Marks the thread as one that neither sleeps nor was told to end. */
function awaken(thread: Int32Array): void {
  const at = thread.byteOffset;
  thread.fill(0, 0, THREAD_WORDS);
  thread[SELF] = thread[NUMBER] = at;
  thread[KEYS] = at + THREAD_WORDS * 4;
  thread[LOCKS] = at + LOCKS * 4;
}

function targetFor({ buffer, host }: Binding, view: string): Target {
  const { [view]: View } = RealViews;
  const length = Math.floor(buffer.byteLength / View.BYTES_PER_ELEMENT);
  return new Target(host!, new View(buffer, 0, length), host!.region(buffer));
}
