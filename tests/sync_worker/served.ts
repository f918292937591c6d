// The same module, served by a worker that a function makes.
import { serveSync } from "../../primitives/sync_worker.ts";
import * as api from "./worker.ts";

// A bundler makes getters of them: a copy has the functions themselves.
await serveSync({ ...api });
