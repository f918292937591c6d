import { exploreAll } from "../_run/explore.ts";
import { call_ring } from "./scenarios.ts";

exploreAll("CallRing", call_ring);
