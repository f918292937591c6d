/**
 * The race scenarios of the classes, for agents that use the kernel: the race
 * tester runs the kernel's modules step by step.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { race, type Wasm } from "../../race/mod.ts";
import { getHost } from "../../race/engine/platform/views.ts";
import * as kernel from "../../primitives/kernel/_instance.ts";
import * as spin from "../../primitives/_wait/spin.ts";
import * as turn from "../../primitives/_wait/turn.ts";
import * as utf8 from "../../primitives/_message/utf8.ts";
import * as time from "../../primitives/_map/time.ts";
import * as waiter from "../../primitives/_wait/waiter.ts";
import * as calls from "../calls/slots.ts";
import * as pool from "../pool/parts.ts";
import { Sources, withOthers } from "../_run/realm.ts";
import {
  MODULES,
  type Modules,
  tellNothing,
  type Weft,
} from "../_run/scenario.ts";
import * as deadlocks from "../../primitives/tools/deadlocks.ts";
import * as explored from "../../primitives/_memory/explored.ts";
import * as mod from "./mod.ts";

type KernelModules = Modules & { kernel: typeof kernel };

const sources = await Sources.of<KernelModules>({
  ...MODULES,
  mod: new URL("./mod.ts", import.meta.url),
  kernel: new URL("../../primitives/kernel/_instance.ts", import.meta.url),
});

/** A source, and the text that is to stand in its place. */
export interface Edited {
  readonly file: URL;
  readonly text: string;
}

/** The library whose hot operations run in modules of the kernel. */
export interface Stage {
  readonly weft: Weft;
  /** How many times an agent got the functions of a stem. */
  readonly given: ReadonlyMap<string, number>;
}

/**
 * Makes the classes use the module that `bytesOf` gives for a stem. With
 * `edited`, the text of a source is another.
 */
export async function stageOf(
  bytesOf: (stem: string) => Uint8Array,
  edited?: Edited,
): Promise<Stage> {
  const modules = new Map<string, Wasm>();
  const given = new Map<string, number>();
  const moduleOf = (stem: string) => {
    let module = modules.get(stem);
    if (module === undefined) {
      const bytes = new Uint8Array(bytesOf(stem));
      modules.set(stem, module = race.wasm(bytes));
    }
    return module;
  };
  const inKernel = <Its extends KernelModules>(its: Its): Its => {
    let agent = 0;
    tellNothing(its);
    its.kernel.source.allocate = () => {
      throw new RangeError("the race tester simulates a SharedArrayBuffer");
    };
    its.kernel.source.find = (stem, _text, memory) => {
      if (!getHost()?.running) return undefined;
      const module = moduleOf(stem);
      const functions = module.enter(memory as SharedArrayBuffer, agent);
      given.set(stem, (given.get(stem) ?? 0) + 1);
      return { functions, base: module.at };
    };
    const setAgentId = (id: number) => {
      its.mod.setAgentId(id);
      agent = (id - 1) % 16;
    };
    const mod = withOthers(
      its.mod,
      (name) => name === "setAgentId" ? setAgentId : undefined,
    );
    return { ...its, mod };
  };
  const changed = edited === undefined
    ? sources
    : await sources.with(fileURLToPath(edited.file), edited.text);
  const its = edited === undefined
    ? {
      mod: mod as unknown as Modules["mod"],
      ...{ spin, waiter, utf8, turn, time, explored, pool, calls },
      ...{ kernel, deadlocks },
    }
    : changed.evaluated();
  return {
    weft: {
      ...inKernel(its),
      realm: () => inKernel(changed.realm()),
      renewed: () => inKernel(changed.realm()),
    },
    given,
  };
}
