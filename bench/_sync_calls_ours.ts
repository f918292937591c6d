import { serveSync } from "../primitives/sync_worker.ts";
import { api } from "./_sync_calls.ts";

await serveSync(api);
