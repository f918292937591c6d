import { exploreAll } from "../_run/explore.ts";
import { event } from "./scenarios.ts";

exploreAll("Event", event);
