import { exploreAll } from "./explore.ts";
import { slab_pool } from "./scenarios/slab_pool.ts";

exploreAll("SlabPool", slab_pool);
