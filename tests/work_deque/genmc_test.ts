// limit: 600 s
import { testOrders } from "../_run/genmc.ts";

const ALL = ["-DNO_STORE", "-DNO_LOAD"];

testOrders("WorkDeque", "work_deque", {
  "-DSTEALS": [...ALL, "-DNO_STORE_LOAD", "-DNO_EXCHANGE"],
  "-DLAST": ALL,
  "-DLAPS": ALL,
});
