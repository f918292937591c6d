import { exploreAll } from "../_run/explore.ts";
import { mutex } from "./scenarios.ts";

exploreAll("Mutex", mutex);
