import { exploreAll } from "./explore.ts";
import { striped_counter } from "./scenarios/striped_counter.ts";

exploreAll("StripedCounter", striped_counter);
