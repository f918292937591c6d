import { exploreAll } from "./explore.ts";
import { spsc_queue } from "./scenarios/spsc_queue.ts";

exploreAll("SpscQueue", spsc_queue);
