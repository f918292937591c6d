// limit: 900 s
import { testOrders } from "../_run/genmc.ts";

const ALL = ["-DNO_EXCHANGE", "-DNO_STORE"];

testOrders("Mutex", "mutex", {
  "-DLOCKS": ALL,
  "-DSTARVES": ALL,
  "-DGIVES_UP": ALL,
  "-DTRIES": ALL,
});
