import { exploreAll } from "../_run/explore.ts";
import { broadcast } from "./scenarios.ts";

exploreAll("Broadcast", broadcast);
