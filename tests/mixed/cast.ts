/**
 * The library with some of its agents compiled from C: scenarios are played by
 * a cast of both.
 *
 * @module
 */
import type { Wasm, WasmExports } from "../../race/mod.ts";
import { getHost } from "../../race/views.ts";
import type { Modules, Weft } from "../scenarios/_scenario.ts";
import { type Agent, twins } from "./twins.ts";

/** Who plays: each agent's language, over and over. */
export type Cast = readonly ("js" | "wasm")[];

/** The casts there are, by name. */
export const CASTS: Readonly<Record<string, Cast>> = {
  "JS+JS": ["js"],
  "C+C": ["wasm"],
  "JS+C": ["js", "wasm"],
  "C+JS": ["wasm", "js"],
};

/** `weft`, where agents that are C meet twins of its classes. */
export function mixed(weft: Weft, wasm: Wasm, cast: Cast): Weft {
  const { mod, spin } = weft;
  let agent = 0;
  const entered = new Map<number, Agent>();
  /** The agent whose handle is being made, if it is C. */
  const current = (memory: SharedArrayBuffer): Agent | undefined => {
    if (!getHost()?.running || cast[agent % cast.length] !== "wasm") {
      return undefined;
    }
    let known = entered.get(agent);
    if (known === undefined) {
      const c: WasmExports = wasm.enter(memory, agent);
      const { ClosedError } = mod as unknown as Agent;
      known = { c, base: wasm.at, spinning: spin.spinning, ClosedError };
      c.weft_agent_set_id!(agent + 1);
      entered.set(agent, known);
    }
    return known;
  };
  const replaced: Record<string, unknown> = {
    ...mod,
    setAgentId(id: number) {
      mod.setAgentId(id);
      agent = id - 1;
      entered.delete(agent);
    },
  };
  for (const [name, Twin] of Object.entries(twins)) {
    const Real = (mod as unknown as Record<string, new () => object>)[name]!;
    replaced[name] = new Proxy(Real, {
      construct(target, args) {
        const [buffer, byteOffset] = args as [SharedArrayBuffer, number];
        const agent = current(buffer);
        return agent === undefined
          ? Reflect.construct(target, args)
          : new Twin(agent, buffer, byteOffset);
      },
    });
  }
  const modules = { mod: replaced, spin } as unknown as Modules;
  return { ...modules, realm: () => modules };
}
