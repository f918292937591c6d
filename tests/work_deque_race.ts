import { exploreAll } from "./explore.ts";
import { work_deque } from "./scenarios/work_deque.ts";

exploreAll("WorkDeque", work_deque);
