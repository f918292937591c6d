import { exploreAll } from "../_run/explore.ts";
import { slab_pool } from "./scenarios.ts";

exploreAll("SlabPool", slab_pool);
