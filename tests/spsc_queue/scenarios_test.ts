import { exploreAll } from "../_run/explore.ts";
import { spsc_queue } from "./scenarios.ts";

exploreAll("SpscQueue", spsc_queue);
