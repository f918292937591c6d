// limit: 240 s
import { exploreAll } from "./explore.ts";
import { select } from "./scenarios/select.ts";

exploreAll("waitAny", select);
