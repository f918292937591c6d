import { exploreAll } from "../_run/explore.ts";
import { semaphore } from "./scenarios.ts";

exploreAll("Semaphore", semaphore);
