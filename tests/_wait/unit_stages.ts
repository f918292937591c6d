// it waits
// Waits that end in each of their stages: aborted, or because their time is
// over.
import * as assert from "uvu/assert";
import * as mod from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { passed } from "../_run/model.ts";
import type { Limits, Row, Scene } from "./scene.ts";
import { ROWS } from "./stages.ts";

const test = suite("Stages of waits");

type Method = (...args: unknown[]) => Promise<unknown>;

/** The name of the form that waits for a limited time. */
const trying = (method: string): string =>
  `try${method[0]!.toUpperCase()}${method.slice(1)}`;

const REASON = new Error("enough");

/** How a wait may end. */
type End = "served" | "aborted" | "over" | "failed" | "asleep";

/** The errors of waits that others end. */
const FAILURES = ["ClosedError", "CallError", "TypeError"];

/** A wait that has begun. */
class Began {
  readonly #isTry: boolean;
  #how: End = "asleep";
  #got: unknown;

  constructor(readonly scene: Scene, method: string, limits: Limits) {
    const { on, begin, with: args = [] } = scene;
    this.#isTry = method.startsWith("try") || method === "waitAny";
    const methods = on as Record<string, Method>;
    const wait = begin?.(limits) ?? methods[method]!(...args, limits);
    wait.then((got) => this.#served(got), (error) => this.#failed(error));
  }

  #served(got: unknown): void {
    const isOver = this.#isTry && (got === undefined || got === false);
    this.#how = isOver ? "over" : "served";
    this.#got = got;
  }

  #failed(error: unknown): void {
    const { name } = error as Error;
    if (error === REASON) this.#how = "aborted";
    else if (name === "TimeoutError") this.#how = "over";
    else if (FAILURES.includes(name)) this.#how = "failed";
    else throw error;
  }

  /** How it has ended, if it does so soon. */
  async ended(): Promise<End> {
    for (let i = 0; this.#how === "asleep" && i < 400; i++) {
      await passed(i < 20 ? 0 : 5);
    }
    return this.#how;
  }

  /** Gives back what it got. Returns what is wrong with the primitive. */
  check(): unknown {
    if (this.#how === "served") this.scene.release?.(this.#got);
    return this.scene.check?.();
  }
}

/** The timeout of waits that have one, in ms. */
const TIMEOUT = 4;
/** The number of microtasks behind a step after which no stage begins. */
const MICROTASKS = 5;

/** How a wait ends that is not given up. */
const ENDED: readonly End[] = ["served", "failed"];

/** Tries all stages side by side. */
async function inEachStage(
  count: number,
  attempt: (stage: number) => Promise<void>,
): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, i) => attempt(i)));
}

function begin(row: Row, method: string, { signal }: AbortController): Began {
  return new Began(row.scene(method), method, { signal });
}

