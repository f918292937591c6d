import { exploreAll } from "./explore.ts";
import { seqlock } from "./scenarios/seqlock.ts";

exploreAll("Snapshot", seqlock);
