/** A caller of the storm on calls, in a thread of its own. */
import { agentId, CallRing } from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { collectGarbage } from "./_storm.ts";
import { Talker, type TalkOrders } from "./_calls_talks.ts";

const { data, post, next } = await hello<TalkOrders>();
const talker = new Talker(data, CallRing.from(data.ring));
post(agentId());
try {
  post(await talker.run());
} catch (error) {
  post(`${(error as Error).stack}`);
}
// It is called back until the end, and releases what it has dropped.
setInterval(() => collectGarbage?.(), 20);
await next();
