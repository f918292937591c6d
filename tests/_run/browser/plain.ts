// A page that is not isolated. By default such a page has no shared memory.
import { runHere, say } from "./page.ts";

await runHere("page, not isolated", () => import("./plain_suite.ts"));
await say({ end: true });
