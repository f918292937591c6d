/** An agent of the storm on a shop, in a thread of its own. */
import { agentId, serve } from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { BY, type Job, type Orders, Shop } from "./_shop_loops.ts";

const { data, post } = await hello<Orders>();
const { serves, blocks, limit } = data;
const shop = new Shop(data);
const { jobs, results, ring } = shop.views;

function takeBlocking(): void {
  try {
    for (;;) results.send(shop.block(jobs.receive()));
  } catch (error) {
    if ((error as Error).name !== "ClosedError") throw error;
  }
}

async function take(): Promise<void> {
  for await (const job of jobs) await results.sendAsync(await shop.wait(job));
}

async function work(): Promise<void> {
  if (serves && blocks) {
    serve.blocking(ring, { job: (job: Job) => shop.block(job) }, BY);
  } else if (serves) {
    const job = (job: Job, signal?: AbortSignal) => shop.wait(job, signal);
    await serve(ring, { job }, { ...BY, limit });
  } else if (blocks) takeBlocking();
  else await Promise.all(Array.from({ length: limit }, take));
}

try {
  const end = serves ? undefined : jobs.receiver();
  post(agentId()); // it is counted now
  await work();
  end?.leave();
  post("over");
} catch (error) {
  post(`${(error as Error).stack}`);
}
