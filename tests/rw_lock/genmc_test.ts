// limit: 1200 s
import { testOrders } from "../_run/genmc.ts";

const ALL = ["-DNO_EXCHANGE", "-DNO_ADD", "-DNO_HINT"];
const TRACKED = ["-DNO_STORE", "-DNO_STORE_LOAD", "-DNO_LOAD"];

testOrders("RwLock", "rw_lock", {
  "-DTRIES": ALL,
  "-DWAITS": [...ALL, "-DNO_LOAD"],
  "-DDOWNGRADES": ALL,
  "-DTRIES -DTRACKED": TRACKED,
  "-DWAITS -DTRACKED": TRACKED,
});
