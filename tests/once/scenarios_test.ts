import { exploreAll } from "../_run/explore.ts";
import { once } from "./scenarios.ts";

exploreAll("Once", once);
