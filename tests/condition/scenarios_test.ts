import { exploreAll } from "../_run/explore.ts";
import { condition } from "./scenarios.ts";

exploreAll("Condition", condition);
