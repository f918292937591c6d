// Says which id this agent has.
import { agentId } from "../../mod.ts";
import { hello } from "../_run/workers.ts";

const self = await hello();
self.post(agentId());
