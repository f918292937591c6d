import { exploreAll } from "../_run/explore.ts";
import { work_deque } from "./scenarios.ts";

exploreAll("WorkDeque", work_deque);
