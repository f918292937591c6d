// limit: 600 s
import { testOrders } from "../_run/genmc.ts";

const ALL = ["-DNO_LOAD", "-DNO_EXCHANGE"];

testOrders("WaitGroup", "latch", {
  "-DGROUP -DWAITS": [...ALL, "-DNO_HINT"],
  "-DGROUP -DTWO_WAIT": ALL,
});
