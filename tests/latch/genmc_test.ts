// limit: 600 s
import { testOrders } from "../_run/genmc.ts";

const ALL = ["-DNO_LOAD", "-DNO_EXCHANGE"];

testOrders("Latch", "latch", {
  "-DWAITS": [...ALL, "-DNO_HINT"],
  "-DTWO_WAIT": ALL,
});
