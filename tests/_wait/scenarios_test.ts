import { exploreAll } from "../_run/explore.ts";
import { wait } from "./scenarios.ts";

exploreAll("Waiting", wait);
