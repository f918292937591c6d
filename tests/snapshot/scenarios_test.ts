import { exploreAll } from "../_run/explore.ts";
import { snapshot } from "./scenarios.ts";

exploreAll("Snapshot", snapshot);
