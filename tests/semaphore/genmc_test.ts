// limit: 1200 s
import { testOrders } from "../_run/genmc.ts";

const ALL = ["-DNO_EXCHANGE", "-DNO_HINT"];

testOrders("Semaphore", "semaphore", {
  "-DLOCKS": ALL,
  "-DGIVES": ALL,
  "-DSEVERAL": ALL,
  "-DCLAIMS": ALL,
  "-DLOCKS -DTRACKED": ALL,
});
