import { exploreAll } from "../_run/explore.ts";
import { latch } from "./scenarios.ts";

exploreAll("Latch", latch);
