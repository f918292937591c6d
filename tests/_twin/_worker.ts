// A thread of JavaScript: plays the parts it is sent, one after the other.
import { hello } from "../_run/workers.ts";
import { type How, play } from "./roles.ts";

const { data: memory, post, next } = await hello<WebAssembly.Memory>();
for (;;) {
  const { place, how } = await next<{ place: number; how: How }>();
  try {
    await play(memory, place, how);
    post("");
  } catch (error) {
    post(`${error instanceof Error ? error.stack : error}`);
  }
}
