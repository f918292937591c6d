import { exploreAll } from "../_run/explore.ts";
import { channel } from "./scenarios.ts";

exploreAll("Channel", channel);
