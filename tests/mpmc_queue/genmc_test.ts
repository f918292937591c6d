// limit: 1200 s
import { testOrders } from "../_run/genmc.ts";

testOrders("MpmcQueue", "mpmc_queue", {
  "-DPOP_WAITS": ["-DNO_LIGHT", "-DNO_RELEASE", "-DNO_LOAD", "-DNO_EXCHANGE"],
  "-DPUSH_WAITS": ["-DNO_LIGHT", "-DNO_RELEASE", "-DNO_LOAD"],
  "-DBOTH_PUSH": ["-DNO_HINT"],
  "-DBOTH_POP": ["-DNO_HINT", "-DNO_RELEASE"],
});
