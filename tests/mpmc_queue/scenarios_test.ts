import { exploreAll } from "../_run/explore.ts";
import { mpmc_queue } from "./scenarios.ts";

exploreAll("MpmcQueue", mpmc_queue);
