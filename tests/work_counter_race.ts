import { exploreAll } from "./explore.ts";
import { work_counter } from "./scenarios/work_counter.ts";

exploreAll("WorkCounter", work_counter);
