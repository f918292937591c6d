// limit: 900 s
import { testOrders } from "../_run/genmc.ts";

testOrders("SpscQueue", "spsc_queue", {
  roles: ["-DPOP_WAITS", "-DPUSH_WAITS", "-DCLOSES"],
  mistakes: ["-DNO_LIGHT", "-DNO_RELEASE", "-DNO_ACQUIRE"],
});
