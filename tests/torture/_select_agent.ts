/** A sender or receiver of the storm on select, in a thread of its own. */
import { agentId } from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { Loop, type Orders } from "./_select_loops.ts";

const { data, post } = await hello<Orders>();
try {
  const loop = new Loop(data);
  post(agentId()); // it is counted now
  post(await loop.run());
} catch (error) {
  post(`${(error as Error).stack}`);
}
