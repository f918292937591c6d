/**
 * Agents that are compiled C. A module's accesses to shared memory are steps of
 * the scheduler, like those of JavaScript. An agent is suspended in the same
 * way, by throwing through its frames, and is run again from the start of its
 * call. So each agent has a stack of its own.
 *
 * @module
 */
import { isShared, U8 } from "../engine/platform/native.ts";
import { BadModule } from "./binary.ts";
import { memoryOf } from "./sections.ts";
import { rewrite, type Rewritten, STACK_BYTES } from "./rewrite.ts";
import type { Memory } from "../engine/scenario.ts";
import { getHost } from "../engine/platform/views.ts";
import {
  type Build,
  END,
  Instance,
  PAGE,
  type WasmExports,
  type WasmOptions,
  WINDOW,
} from "./instance.ts";

/**
 * The most agents, including one that recovers, and the size of their stacks.
 */
const AGENTS = 17;

/** Pages of stacks, and of as much before the first one. */
const STACK_PAGES = Math.ceil((AGENTS + 1) * STACK_BYTES / PAGE);

/**
 * A compiled module, whose code agents can run.
 *
 * If {@linkcode Wasm.memory} made the simulated memory, pointers are byte
 * offsets in it, and agents share the module's variables. If the simulated
 * memory is a SharedArrayBuffer, its byte 0 is at address {@linkcode Wasm.at},
 * and each agent has variables of its own.
 */
export class Wasm {
  /** The address of a SharedArrayBuffer's first byte. */
  readonly at: number = WINDOW;
  readonly #bytes: Uint8Array;
  readonly #options: WasmOptions;
  /** The builds that run in an agent's own memory and in shared memory. */
  #own: Build | undefined;
  #shared: Build | undefined;
  /** Instances by agent; those in memory that this module made, by memory. */
  readonly #window = new Map<number, Instance>();
  readonly #made = new WeakMap<WebAssembly.Memory, Map<number, Instance>>();

  /** Reads the module `bytes`, which must import its memory. */
  constructor(bytes: Uint8Array | ArrayBuffer, options: WasmOptions = {}) {
    const { from = 0 } = options;
    if (!(from >= 0)) {
      throw new RangeError(`from must be an address: received ${from}`);
    }
    this.#bytes = bytes instanceof ArrayBuffer ? new U8(bytes) : bytes;
    this.#options = options;
  }

  /** How many instructions became steps of the scheduler. */
  get replaced(): number {
    return this.#inWindow.replaced;
  }

  get #inWindow(): Build {
    return this.#own ??= build(this.#bytes, WINDOW, () => END);
  }

  get #inMemory(): Build {
    const from = Math.min(this.#options.from ?? 0, END);
    return this.#shared ??= build(
      this.#bytes,
      from,
      ({ pages }) => Math.max(pages * PAGE, from),
    );
  }

  /**
   * Makes shared memory that contains the module's variables, for `memory()`.
   */
  memory(): Exclude<Memory, SharedArrayBuffer> {
    const { memory: { pages, shared } } = this.#inMemory;
    if (!shared) {
      throw new TypeError(
        "The module's memory is not shared: link it with --shared-memory",
      );
    }
    const size = pages + STACK_PAGES;
    const memory = new WebAssembly.Memory({
      initial: size,
      maximum: size,
      shared: true,
    });
    new Instance(this.#inMemory, this.#options, memory, 0).construct();
    this.#made.set(memory, new Map());
    return memory;
  }

  /**
   * The module's functions for agent `id` of an exploration. Call it in
   * `agent()`; only that agent may call the functions.
   */
  enter(memory: Memory, id: number): WasmExports {
    // An instance has one stack, and can begin only once it is empty.
    getHost()?.leaveStacks();
    if (isShared(memory)) {
      let instance = this.#window.get(id);
      if (instance === undefined) {
        const build = this.#inWindow;
        instance = new Instance(build, this.#options, freshMemory(build), -1);
        this.#window.set(id, instance);
      }
      return instance.enter(memory, WINDOW);
    }
    const known = this.#made.get(memory);
    if (known === undefined) {
      throw new TypeError("The memory was not made by this module");
    }
    let instance = known.get(id);
    if (instance === undefined) {
      instance = new Instance(this.#inMemory, this.#options, memory, id);
      known.set(id, instance);
    }
    return instance.enter(memory.buffer as unknown as SharedArrayBuffer, 0);
  }
}

/** Rewrites a module, in which addresses from `from` to `end` are shared. */
function build(
  bytes: Uint8Array,
  from: number,
  end: (memory: Rewritten["memory"]) => number,
): Build {
  if (!WebAssembly.validate(bytes.slice())) refuse(bytes);
  const rewritten = rewrite(bytes, from, end(memoryOf(bytes)));
  return { ...rewritten, module: new WebAssembly.Module(rewritten.bytes) };
}

/** Says what the platform finds wrong with a module. */
function refuse(bytes: Uint8Array): never {
  try {
    new WebAssembly.Module(bytes.slice());
  } catch (error) {
    throw new BadModule(`Not a module that can run here: ${error}`);
  }
  throw new BadModule("Not a module that can run here");
}

/** Memory for one agent, with one more page that describes the thread. */
function freshMemory({ memory: { pages, shared } }: Build): WebAssembly.Memory {
  const initial = pages + 1;
  return new WebAssembly.Memory(
    shared ? { initial, maximum: initial, shared } : { initial },
  );
}