/** Passes `ms` in which the event loop stands still. */
function stand(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Others take their steps from `from` to before `to`. */
async function steps(scene: Scene, from: number, to: number): Promise<void> {
  for (const step of scene.steps.slice(from, to)) {
    step();
    await passed(0);
    await passed(0);
  }
}

/** What is tried: where a wait is aborted, and how it ended. */
async function tried(
  label: string,
  began: Began,
  from: number,
  allowed: readonly End[],
): Promise<void> {
  const { scene } = began;
  const { length } = scene.steps;
  if (scene.patient) await steps(scene, from, length);
  const how = await began.ended();
  if (!scene.patient) await steps(scene, from, length);
  const wrong = allowed.includes(how) ? undefined : `it is ${how}`;
  const left = await began.check();
  assert.is(wrong ?? left, undefined, `${label}: ${wrong ?? left}`);
}

/** Each wait of the list: its row, its method, and its name. */
const WAITS = ROWS.flatMap((row) =>
  row.waits.map((wait) => {
    const method = wait.slice(wait.indexOf(".") + 1);
    return { row, method, name: row.what ? `${wait}, ${row.what}` : wait };
  })
);

test("each method that awaits is in the list", () => {
  const listed = new Set(ROWS.flatMap(({ waits }) => waits));
  const missing: string[] = [];
  for (const [name, it] of Object.entries(mod)) {
    if (typeof it !== "function") continue;
    for (
      let from = it.prototype;
      from && from !== Object.prototype;
      from = Object.getPrototypeOf(from)
    ) {
      for (const method of Object.getOwnPropertyNames(from)) {
        if (!/^(?!try).*Async$/.test(method)) continue;
        if (!listed.has(`${name}.${method}`)) missing.push(`${name}.${method}`);
      }
    }
  }
  assert.equal(missing, []);
});

/** The words of a primitive, or nothing if it has none of its own. */
function wordsOf(on: object): number[] {
  const { buffer } = on as { buffer?: SharedArrayBuffer };
  return buffer === undefined ? [] : [...new Int32Array(buffer)];
}

for (const { row, method, name } of WAITS) {
  test(`${name}: with an aborted signal, it changes nothing`, async () => {
    const scene = row.scene(method);
    await passed(0);
    const before = wordsOf(scene.on);
    const began = new Began(scene, method, {
      signal: AbortSignal.abort(REASON),
    });
    assert.equal(wordsOf(scene.on), before);
    assert.is(await began.ended(), "aborted");
    await steps(scene, 0, scene.steps.length);
    began.check(); // it may find that nobody arrived
  });

  test(`${name}: an abort in the turn of the call`, async () => {
    const control = new AbortController();
    const began = begin(row, method, control);
    control.abort(REASON);
    const { patient } = began.scene;
    const allowed: End[] = patient ? ["aborted", "served"] : ["aborted"];
    await tried("at once", began, 0, allowed);
  });

  test(`${name}: an abort ends it in each stage`, () =>
    inEachStage(row.scene(method).steps.length + 1, async (stage) => {
      const control = new AbortController();
      const began = begin(row, method, control);
      const { patient, steps: { length } } = began.scene;
      await passed(0);
      await steps(began.scene, 0, stage);
      if (stage === length) await began.ended();
      control.abort(REASON);
      const given: End[] = patient ? ["aborted", "served"] : ["aborted"];
      const allowed = stage === length ? ENDED : given;
      await tried(`in stage ${stage}`, began, stage, allowed);
    }));

  test(`${name}: an abort in the turn of a step`, () =>
    inEachStage(row.scene(method).steps.length, async (stage) => {
      // Before the step, right behind it, and some microtasks later.
      for (let when = -1; when < MICROTASKS; when++) {
        const control = new AbortController();
        const began = begin(row, method, control);
        await passed(0);
        await steps(began.scene, 0, stage);
        if (when < 0) control.abort(REASON);
        began.scene.steps[stage]!();
        for (let i = 0; i < when; i++) await undefined;
        control.abort(REASON);
        const allowed: End[] = ["aborted", ...ENDED];
        await tried(`${when} behind step ${stage}`, began, stage + 1, allowed);
      }
    }));

  const limited = row.scene(method);
  const form = limited.begin ? method : trying(method);
  if (!limited.begin && !(form in limited.on)) continue;
  test(`${name}: its time ends in each stage`, async () => {
    const { length } = limited.steps;
    for (let stage = 0; stage < length; stage++) {
      for (const goesOn of [false, true]) {
        const scene = row.scene(method);
        const began = new Began(scene, form, { timeout: TIMEOUT });
        await steps(scene, 0, stage);
        stand(TIMEOUT + 1);
        if (goesOn) scene.steps[stage]!();
        const next = goesOn ? stage + 1 : stage;
        const allowed: End[] = goesOn || scene.patient
          ? ["over", ...ENDED]
          : ["over"];
        await tried(`in stage ${stage}, ${goesOn}`, began, next, allowed);
      }
    }
  });
}
