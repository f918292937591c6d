// limit: 900 s
import { testOrders } from "../_run/genmc.ts";

testOrders("MpmcQueue", "mpmc_queue", {
  roles: ["-DPOP_WAITS", "-DPUSH_WAITS"],
  mistakes: ["-DNO_LIGHT", "-DNO_RELEASE"],
});
