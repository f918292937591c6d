import { exploreAll } from "./explore.ts";
import { wait } from "./scenarios/wait.ts";

exploreAll("Waiting", wait);
