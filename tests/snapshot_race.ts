import { exploreAll } from "./explore.ts";
import { snapshot } from "./scenarios/snapshot.ts";

exploreAll("Snapshot", snapshot);
