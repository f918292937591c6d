import { medianCall } from "./_rivals.ts";
import { peer } from "./peers.ts";

const url = new URL("worker.js", peer("coincident")!);
const { default: coincident } = await import(url.href);
const { proxy } = await coincident();
proxy.turn = () => medianCall(proxy.add);
proxy.ready();
