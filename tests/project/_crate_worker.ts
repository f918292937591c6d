// A thread of a module that is made of the crate: it runs the example.
import { hello } from "../_run/workers.ts";
import { type Agent, enter } from "../_twin/bare.ts";

const { data: agent, post } = await hello<Agent>();
post(enter(agent).run!());
