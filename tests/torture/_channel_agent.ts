/** A sender or receiver of the storm on channels, in a thread of its own. */
import { agentId } from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { channelOf, Loop, type Orders } from "./_channel_loops.ts";
import { guestChannel, GuestThread } from "./_guest.ts";

const { data, post } = await hello<Orders>();
const { guest, codec } = data;
const own = channelOf(data);
const channel = guest === undefined
  ? own
  : guestChannel(new GuestThread(guest), codec, own);
const loop = new Loop(data, undefined, channel);
post(agentId());
try {
  post(await loop.run());
} catch (error) {
  post(`${(error as Error).stack}`);
}
