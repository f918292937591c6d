/**
 * The hash pool: workers do the same tasks, which are handed out in many ways.
 *
 * @module
 */

import { median } from "../../contest.ts";
import { peer } from "../../peers.ts";
import { ask, Failed, type Host } from "../processes.ts";
import type { Finding, Scale, Table, Workload } from "../workload.ts";
import { build } from "./hash_thread.ts";
import { peers } from "./peers.ts";
import type { Job, Printed } from "./process.ts";
import type { Kind, Tasks } from "./tasks.ts";
import { ALONE, MIXED, SINGLE, STUDY, WAYS } from "./ways.ts";

const PROGRAM = new URL("./process.ts", import.meta.url);

/** The measurements of one table. */
interface Plan {
  readonly scale: Scale;
  readonly id: string;
  readonly title: string;
  readonly host: Host;
  readonly tasks: Tasks;
  readonly workers: readonly number[];
  /** Rounds for up to two workers; there are fewer for more workers. */
  readonly rounds: number;
  /** Ms of rounds before those that count. */
  readonly warmUp: number;
  /** Runs of the study's own program, for each number of workers. */
  readonly runs: number;
  /** Seconds after which a run is ended, including its start. */
  readonly hangs: number;
  /** Whether npm's pools take part; they must be fetched. */
  readonly peers: boolean;
  /** Whether each way has a process of its own. */
  readonly apart: boolean;
}

/** Seconds that a way may take for all its rounds. */
const LIMIT = 90;

/** The way that shows the most that the machine can do. */
const APART = "two processes, nothing shared";

/** Seconds until they begin: they make their messages first. */
const SOON = 10;

const DETAILS = {
  wall: "wall, ms",
  cpu: "all threads, ms",
  busy: "in tasks, ms",
  utilization: "event loops busy, %",
  awake: "threads running, %",
  idlest: "the idlest of them, %",
  busiest: "the busiest, %",
  least: "least tasks of one, %",
  mainCpu: "main thread, ms",
  pause: "its longest pause, ms",
};

async function measure(plan: Plan): Promise<Table[]> {
  const { workers } = plan;
  const hashes = plan.tasks.kind === "hash";
  const ways = Object.keys(WAYS).filter((way) =>
    way === STUDY
      ? hashes
      : !(way in peers) || plan.peers && peer(way as "piscina")
  );
  await build(plan.scale);
  const findings: Finding[] = [];
  // No way shall be affected by what another one left behind in its process.
  const together = ways.filter((way) => way !== STUDY);
  const groups = plan.apart
    ? ways.map((way) => [way])
    : [together, ...hashes ? [[STUDY]] : []];
  for (const group of groups) {
    if (group[0] === STUDY) findings.push(...await runStudy(plan));
    else findings.push(...await run(plan, group));
    if (group[0] === ALONE && plan.apart && hashes) {
      findings.push(await runTwo(plan));
    }
  }
  const table: Table = {
    id: plan.id,
    title: plan.title,
    of: "way",
    by: "workers",
    figure: "each",
    unit: "µs a task",
    chart: workers.slice(0, 2),
    details: { at: workers.at(1) ?? workers[0]!, columns: DETAILS },
    findings,
  };
  return workers.length > 3 ? [table, ...curvesOf(table)] : [table];
}

/** The ways whose curves are shown: one of each kind. */
const CURVES = [
  "shared counter, views",
  "messages, round robin",
  "slots, 1 in flight",
  "slots, 8 in flight",
  "CallRing, 8 in flight",
  "WorkCounter, guided",
  "pool",
  "piscina",
];

/**
 * What each number of workers costs: the time, the processor time of all
 * threads, and that of one worker.
 */
function curvesOf(table: Table): Table[] {
  const findings = table.findings
    .filter(({ way, cpu }) => CURVES.includes(String(way)) && cpu !== undefined)
    .map((finding): Finding => {
      const { cpu, mainCpu, workers } = finding;
      const each = Math.max(Number(cpu) - Number(mainCpu), 0) / Number(workers);
      return { ...finding, perWorker: rounded(each) };
    });
  const shown = [
    ["wall", "wall", "ms from the first task to the last result"],
    ["cpu", "all threads", "ms of processor time, all threads"],
    ["perWorker", "one worker", "ms of processor time, one worker"],
    ["awake", "running", "% of the time that a worker runs"],
  ] as const;
  return shown.map(([figure, name, unit]) => ({
    id: `${table.id}_${figure.toLowerCase()}`,
    title: `${table.title}, ${name}`,
    of: "way",
    by: "workers",
    figure,
    unit,
    chart: "lines",
    findings: findings.map(({ way, workers, [figure]: value }) => ({
      way: way!,
      workers: workers!,
      [figure]: value!,
    })),
  }));
}

async function run(plan: Plan, ways: readonly string[]): Promise<Finding[]> {
  const { host, tasks, rounds, warmUp } = plan;
  const single = plan.apart && ways.every((way) => SINGLE.includes(way));
  const workers = single ? [1] : plan.workers;
  const job: Job = { ways, tasks, workers, rounds, warmUp };
  try {
    const printed = await ask<Printed>(host, PROGRAM, job, LIMIT);
    return ways.flatMap((way) =>
      workers.map((count) => {
        const own = printed.filter((it) =>
          it.way === way && it.workers === count
        );
        return summary(way, count, own, tasks.count);
      })
    );
  } catch (error) {
    // Our ways must work. If another one does not, that is a finding.
    if (!(error instanceof Failed) || !ways.every((way) => way in peers)) {
      throw error;
    }
    console.log(error.message);
    return [];
  }
}

