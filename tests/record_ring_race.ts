import { exploreAll } from "./explore.ts";
import { record_ring } from "./scenarios/record_ring.ts";

exploreAll("RecordRing", record_ring);
