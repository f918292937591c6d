import { exploreAll } from "./explore.ts";
import { mpmc_queue } from "./scenarios/mpmc_queue.ts";

exploreAll("MpmcQueue", mpmc_queue);
