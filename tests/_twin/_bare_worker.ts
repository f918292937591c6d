// A thread of a bare module: plays the parts it is sent, one after the other.
import { hello } from "../_run/workers.ts";
import { type Agent, enter } from "./bare.ts";

const { data: agent, post, next } = await hello<Agent>();
const c = enter(agent);
for (;;) {
  c.play_part!(await next<number>());
  post("");
}
