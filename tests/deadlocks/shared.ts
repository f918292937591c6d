import { layout, Mutex } from "../../mod.ts";
import { AgentTable } from "../../primitives/tools/deadlocks.ts";

/** What all agents of `guest_test.ts` share. */
export const SHARED = layout({
  a: Mutex,
  b: Mutex,
  c: Mutex,
  agents: [AgentTable, { agents: 4 }],
});
