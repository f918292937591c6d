/**
 * The hashes of an agent's state.
 *
 * @module
 */
import type { Snapshot } from "./agent.ts";
import { signature } from "./operation.ts";
import { bits, mix1, mix2 } from "../values.ts";

/** Makes hashes of everything an agent's future depends on. */
export function hashAgent(agent: Snapshot): void {
  const place = agent.status | agent.oi << 4;
  let a = mix1(agent.h1, place);
  let b = mix2(agent.h2, place);
  for (const { promise, value } of agent.inbox) {
    a = mix1(a, promise + 7);
    b = mix2(b, promise + bits(value));
  }
  for (const port of agent.open) {
    a = mix1(a, port + 3);
    b = mix2(b, port + 3);
  }
  for (const { id, due } of agent.timers) {
    a = mix1(mix1(a, id), bits(due));
    b = mix2(mix2(b, id), bits(due));
  }
  if (agent.deadline !== Infinity) {
    a = mix1(a, bits(agent.deadline));
    b = mix2(b, bits(agent.deadline));
  }
  for (const { kind, address, size } of agent.plain) {
    a = mix1(a, signature(kind, address) + (size << 24));
    b = mix2(b, signature(kind, address) + (size << 24));
  }
  agent.key1 = a;
  agent.key2 = b;
  a = b = 17;
  for (const result of agent.results) {
    const value = bits(result);
    a = mix1(a, value);
    b = mix2(b, value);
  }
  agent.results1 = a;
  agent.results2 = b;
  agent.hashed = true;
}
