/**
 * The functions that `wasm/kernel.c` exports, without `weft_kernel_` and the
 * name of the primitive. `at` is the address of the primitive, `id` that of the
 * agent. A result is a value or an errno.
 *
 * @module
 */

/** The functions of the kernel for each kind of primitive. */
export interface Kernels {
  readonly mutex: {
    lock(at: number, id: number): number;
    try_lock(at: number, id: number): number;
    unlock(at: number, id: number): number;
  };
  readonly rw_lock: {
    try_read(at: number): number;
    unlock_read(at: number): number;
    try_write(at: number, id: number): number;
    unlock_write(at: number, id: number): number;
  };
  readonly semaphore: {
    try_acquire(at: number, n: number): number;
    release(at: number, n: number): number;
  };
  readonly event: {
    set(at: number): void;
    reset(at: number): void;
    try_wait(at: number): number;
  };
  readonly latch: {
    count_down(at: number, n: number): number;
  };
  readonly snapshot: {
    write(at: number, src: number): number;
    /** The version, or a negated errno. */
    read(at: number, dst: number): number;
  };
  readonly spsc_queue: ElementKernel;
  readonly mpmc_queue: ElementKernel;
  readonly lock_free_queue: IntKernel;
  readonly record_ring: {
    reserve(at: number, id: number, length: number): number;
    commit(at: number, record: number, length: number): number;
    push(at: number, id: number, src: number, length: number): number;
    peek(at: number, id: number): number;
    consume(at: number): void;
  };
  readonly work_counter: {
    take(at: number): number;
    done(at: number, n: number): number;
  };
  readonly work_deque: {
    push(at: number, item: number): number;
    pop(at: number): number;
    steal(at: number): number;
  };
  readonly slab_pool: {
    allocate(at: number, id: number): number;
    free(at: number, block: number): number;
  };
  readonly striped_counter: {
    add(stripe: number, n: number): void;
  };
  readonly hash_map: {
    get(at: number, key: number): number;
    set(at: number, id: number, key: number, value: number): number;
    add(at: number, id: number, key: number, n: number): number;
  };
}

/** The functions of the kernel for elements of 4 bytes. */
export interface IntKernel {
  push_int(at: number, value: number): number;
  pop_int(at: number): number;
}

/** The functions of the kernel for elements of any size. */
export interface ElementKernel extends IntKernel {
  reserve(at: number): number;
  peek(at: number): number;
  push_many(at: number, src: number, n: number): number;
  pop_many(at: number, dst: number, n: number): number;
  /** An errno if the queue refuses the element; void if it cannot. */
  commit(at: number, slot: number): number | void;
  consume(at: number, slot: number): void;
}
