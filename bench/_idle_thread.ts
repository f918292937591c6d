// A thread of `_idle_process.ts`: it sleeps in the kind of wait it is told.
import type { Handle } from "../mod.ts";
import { hello } from "../tests/_run/workers.ts";
import { WAITS } from "./_idle.ts";

const { data, post } = await hello<
  { kind: string; handles: Record<string, Handle<never>> }
>();
post("about to sleep");
await WAITS[data.kind]!(data.handles);
post("woken");
