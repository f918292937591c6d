import { exploreAll } from "./explore.ts";
import { semaphore } from "./scenarios/semaphore.ts";

exploreAll("Semaphore", semaphore);
