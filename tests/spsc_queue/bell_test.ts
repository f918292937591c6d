// limit: 1800 s
// it explores
// The queue as native programs have it, with a bell beside each index, in the
// race scenarios: compiled to WebAssembly, so that its accesses are all in one
// order. bench/genmc shows that the weaker orders of native programs are
// enough.
import { all } from "../_run/depth.ts";
import { withFirstTrials } from "../_run/explore.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { mixed } from "../_run/mixed/cast.ts";
import {
  compile,
  compileMutants,
  type Mistaken,
  type Module,
} from "../_run/mixed/module.ts";
import { explore } from "../_run/mixed/explore.ts";
import { race } from "../../race/mod.ts";
import { headerFiles } from "../_run/header.ts";
import { type Edit, edited } from "../_run/edits.ts";
import { amalgamation } from "../../wasm/_amalgamation.ts";
import { weft } from "../_run/weft.ts";
import { FINDING, type Scenario } from "../_run/scenario.ts";
import { scenarios as selects } from "../select_blocking/scenarios.ts";
import { scenarios } from "./scenarios.ts";

const test = suite("SpscQueue with bells", 900_000);

const HEADER = "weft/_bell.h";

/** The scenarios of selects at queues with bells. */
const SELECTS = [
  "one comes, from one producer",
  "one comes to the first, from one producer",
  "who only looks, at what one producer sends",
  "room comes, for one producer",
  "one is closed by its producer",
  "one is closed, for who adds",
];

/** The text of the headers, with an edit. */
function textWith(edit?: Edit): string {
  const files = headerFiles();
  const bell = edited(HEADER, files[HEADER]!, edit ?? []);
  const text = amalgamation({
    ...files,
    [HEADER]: bell,
    "weft.h": '#include "weft/select_blocking.h"\n\n',
  });
  return `#define WEFT__SPSC_BELLS 1\n${text}`;
}

/** The scenarios, played by agents that enter this module. */
function scenariosWith(wasm: Module): Scenario[] {
  const inC = mixed(weft, wasm, ["wasm"]);
  const ofSelects = selects(inC).filter(({ name }) => SELECTS.includes(name));
  return [
    ...scenarios(inC).filter(({ notInC }) => notInC === undefined),
    ...ofSelects,
  ];
}

const right = await compile("bells", textWith()).then(
  scenariosWith,
  (error) => {
    if (error instanceof Missing) return [];
    throw error;
  },
);

for (const scenario of right) {
  test(scenario.name, async () => {
    const work = () => explore(scenario, { states: all() ? 20_000 : 2_000 });
    await (all() ? work() : withFirstTrials(work));
  });
}

/** Mistakes in `_bell.h`, and the scenario that finds each. */
const MUTANTS: readonly (readonly [what: string, by: string, Edit])[] = [
  [
    "steps and wakes nobody",
    "push, pop",
    "[-weft__bell_ring(bell); -]return 0;",
  ],
  [
    "moves and wakes nobody",
    "push, pop",
    "[-if (weft__hint(bell) != 0) weft__bell_ring(bell);-]{+(void)bell;+}",
  ],
  [
    "looks for sleepers before the step",
    "push, pop",
    "{+int32_t was = weft__hint(bell); +}weft__hand(index, to); " +
    "[-weft__light_if(known); /* Pairs with (W) and (C). */ if " +
    "(weft__hint(bell)-]{+if (was+} == 0) return 0;",
  ],
  [
    "clears a bell that says more than that",
    "closed while a push wakes the consumer",
    "if ([-weft__compare_exchange(bell, " +
    "WEFT__BELL_WAITING-]{+weft__exchange(bell+}, 0) == " +
    "WEFT__BELL_WAITING) {",
  ],
  [
    "does not look again after it asked for a wake",
    "push, pop",
    "[-if (weft__load(index) != idle) return " +
    "WEFT__NOT_EQUAL;-]{+(void)index;+}",
  ],
  [
    "does not look whether it is closed after it asked for a wake",
    "closed when full",
    "[-if (weft__load(-]{+(void)+}closing[-) & WEFT__BELL_CLOSED) return " +
    "WEFT__NOT_EQUAL-];",
  ],
  [
    "asks for a wake by a store",
    "the producer closes",
    "[-if (weft__compare_exchange(bell, 0, -]{+weft__store(bell, " +
    "+}WEFT__BELL_WAITING)[- & WEFT__BELL_CLOSED) return WEFT__NOT_EQUAL-];",
  ],
  [
    "steps although it is closed",
    "closed when full",
    "[-if (weft__bell_closed(bell)) return EPIPE;-]",
  ],
  [
    "does not notice that it was closed while it stepped",
    "closed while a push wakes the consumer",
    "[-if (weft__bell_seal(bell, to) == to) -]return 0;",
  ],
  [
    "counts no step that meets a close",
    "closed while a push wakes the consumer",
    "[-if (weft__bell_seal(bell, to) == to) return 0;-]",
  ],
  [
    "finds the end, and does not say so",
    "closed while a push wakes the consumer",
    "return last[- == own ? weft__bell_seal(bell, own) : last-];",
  ],
  [
    "closes and wakes nobody",
    "the producer closes",
    "[-if (was == 0) return; weft__notify(bell, WEFT__ALL);-]{+return;+}",
  ],
  [
    "closes and leaves the other side asleep",
    "closed when full",
    "[-if (-]weft__exchange(bell, 0)[- == 0)-]{+;+} return;",
  ],
  [
    "a ring does not strike the gong",
    "one comes, from one producer",
    "weft__notify(bell, 1);[- weft__strike(bell + 1);-]",
  ],
  [
    "a ring for room does not strike the gong",
    "room comes, for one producer",
    "weft__notify(bell, 1);[- weft__strike(bell + 1);-]",
  ],
  [
    "close does not strike the gong",
    "one is closed by its producer",
    "weft__notify(bell, WEFT__ALL); [-weft__strike(bell + 1); -]return;",
  ],
  [
    "close does not strike the gong of who pushes",
    "one is closed, for who adds",
    "return; weft__notify(bell, WEFT__ALL); [-weft__strike(bell + 1); -]}",
  ],
];

if (right.length > 0) {
  const moduleOf = compileMutants(
    new Map(MUTANTS.map(([what, , edit]): [string, Mistaken] => {
      const name = `bells_${what.replace(/\W+/g, "_")}`;
      return [what, { stem: "bells", name, text: textWith(edit) }];
    })),
    () => textWith(),
  );
  for (const [what, by] of MUTANTS) {
    test(`mutant: ${what}`, async () => {
      const all = scenariosWith(await moduleOf(what));
      const likely = all.filter(({ name }) => name === by);
      for (const { spec, agents, options } of likely.concat(all)) {
        const most = { ...FINDING, ...options, states: 20_000, runs: 0 };
        const { failure } = await race.check(spec, ...agents, most);
        if (failure !== undefined) return;
      }
      throw new Error("It survives");
    });
  }
}
