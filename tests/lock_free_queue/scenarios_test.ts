import { exploreAll } from "../_run/explore.ts";
import { lock_free_queue } from "./scenarios.ts";

exploreAll("LockFreeQueue", lock_free_queue);
