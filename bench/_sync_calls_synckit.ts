import { api } from "./_sync_calls.ts";
import { peer } from "./peers.ts";

const { runAsWorker } = await import(peer("synckit")!.href);
runAsWorker((name: "echo", ...args: [unknown]) => api[name](...args));
