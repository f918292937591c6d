/** A sender or receiver of the storm on channels, in a thread of its own. */
import { agentId } from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { Loop, type Orders } from "./_channel_loops.ts";

const { data, post } = await hello<Orders>();
const loop = new Loop(data);
post(agentId());
try {
  post(await loop.run());
} catch (error) {
  post(`${(error as Error).stack}`);
}
