import { exploreAll } from "./explore.ts";
import { call_ring } from "./scenarios/call_ring.ts";

exploreAll("CallRing", call_ring);
