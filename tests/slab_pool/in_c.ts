import { EINVAL, Twin, Words } from "../_run/mixed/twin.ts";

class SlabPool extends Twin {
  get #cache(): number {
    return (this.c.race_cache as unknown as WebAssembly.Global).value as number;
  }

  useCache(limit: number): void {
    const { memory } = this.c as unknown as { memory: WebAssembly.Memory };
    new Words(memory.buffer, this.#cache, 1)[0] = limit;
  }

  allocate(): number {
    const block = this.c.weft_slab_pool_allocate!(this.at, this.#cache);
    return block === 0 ? -1 : block - this.agent.base;
  }

  free(at: number): void {
    const { c, agent: { base } } = this;
    const result = c.weft_slab_pool_free!(this.at, base + at, this.#cache);
    if (result === EINVAL) throw new RangeError("it is free already");
    this.succeeded(result);
  }

  release(): void {
    this.c.weft_slab_pool_release!(this.at, this.#cache);
  }

  abandon(id: number, everything = false): number {
    return this.c.weft_slab_pool_abandon!(this.at, id, everything ? 1 : 0);
  }
}

/** By the names of the classes they stand for. */
export const twins = { SlabPool };