/** Two processes at a time, each with all tasks and a single thread. */
async function runTwo({ host, tasks, rounds, warmUp }: Plan): Promise<Finding> {
  const begin = Date.now() + SOON * 1000;
  const only = { ways: [ALONE], workers: [1], begin };
  const job: Job = { ...only, tasks, rounds, warmUp };
  const printed = await Promise.all(
    [1, 2].map(() => ask<Printed>(host, PROGRAM, job, LIMIT)),
  );
  const each = median(printed.flat().map(({ wall }) => wall)) / tasks.count;
  return { way: APART, workers: 2, each: rounded(each * 1000 / 2) };
}

/**
 * Runs the study's own program again and again, each time anew. It counts the
 * runs that did not give all results in time, and measures the others.
 */
async function runStudy(plan: Plan): Promise<Finding[]> {
  const { host, tasks, runs, hangs } = plan;
  const findings: Finding[] = [];
  for (const workers of plan.workers.slice(0, plan.apart ? 3 : 1)) {
    const once = { rounds: 1, warmUp: 0 };
    const job: Job = { ways: [STUDY], tasks, workers: [workers], ...once };
    const printed: Printed[] = [];
    let hung = 0;
    for (let i = 0; i < runs; i++) {
      try {
        printed.push(...await ask<Printed>(host, PROGRAM, job, hangs));
      } catch (error) {
        if (!(error instanceof Failed)) throw error;
        hung++;
      }
    }
    const share = { hung: Math.round(100 * hung / runs), runs };
    if (printed.length === 0) findings.push({ way: STUDY, workers, ...share });
    else {
      const it = summary(STUDY, workers, printed, tasks.count);
      findings.push({ ...it, ...share });
    }
  }
  return findings;
}

const rounded = (figure: number) => Math.round(figure * 1000) / 1000;

/** The middle of each figure over all rounds. */
function summary(
  way: string,
  workers: number,
  rounds: Printed[],
  tasks: number,
): Finding {
  const middle = (figure: (round: Printed) => number) =>
    rounded(median(rounds.map(figure)));
  const loops = rounds.flatMap(({ shares }) =>
    shares.flatMap(({ utilization }) => utilization ?? [])
  );
  return {
    way,
    workers,
    each: middle(({ wall }) => wall * 1000 / tasks),
    wall: middle(({ wall }) => wall),
    cpu: middle(({ cpu }) => cpu),
    busy: middle(({ shares }) => sum(shares.map(({ busy }) => busy))),
    ...loops.length === 0 ? {} : {
      utilization: Math.round(100 * sum(loops) / loops.length),
    },
    awake: middle(({ cpu, mainCpu, wall }) =>
      100 * Math.max(cpu - mainCpu, 0) / wall / workers
    ),
    // Threads of C have no meter.
    ...way === MIXED ? {} : {
      idlest: middle((round) => Math.min(...running(round))),
      busiest: middle((round) => Math.max(...running(round))),
      least: middle(({ shares }) =>
        100 * Math.min(...shares.map((share) => share.tasks)) / tasks
      ),
    },
    mainCpu: middle(({ mainCpu }) => mainCpu),
    pause: middle(({ pause }) => pause),
  };
}

/**
 * The % of a round for which each worker ran. The rest of the time it slept, or
 * waited for a core, whatever its event loop says.
 */
const running = ({ shares, wall }: Printed): number[] =>
  shares.map(({ cpu }) => Math.min(100 * cpu / wall, 100));

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

function planOf(kind: Kind, host: Host, scale: Scale): Plan {
  const { tiny } = scale;
  const size = kind === "hash" ? tiny ? 1000 : 65536 : 4;
  const count = kind === "small" ? 20_000 : kind === "hash" ? 4096 : 1024;
  const node = host === "Node";
  const many = node && kind === "hash" ? [1, 2, 4, 8, 16] : [1, 2, 4];
  return {
    scale,
    id: `${kind}_${host.toLowerCase()}`,
    title: `${TITLES[kind]}, ${host}`,
    host,
    tasks: { kind, size, count: tiny ? 100 : count },
    workers: tiny ? [1, 3] : many,
    rounds: tiny ? 2 : 3,
    // A pool's code is compiled after some 10,000 tasks.
    warmUp: tiny ? 0 : 400,
    runs: tiny ? 1 : 4,
    hangs: tiny ? 2 : 10,
    apart: !tiny,
    peers: !tiny && node, // under Deno none gets through
  };
}

const TITLES: Record<Kind, string> = {
  hash: "SHA-256 of 64 KiB each",
  small: "Tasks of a microsecond",
  medium: "Tasks of 50 µs",
  skewed: "Tasks of 20 µs, each 64th of 2 ms",
};

const measureAll =
  (host: Host, ...kinds: Kind[]): Workload["measure"] => async (scale) => {
    const tables: Table[] = [];
    // It is the same code for all.
    for (const kind of scale.tiny ? kinds.slice(-1) : kinds) {
      tables.push(...await measure(planOf(kind, host, scale)));
    }
    return tables;
  };

/** SHA-256 of many messages, under Node, as the study did it. */
export const hashPool: Workload = {
  name: "hash_pool",
  title: "Hash pool",
  measure: measureAll("Node", "hash"),
};

/** Tasks so small, or so uneven, that giving them out matters. */
export const dispatch: Workload = {
  name: "dispatch",
  title: "Dispatch",
  measure: measureAll("Node", "small", "medium", "skewed"),
};

/** Both of it under Deno. */
export const denoPool: Workload = {
  name: "deno_pool",
  title: "Hash pool and dispatch under Deno",
  measure: measureAll("Deno", "hash", "small"),
};
