import { exploreAll } from "../_run/explore.ts";
import { record_ring } from "./scenarios.ts";

exploreAll("RecordRing", record_ring);
