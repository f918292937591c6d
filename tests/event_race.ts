import { exploreAll } from "./explore.ts";
import { event } from "./scenarios/event.ts";

exploreAll("Event", event);
