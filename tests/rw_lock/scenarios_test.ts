import { exploreAll } from "../_run/explore.ts";
import { rw_lock } from "./scenarios.ts";

exploreAll("RwLock", rw_lock);
