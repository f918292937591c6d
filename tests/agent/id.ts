// Says which id this agent has.
import { agentId } from "../../primitives/agent.ts";
import { hello } from "../_run/workers.ts";

const self = await hello();
self.post(agentId());
