/** What `guest_test.ts` tells its threads. */
export interface Job {
  readonly memory: WebAssembly.Memory;
  /** Where the parts of the layout lie. */
  readonly at: number;
  /** The name that the thread gives itself, and its id. */
  readonly name: string;
  readonly id: number;
  /** The mutexes that it locks, in this order. */
  readonly locks: readonly ["a" | "b" | "c", "a" | "b" | "c"];
  /** The thread is C. */
  readonly module?: WebAssembly.Module;
}
