import { exploreAll } from "./explore.ts";
import { rw_lock } from "./scenarios/rw_lock.ts";

exploreAll("RwLock", rw_lock);
