// limit: 240 s
import { exploreAll } from "../_run/explore.ts";
import { wait_any } from "./scenarios.ts";

exploreAll("waitAny", wait_any);
