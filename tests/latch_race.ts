import { exploreAll } from "./explore.ts";
import { latch } from "./scenarios/latch.ts";

exploreAll("Latch", latch);
