// The same scenario of the header and of TypeScript has as many states: they
// do the same, step by step. Where not, it is said here why.
import * as k from "../../../race/engine/kinds.ts";
import { race } from "../../../race/mod.ts";
import { Engine } from "../../../race/engine/replay.ts";
import { thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import { scenariosOf } from "../mixed/explore.ts";
import type { Scenario } from "../scenario.ts";

const folder = thisFolder();
const test = suite(`${folder}, C as TypeScript, step by step`);

const TRIES_AGAIN = "TypeScript tries once more before it sleeps: its slow " +
  "path is that of the async form, too";
const REMEMBERS =
  "a view in TypeScript remembers what it reserved, or peeked " +
  "at, which C loads";

/** Where one side takes steps that the other does not, and in what. */
const WHY: readonly (readonly [
  stem: string,
  why: string,
  ...scenarios: string[],
])[] = [
  [
    "mutex",
    "a try with a timeout loads the state after its attempt in TypeScript; in " +
    "C the attempt says what the state was",
    "a timeout",
    "timeouts at any time",
  ],
  [
    "rw_lock",
    "a reader that is let in loads the state once more in TypeScript, to see " +
    "whether a writer was abandoned",
    "one writes, one reads",
    "a writer that gives up",
    "a try beside a reader",
    "a reader that looks before it sleeps",
    "one who wrote is given up",
  ],
  [
    "semaphore",
    TRIES_AGAIN,
    "one permit, two agents",
    "a timeout at any time, with patience",
    "a claim that times out serves another",
    "tryAcquire, acquire",
    "a timeout at any time",
  ],
  [
    "once",
    "C looks whether it is done before it tries to be the one; a view in " +
    "TypeScript remembers that it was",
    "two agents",
    "a wait that may time out, and a look at what it waited for",
    "two agents that look before they sleep",
    "an agent is terminated",
  ],
  [
    "spsc_queue",
    "where it finds no room in place, TypeScript looks whether it is closed",
    "in place",
  ],
  [
    "spsc_queue",
    TRIES_AGAIN,
    "pop times out at any time",
    "the producer closes",
    "closed when full",
    "spurious wakes",
  ],
  ["mpmc_queue", REMEMBERS, "in place"],
  [
    "mpmc_queue",
    TRIES_AGAIN,
    "push, pop",
    "pop times out at any time",
    "push times out at any time",
    "close wakes a consumer",
    "close wakes a producer",
    "an array wakes a consumer",
    "an array wakes a producer",
    "in place wakes a consumer",
    "in place wakes a producer",
    "two time out",
  ],
  [
    "lock_free_queue",
    TRIES_AGAIN,
    "one sleeps until an element comes",
    "one sleeps until there is room",
  ],
  [
    "record_ring",
    REMEMBERS,
    "a producer terminated at any step",
    "one finds no room",
    "one reserves while another is abandoned",
    "one producer commits less than it reserved",
  ],
  [
    "record_ring",
    TRIES_AGAIN,
    "two producers, room for both",
    "a producer and the end, and what is left then",
    "one sleeps until another closes",
    "a producer and the end",
    "one finds no room, and the end",
    "one waits for room until another closes",
    "one waits for room where a record is skipped",
    "one sleeps behind what is abandoned",
    "one waits for a claim that is abandoned",
  ],
  [
    "broadcast",
    "a subscription in TypeScript loads whose its seat is, and where it " +
    "stands, when it is made, and remembers the tail",
    "a subscriber comes and goes, and loses",
    "a subscriber comes between two pushes, and stays",
    "all is seen, by one with a seat, until the end",
    "what is lost is counted, in arrays",
    "one sleeps until another pushes",
    "the producer waits for one that sees",
    "the producer waits until another closes",
    "one sleeps until another closes",
    "the producer waits for one that leaves",
    "the producer waits for one that is abandoned",
    "leaves where it was abandoned, and another sits",
    "a subscriber comes, and looks until the end",
    "two take seats",
  ],
  [
    "channel",
    "TypeScript reads a record's length once more when it takes it",
    "a sender terminated at any step",
  ],
  [
    "channel",
    "TypeScript reads a number byte by byte; C writes a message's padding first",
    "numbers, the end before one sends, or after",
  ],
  [
    "channel",
    "a number is copied word by word in TypeScript, and at once in C",
    "numbers, the end before one sends, or after",
  ],
  [
    "call_ring",
    TRIES_AGAIN,
    "one sleeps for a slot until the end",
    "a server is abandoned",
  ],
  [
    "call_ring",
    "where servers look first is a word of the ring in C, and in TypeScript " +
    "each view's own",
    "a call that is given up",
    "a server sleeps until the end",
    "a call and the end",
    "a server is abandoned",
  ],
  [
    "work_deque",
    "C loads top at each push, where TypeScript remembers one",
    "push and pop beside two thieves",
    "two items, popped and stolen",
  ],
  [
    "striped_counter",
    "a view in TypeScript knows how many stripes there are",
    "the claims wrap",
  ],
];

/**
 * C knows no hints: what TypeScript reads plainly, where an exchange checks it,
 * is an atomic load in wasm. Here it is in TypeScript, too.
 */
let isHint: ((address: number) => boolean) | null = null;
const { operate } = Engine.prototype;
Engine.prototype.operate = function (kind, target, index, a, b, timeout) {
  const hint = kind === k.READ && target !== null && isHint !== null &&
    isHint(target.base + index * target.size);
  return operate.call(this, hint ? k.LOAD : kind, target, index, a, b, timeout);
};

/** How many states there are; nothing if they are too many. */
function statesOf({ spec, agents, options }: Scenario): number | undefined {
  const { hints: _, ...definition } = spec.definition;
  isHint = spec.scenario.hints;
  try {
    const result = race.check(race.spec(definition), ...agents, {
      ...options,
      states: 6_000,
      races: false,
      runs: 0,
    });
    if (result instanceof Promise) throw new Error("it awaits");
    if (result.failure !== undefined) throw new Error(result.failure.message);
    return result.complete ? result.states : undefined;
  } finally {
    isHint = null;
  }
}

test(`scenarios of ${folder} have as many states in C`, async () => {
  const theirs = await scenariosOf("C+C", folder);
  const excused = new Map(
    WHY.filter(([of]) => of === folder).flatMap(([, why, ...scenarios]) =>
      scenarios.map((name) => [name, why])
    ),
  );
  const wrong: string[] = [];
  let compared = 0;
  (await scenariosOf("JS+JS", folder)).forEach((scenario, i) => {
    if (scenario.sampled) return;
    const { name } = scenario;
    const here = statesOf(scenario);
    const there = statesOf(theirs[i]!);
    if (here === undefined || there === undefined) return;
    compared++;
    const why = excused.get(name);
    excused.delete(name);
    if (here !== there && why === undefined) {
      wrong.push(`${name}: TypeScript ${here}, C ${there}`);
    } else if (here === there && why !== undefined) {
      wrong.push(`${name}: no difference that "${why}" would explain`);
    }
  });
  if (compared === 0) wrong.push("no scenario was compared");
  for (const name of excused.keys()) wrong.push(`${name}: not compared`);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
});
