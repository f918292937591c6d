// limit: 1200 s
import { testOrders } from "../_run/genmc.ts";

const BOTH = ["-DNO_LIGHT", "-DNO_RELEASE", "-DNO_ACQUIRE", "-DNO_HINT"];

testOrders("SpscQueue", "spsc_queue", {
  "-DPOP_WAITS": BOTH,
  "-DPUSH_WAITS": BOTH,
  "-DCLOSES": [...BOTH, "-DNO_EXCHANGE"],
});
