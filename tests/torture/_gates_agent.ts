/** An agent of the storm on gates, in a thread of its own. */
import { hello } from "../_run/workers.ts";
import { Loop, type Orders } from "./_gates_loops.ts";

const { data, post } = await hello<Orders>();
try {
  post(await new Loop(data).run());
} catch (error) {
  post(`${(error as Error).stack}`);
}
