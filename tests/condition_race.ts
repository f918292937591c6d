import { exploreAll } from "./explore.ts";
import { condition } from "./scenarios/condition.ts";

exploreAll("Condition", condition);
