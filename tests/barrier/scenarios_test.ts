import { exploreAll } from "../_run/explore.ts";
import { barrier } from "./scenarios.ts";

exploreAll("Barrier", barrier);
