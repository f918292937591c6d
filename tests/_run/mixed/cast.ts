/**
 * The library with some of its agents compiled from C: scenarios are played by
 * a cast of both.
 *
 * @module
 */
import type { WasmExports } from "../../../race/mod.ts";
import { getHost } from "../../../race/engine/platform/views.ts";
import type { Modules, Weft } from "../scenario.ts";
import { withOthers } from "../realm.ts";
import type { Module } from "./module.ts";
import { type Agent, Twin } from "./twin.ts";
import { functions, twins } from "./twins.ts";

/** Who plays: each agent's language, over and over. */
export type Cast = readonly ("js" | "wasm")[];

/** The casts there are, by name. */
export const CASTS: Readonly<Record<string, Cast>> = {
  "JS+JS": ["js"],
  "C+C": ["wasm"],
  "JS+C": ["js", "wasm"],
  "C+JS": ["wasm", "js"],
};

/** Agents of a scenario have identities up to this; others are of the dead. */
const LIVING = 16;

/** Where an arm that adds a value adds it; other arguments are themselves. */
const placeOf = (arg: unknown): unknown =>
  (arg as { sink?: unknown } | undefined)?.sink ?? arg;

/** `weft`, where agents that are C meet twins of its classes. */
export function mixed(weft: Weft, wasm: Module, cast: Cast): Weft {
  let agent = 0;
  /** Its identity, or that of one who is no more, whose part it plays. */
  let id = 1;
  const entered = new Map<number, Agent>();
  /** The agent whose handle is being made, if it is C. */
  const current = (
    { mod, spin }: Modules,
    memory: SharedArrayBuffer,
  ): Agent | undefined => {
    if (!getHost()?.running || cast[agent % cast.length] !== "wasm") {
      return undefined;
    }
    let known = entered.get(id);
    if (known === undefined) {
      const part = id > LIVING ? LIVING : 0;
      const c: WasmExports = wasm.enter(memory, part + agent);
      const { ClosedError, CallError, DamagedError } = mod;
      const { spinning } = spin;
      const errors = { ClosedError, CallError, DamagedError };
      known = { c, base: wasm.at, spinning, ...errors };
      // A header that knows no agents, such as that of Snapshot, has no ids.
      c.weft_agent_set_id?.(id);
      entered.set(id, known);
    }
    return known;
  };
  /** The modules with twins in them. */
  const withTwins = (modules: Modules): Modules => {
    const { mod } = modules;
    const others: Record<string, unknown> = {
      setAgentId(next: number) {
        mod.setAgentId(next);
        id = next;
        if (id <= LIVING) agent = id - 1;
        entered.delete(id);
      },
    };
    const twinOf = (name: string) => {
      const InC = twins[name];
      if (InC === undefined) return undefined;
      const Real = (mod as unknown as Record<string, new () => object>)[name]!;
      return new Proxy(Real, {
        construct(target, args) {
          const [buffer, ...more] = args as [SharedArrayBuffer, number];
          const agent = current(modules, buffer);
          return agent === undefined
            ? Reflect.construct(target, args)
            : Reflect.construct(InC, [agent, buffer, ...more]);
        },
      });
    };
    const functionOf = (name: string) => {
      type Any = (...args: unknown[]) => unknown;
      const ofC = functions[name] as Any | undefined;
      if (ofC === undefined) return undefined;
      const either = (real: Any): Any => (...args) => {
        const twin = args.flat().map(placeOf)
          .find((arg) => arg instanceof Twin);
        return twin === undefined ? real(...args) : ofC(twin, ...args);
      };
      const real = (mod as unknown as Record<string, Any>)[name]!;
      const { blocking } = real as { blocking?: Any };
      const both = either(real);
      return blocking === undefined
        ? both
        : Object.assign(both, { blocking: either(blocking) });
    };
    const replaced = withOthers(
      mod,
      (name) => others[name] ??= twinOf(name) ?? functionOf(name),
    );
    return { ...modules, mod: replaced };
  };
  return {
    ...withTwins(weft),
    realm: () => withTwins(weft.realm()),
    renewed: (agent) => withTwins(weft.renewed(agent)),
  };
}
