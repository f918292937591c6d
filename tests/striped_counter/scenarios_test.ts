import { exploreAll } from "../_run/explore.ts";
import { striped_counter } from "./scenarios.ts";

exploreAll("StripedCounter", striped_counter);
