import type { Scenarios } from "./scenario.ts";
import { barrier } from "../barrier/scenarios.ts";
import { broadcast } from "../broadcast/scenarios.ts";
import { call_ring } from "../call_ring/scenarios.ts";
import { channel } from "../channel/scenarios.ts";
import { condition } from "../condition/scenarios.ts";
import { striped_counter } from "../striped_counter/scenarios.ts";
import { event } from "../event/scenarios.ts";
import { latch } from "../latch/scenarios.ts";
import { lock_free_queue } from "../lock_free_queue/scenarios.ts";
import { mpmc_queue } from "../mpmc_queue/scenarios.ts";
import { mutex } from "../mutex/scenarios.ts";
import { once } from "../once/scenarios.ts";
import { record_ring } from "../record_ring/scenarios.ts";
import { rw_lock } from "../rw_lock/scenarios.ts";
import { wait_any } from "../wait_any/scenarios.ts";
import { semaphore } from "../semaphore/scenarios.ts";
import { snapshot } from "../snapshot/scenarios.ts";
import { slab_pool } from "../slab_pool/scenarios.ts";
import { spsc_queue } from "../spsc_queue/scenarios.ts";
import { wait } from "../_wait/scenarios.ts";
import { work_counter } from "../work_counter/scenarios.ts";
import { work_deque } from "../work_deque/scenarios.ts";

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
