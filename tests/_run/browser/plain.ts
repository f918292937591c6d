// A page that is not isolated, as one has no shared memory by default.
import { runHere, say } from "./page.ts";

await runHere("page, not isolated", () => import("./plain_suite.ts"));
await say({ end: true });
