import { exploreAll } from "./explore.ts";
import { once } from "./scenarios/once.ts";

exploreAll("Once", once);
