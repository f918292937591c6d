import { exploreAll } from "./explore.ts";
import { counter } from "./scenarios/counter.ts";

exploreAll("StripedCounter", counter);
