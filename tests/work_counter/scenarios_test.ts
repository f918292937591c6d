import { exploreAll } from "../_run/explore.ts";
import { work_counter } from "./scenarios.ts";

exploreAll("WorkCounter", work_counter);
