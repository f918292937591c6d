import { SlabPool } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { EINVAL, Twin, Words } from "../_run/mixed/twin.ts";

const pool = { capacity: 3, blockSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "slab_pool",
  ...made(SlabPool, [pool]),
  use: (view) => (view as SlabPool).allocate(),
  used: (view) => (view as SlabPool).available === 2,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "SlabPool", most: 3797 };

class SlabPoolInC extends Twin {
  get #cache(): number {
    return (this.c.race_cache as unknown as WebAssembly.Global).value as number;
  }

  useCache(limit: number): void {
    const { memory } = this.c as unknown as { memory: WebAssembly.Memory };
    new Words(memory.buffer, this.#cache, 1)[0] = limit;
  }

  allocate(): number {
    const block = this.invoke("allocate", this.#cache);
    return block === 0 ? -1 : block - this.agent.base;
  }

  free(at: number): void {
    const result = this.invoke("free", this.agent.base + at, this.#cache);
    if (result === EINVAL) throw new RangeError("it is free already");
    this.succeeded(result);
  }

  release(): void {
    this.invoke("release", this.#cache);
  }

  override abandon(id: number, everything = false): number {
    return this.invoke("abandon", id, everything ? 1 : 0);
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { SlabPool: SlabPoolInC };
