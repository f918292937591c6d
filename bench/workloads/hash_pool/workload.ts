/**
 * The hash pool: the same tasks, done by workers that are given them in many
 * ways.
 *
 * @module
 */

import { median } from "../../contest.ts";
import { peer } from "../../peers.ts";
import { ask, Failed, type Host } from "../processes.ts";
import type { Finding, Scale, Table, Workload } from "../workload.ts";
import { peers } from "./peers.ts";
import type { Job, Printed } from "./process.ts";
import type { Kind, Tasks } from "./tasks.ts";
import { WAYS } from "./ways.ts";

const PROGRAM = new URL("./process.ts", import.meta.url);

/** What is measured: everything that makes a table. */
interface Plan {
  readonly id: string;
  readonly title: string;
  readonly host: Host;
  readonly tasks: Tasks;
  readonly workers: readonly number[];
  readonly rounds: number;
  /** Whether npm's pools take part, which must be fetched. */
  readonly peers: boolean;
}

/** Seconds that a way may take for all its rounds. */
const LIMIT = 60;

const DETAILS = {
  wall: "wall, ms",
  cpu: "all threads, ms",
  busy: "in tasks, ms",
  utilization: "event loops busy, %",
  awake: "threads running, %",
  least: "least tasks of one, %",
  mainCpu: "main thread, ms",
  pause: "its longest pause, ms",
};

async function measure(plan: Plan): Promise<Table> {
  const { id, title, workers } = plan;
  const findings: Finding[] = [];
  for (const way of Object.keys(WAYS)) {
    if (way in peers && !(plan.peers && peer(way as "piscina"))) continue;
    findings.push(...await measureWay(plan, way));
  }
  return {
    id,
    title,
    of: "way",
    by: "workers",
    figure: "each",
    unit: "µs a task",
    chart: workers.slice(0, 2),
    details: { at: workers.at(1) ?? workers[0]!, columns: DETAILS },
    findings,
  };
}

async function measureWay(plan: Plan, way: string): Promise<Finding[]> {
  const { host, tasks, rounds } = plan;
  const workers = way === "no workers" ? [1] : plan.workers;
  const job: Job = { way, tasks, workers, rounds };
  try {
    const printed = await ask<Printed>(host, PROGRAM, job, LIMIT);
    return workers.map((count) => {
      const own = printed.filter(({ workers }) => workers === count);
      return summary(way, count, own, tasks.count);
    });
  } catch (error) {
    // Ours must work; that another's does not is a finding.
    if (!(error instanceof Failed) || !(way in peers)) throw error;
    console.log(`${way}: ${error.message}`);
    return [];
  }
}

/** The middle of each figure over all rounds. */
function summary(
  way: string,
  workers: number,
  rounds: Printed[],
  tasks: number,
): Finding {
  const middle = (figure: (round: Printed) => number) => {
    const value = median(rounds.map(figure));
    return Math.round(value * 1000) / 1000;
  };
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
    least: middle(({ shares }) =>
      100 * Math.min(...shares.map((share) => share.tasks)) / tasks
    ),
    mainCpu: middle(({ mainCpu }) => mainCpu),
    pause: middle(({ pause }) => pause),
  };
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

function plansOf(kinds: readonly Kind[], { tiny }: Scale): Plan[] {
  const hosts: readonly Host[] = ["Node", "Deno"];
  return kinds.flatMap((kind) =>
    hosts.filter((host) => !tiny || host !== SPARED[kind]).map((host): Plan => {
      const size = kind === "hash" ? tiny ? 1000 : 65536 : 4;
      const count = kind === "small" ? 20_000 : kind === "hash" ? 4096 : 2048;
      const many = kind === "hash" && host === "Node";
      const large = host === "Node" ? [1, 2, 4] : [1, 2];
      return {
        id: `${kind}_${host.toLowerCase()}`,
        title: `${TITLES[kind]}, ${host}`,
        host,
        tasks: { kind, size: size - size % 4, count: tiny ? 100 : count },
        workers: tiny ? [1, 3] : many ? [1, 2, 4, 8, 16] : large,
        peers: !tiny && host === "Node", // under Deno none gets through
        rounds: tiny ? 2 : kind === "small" ? 5 : 3,
      };
    })
  );
}

/** Where a small run does not try a kind: it is the same code. */
const SPARED: Partial<Record<Kind, Host>> = { small: "Node", skewed: "Deno" };

const TITLES: Record<Kind, string> = {
  hash: "SHA-256 of 64 KiB each",
  small: "Tasks of a microsecond",
  medium: "Tasks of 50 µs",
  skewed: "Tasks of 20 µs, each 64th of 2 ms",
};

async function measureAll(kinds: readonly Kind[], scale: Scale) {
  const tables: Table[] = [];
  for (const plan of plansOf(kinds, scale)) tables.push(await measure(plan));
  return tables;
}

/** SHA-256 of many messages. */
export const hashPool: Workload = {
  name: "hash_pool",
  title: "Hash pool",
  measure: (scale) => measureAll(["hash"], scale),
};

/** Tasks so small, or so uneven, that giving them out matters. */
export const dispatch: Workload = {
  name: "dispatch",
  title: "Dispatch",
  measure: (scale) => {
    const kinds = ["small", "medium", "skewed"] as const;
    return measureAll(
      kinds.filter((kind) => !scale.tiny || kind !== "medium"),
      scale,
    );
  },
};
