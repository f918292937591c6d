/// <reference lib="dom" />
/**
 * Workers and threads of C at one queue and one lock, and the death of the
 * owner of the lock.
 *
 * @module
 */
import { inspect, onAgentExit, recover } from "@weft/sync";
import { draw, mark } from "./chart.ts";
import {
  at,
  type Gauge,
  gauge,
  make,
  press,
  say,
  slider,
  told,
  write,
} from "./dom.ts";
import { type Draw, drawSlots, drawWord } from "./slots.ts";
import {
  AGENTS,
  AT,
  PAGES,
  PARTS,
  ROW,
  rowIn,
  type Start,
  STATE,
  stateIn,
} from "./shared.ts";

type Language = "JavaScript" | "C";

/** An agent, and its card on the page. */
interface Agent {
  readonly name: string;
  readonly language: Language;
  readonly row: number;
  readonly words: Int32Array;
  readonly worker: Worker;
  readonly card: HTMLElement;
  readonly what: HTMLElement;
  readonly gauge: Gauge;
  id: number;
  state: "begins" | "works" | "ends" | "dead";
  /** What its count was when it was last shown. */
  shown: number;
  /** Its operations per second. */
  rate: number;
}

/** How often rates are shown. */
const PERIOD = 250;

const memory = new WebAssembly.Memory({
  initial: PAGES,
  maximum: PAGES,
  shared: true,
});
const { jobs, lock } = PARTS.init(memory, AT.parts);
const state = stateIn(memory);
const agents = new Set<Agent>();
const wanted: Record<Language, number> = { JavaScript: 0, C: 0 };
const made: Record<Language, number> = { JavaScript: 0, C: 0 };
const queue = gauge("in the queue", "large");
const log = () => at("crowd-log");

/** What is drawn of memory, once a frame. */
const drawn: Draw[] = [];
/** How full the queue is, in the mean of some frames. */
let fill = 0;
/** What agents counted that have ended. */
let retired = 0;
/** The language that pops. */
let popping: Language = "C";
let paused = false;
/** The agent that died with the lock, from then until it is recovered. */
let dead: Agent | undefined;
/** What the repaired counts were when they were last told. */
let repaired = 0;

/** Starts everything. */
export async function startCrowd(): Promise<void> {
  // Some hosts send it with a type that compileStreaming refuses.
  const bytes = await (await fetch("agent.wasm")).arrayBuffer();
  const module = await WebAssembly.compile(bytes);
  at("jobs").append(queue.element);
  slider("js", (n) => (wanted.JavaScript = n, adjust(module)));
  slider("c", (n) => (wanted.C = n, adjust(module)));
  drawn.push(drawSlots(at("jobs"), jobs), drawWord(at("word"), lock));
  slider("pace", (n) => Atomics.store(state, STATE.pace, n));
  slider("slow", (n) => Atomics.store(state, STATE.slow, n));
  at("swap").addEventListener("click", swap);
  at("kill").addEventListener("click", () => dead ? bury(module) : kill());
  at("pause").addEventListener("click", () => {
    paused = !paused;
    press(at("pause"), paused);
    adjust(module);
  });
  document.addEventListener("visibilitychange", () => adjust(module));
  setInterval(showRates, PERIOD, performance.now());
  requestAnimationFrame(showWords);
  checkCounts();
}

/** Starts and ends agents until there are as many as the sliders say. */
function adjust(module: WebAssembly.Module) {
  const awake = !paused && !document.hidden;
  for (const language of ["JavaScript", "C"] as const) {
    const here = [...agents].filter((agent) =>
      agent.language === language && agent.state !== "ends" &&
      agent.state !== "dead"
    );
    const most = awake ? wanted[language] : 0;
    for (const agent of here.slice(most)) end(agent);
    for (let n = here.length; n < most; n++) start(language, module);
  }
}

function start(language: Language, module: WebAssembly.Module) {
  const used = new Set([...agents].map(({ row }) => row));
  const row = Array.from({ length: AGENTS }, (_, i) => i)
    .find((i) => !used.has(i));
  if (row === undefined) return; // those that end make room
  const words = rowIn(memory, row).fill(0);
  Atomics.store(words, ROW.pops, language === popping ? 1 : 0);
  const worker = new Worker("agent.js", { type: "module" });
  const short = language === "C" ? "C" : "JS";
  const name = `${short} ${++made[language]}`;
  const what = make("span", "what", "begins");
  const head = make("div", "head", make("span", "name", name), what);
  const own = gauge("operations/s");
  const card = make("li", "card", head, own.element);
  const agent: Agent = {
    name,
    language,
    row,
    words,
    worker,
    card,
    what,
    gauge: own,
    id: 0,
    state: "begins",
    shown: 0,
    rate: 0,
  };
  agents.add(agent);
  at("agents").append(card);
  worker.onmessage = ({ data }: MessageEvent<number | "ended">) => {
    if (data === "ended") {
      remove(agent);
      return adjust(module); // its row may be all that another one waited for
    }
    agent.id = data;
    if (agent.state === "begins") agent.state = "works";
  };
  const message: Start = {
    memory,
    row,
    module: language === "C" ? module : undefined,
  };
  worker.postMessage(message);
}

