import { exploreAll } from "./explore.ts";
import { broadcast } from "./scenarios/broadcast.ts";

exploreAll("Broadcast", broadcast);
