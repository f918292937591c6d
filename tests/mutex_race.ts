import { exploreAll } from "./explore.ts";
import { mutex } from "./scenarios/mutex.ts";

exploreAll("Mutex", mutex);
