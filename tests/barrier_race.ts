import { exploreAll } from "./explore.ts";
import { barrier } from "./scenarios/barrier.ts";

exploreAll("Barrier", barrier);
