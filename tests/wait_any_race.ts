// limit: 240 s
import { exploreAll } from "./explore.ts";
import { wait_any } from "./scenarios/wait_any.ts";

exploreAll("waitAny", wait_any);
