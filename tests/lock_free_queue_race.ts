import { exploreAll } from "./explore.ts";
import { lock_free_queue } from "./scenarios/lock_free_queue.ts";

exploreAll("LockFreeQueue", lock_free_queue);
