// limit: 300 s
// The race scenarios of the classes, played by agents that use the kernel. The
// race tester explores the embedded modules themselves, step by step.
import { Buffer } from "node:buffer";
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import type { Wasm } from "../../race/mod.ts";
import { getHost } from "../../race/engine/views.ts";
import * as kernel from "../../primitives/_kernel.ts";
import * as TEXT from "../../primitives/_kernel_text.ts";
import * as spin from "../../primitives/_spin.ts";
import * as turn from "../../primitives/_turn.ts";
import { explore } from "../_run/mixed/explore.ts";
import { suite } from "../_run/harness.ts";
import { Sources, withOthers } from "../_run/realm.ts";
import { type Modules, scenariosIn, type Weft } from "../_run/scenario.ts";
import * as mod from "./mod.ts";

const test = suite("kernel, every interleaving", 60_000);

/** How far each scenario is explored. */
const MOST = { states: 3_000, time: 10_000 };
/** How many scenarios of each folder. */
const SCENARIOS = 4;

const FOLDERS = [
  "mutex",
  "rw_lock",
  "semaphore",
  "event",
  "latch",
  "spsc_queue",
  "mpmc_queue",
  "lock_free_queue",
  "record_ring",
  "work_counter",
  "work_deque",
  "slab_pool",
];

type KernelModules = Modules & { kernel: typeof kernel };

const { realm } = await Sources.of<KernelModules>({
  mod: new URL("./mod.ts", import.meta.url),
  spin: new URL("../../primitives/_spin.ts", import.meta.url),
  turn: new URL("../../primitives/_turn.ts", import.meta.url),
  kernel: new URL("../../primitives/_kernel.ts", import.meta.url),
});

const texts: Readonly<Record<string, string>> = TEXT;
const modules = new Map<string, Wasm>();
/** How many functions of a stem were given to agents. */
const given = new Map<string, number>();

function moduleOf(stem: string): Wasm {
  let module = modules.get(stem);
  if (module === undefined) {
    const bytes = new Uint8Array(
      Buffer.from(texts[stem.toUpperCase()]!, "base64"),
    );
    modules.set(stem, module = race.wasm(bytes));
  }
  return module;
}

/** Makes the objects of these modules run in the kernel, step by step. */
function inKernel<Its extends KernelModules>(its: Its): Its {
  let agent = 0;
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
}

const weft: Weft = {
  ...inKernel({ mod: mod as unknown as Modules["mod"], spin, turn, kernel }),
  realm: () => inKernel(realm()),
};

for (const folder of FOLDERS) {
  const scenarios = (await scenariosIn(folder))(weft)
    .filter(({ deep }) => !deep).slice(0, SCENARIOS);
  for (const scenario of scenarios) {
    test(`${folder}: ${scenario.name}`, async () => {
      await explore(scenario, MOST);
    });
  }
  test(`${folder}: agents ran in its module`, () => {
    assert.ok((given.get(folder) ?? 0) > 0);
  });
}