/** Tells an agent to end; it says when it has. */
function end(agent: Agent) {
  agent.state = "ends";
  Atomics.store(agent.words, ROW.stop, 1);
  Atomics.notify(agent.words, ROW.stop);
}

function remove(agent: Agent) {
  agent.worker.terminate();
  agent.card.remove();
  agents.delete(agent);
  retired += Atomics.load(agent.words, ROW.count);
}

function swap() {
  popping = popping === "C" ? "JavaScript" : "C";
  for (const { language, words } of agents) {
    Atomics.store(words, ROW.pops, language === popping ? 1 : 0);
  }
}

/** Lets the next owner stay in the lock, and terminates it there. */
function kill() {
  at<HTMLButtonElement>("kill").disabled = true;
  Atomics.store(state, STATE.hold, 1);
}

/** Terminates the agent that stays in the lock. */
function strike(id: number) {
  const agent = [...agents].find((agent) => agent.id === id);
  if (agent === undefined) return; // its message is still on the way
  Atomics.store(state, STATE.hold, 0);
  Atomics.store(state, STATE.held, 0);
  dead = agent;
  agent.state = "dead";
  agent.card.classList.add("dead");
  mark();
  onAgentExit(id, () => {
    say(log(), `${agent.name} died with the lock. The others wait for it.`);
    const button = at<HTMLButtonElement>("kill");
    button.disabled = false;
    button.classList.add("go");
    write(button, "Recover");
  });
  agent.worker.terminate();
}

/** Recovers what the dead agent held, and starts another one. */
function bury(module: WebAssembly.Module) {
  const agent = dead!;
  dead = undefined;
  const found = recover(agent.id, { jobs, lock })
    .map(({ kind, what }) => `${kind}: ${what}`).join(", ") || "nothing";
  say(log(), `recover(${agent.id}) found ${found}.`);
  remove(agent);
  const button = at("kill");
  button.classList.remove("go");
  write(button, "Kill the owner");
  adjust(module);
}

let lastShown = performance.now();

/** Shows the rate of each agent, and of all. */
function showRates() {
  const now = performance.now();
  const seconds = (now - lastShown) / 1000;
  lastShown = now;
  for (const agent of agents) {
    const count = Atomics.load(agent.words, ROW.count);
    agent.rate = (count - agent.shown) / seconds;
    agent.shown = count;
  }
  const most = Math.max(1, ...[...agents].map(({ rate }) => rate));
  for (const { gauge, rate } of agents) gauge.set(rate, most, told(rate));
  const all = [...agents].reduce((sum, { rate }) => sum + rate, 0);
  draw(all);
  write(at("rate"), told(all));
  const repairs = Atomics.load(state, STATE.repairs);
  if (repairs > repaired) {
    say(log(), "The next owner was told, and repaired the counts.");
  }
  repaired = repairs;
}

/** Shows the words of the queue and the lock, once a frame. */
function showWords() {
  const held = Atomics.load(state, STATE.held);
  if (held !== 0) strike(held);
  fill += (jobs.size - fill) / 8; // it changes faster than anybody can read
  queue.set(fill, jobs.capacity, `${Math.round(fill)} of ${jobs.capacity}`);
  drawn.forEach((draw) => draw());
  const { owner, waiters } = inspect(lock);
  const agent = [...agents].find(({ id }) => id === owner);
  write(at("owner"), agent?.name ?? (owner ? "this page" : "nobody"));
  at("owner").classList.toggle("bad", agent?.state === "dead");
  write(at("waiters"), waiters ? "yes" : "no");
  for (const agent of agents) {
    const pops = Atomics.load(agent.words, ROW.pops) === 1;
    const what = agent.state === "works"
      ? pops ? "pops" : "pushes"
      : agent.state === "dead"
      ? "died with the lock"
      : agent.state;
    write(agent.what, what);
  }
  requestAnimationFrame(showWords);
}

/** Compares the two counts twice a second, with the lock, without blocking. */
async function checkCounts() {
  while (true) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    using guard = await lock.tryLockAsync({ timeout: 400 });
    if (guard === undefined) continue;
    if (guard.abandoned) {
      state[STATE.copy] = state[STATE.total]!;
      Atomics.add(state, STATE.repairs, 1);
    }
    let counts = retired;
    for (const { words } of agents) counts += Atomics.load(words, ROW.count);
    const total = state[STATE.total]!;
    const right = total === (counts | 0) && total === state[STATE.copy];
    write(at("total"), told(total >>> 0));
    write(at("counts"), told(counts >>> 0));
    at("counts").classList.toggle("bad", !right);
  }
}
