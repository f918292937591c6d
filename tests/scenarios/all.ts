import type { Scenarios } from "./_scenario.ts";
import { barrier } from "./barrier.ts";
import { broadcast } from "./broadcast.ts";
import { call_ring } from "./call_ring.ts";
import { channel } from "./channel.ts";
import { condition } from "./condition.ts";
import { striped_counter } from "./striped_counter.ts";
import { event } from "./event.ts";
import { latch } from "./latch.ts";
import { lock_free_queue } from "./lock_free_queue.ts";
import { mpmc_queue } from "./mpmc_queue.ts";
import { mutex } from "./mutex.ts";
import { once } from "./once.ts";
import { record_ring } from "./record_ring.ts";
import { rw_lock } from "./rw_lock.ts";
import { wait_any } from "./wait_any.ts";
import { semaphore } from "./semaphore.ts";
import { snapshot } from "./snapshot.ts";
import { slab_pool } from "./slab_pool.ts";
import { spsc_queue } from "./spsc_queue.ts";
import { wait } from "./wait.ts";
import { work_counter } from "./work_counter.ts";
import { work_deque } from "./work_deque.ts";

/** The scenarios of every primitive, by stem. */
export const all: Readonly<Record<string, Scenarios>> = {
  wait,
  mutex,
  rw_lock,
  condition,
  semaphore,
  event,
  latch,
  barrier,
  once,
  snapshot,
  spsc_queue,
  mpmc_queue,
  lock_free_queue,
  record_ring,
  broadcast,
  channel,
  call_ring,
  work_counter,
  work_deque,
  slab_pool,
  striped_counter,
  wait_any,
};
