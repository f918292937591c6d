import { CallRing, type Handle, serve } from "../mod.ts";
import { hello } from "../tests/_run/workers.ts";

const { data } = await hello<Handle<"call_ring">>();
serve.blocking(CallRing.from(data), { add: (a: number, b: number) => a + b });
