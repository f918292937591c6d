/**
 * A host of WASI with threads: what `weft.h` asks of it, and `thread-spawn`.
 *
 * @module
 */

/** A program, its memory, and how to start the threads that it asks for. */
export interface Program {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
}

/** An instance for one thread. It gives `spawn` what a thread begins with. */
export function instance(
  { module, memory }: Program,
  spawn: (start: number) => number,
): WebAssembly.Exports {
  const view = () => new DataView(memory.buffer);
  const clock_time_get = (clock: number, _: bigint, at: number) => {
    const ms = clock === 0 ? Date.now() : performance.now();
    view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
    return 0;
  };
  const random_get = (at: number, bytes: number) => {
    const random = crypto.getRandomValues(new Uint8Array(bytes));
    random.forEach((byte, i) => view().setUint8(at + i, byte));
    return 0;
  };
  const imports = {
    env: { memory },
    wasi: { "thread-spawn": spawn },
    wasi_snapshot_preview1: { clock_time_get, random_get },
  };
  return new WebAssembly.Instance(module, imports).exports;
}
