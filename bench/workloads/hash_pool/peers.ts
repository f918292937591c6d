/**
 * The pools that people use today, from npm; under Node.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { setEnvironmentData } from "node:worker_threads";
import { peer } from "../../peers.ts";
import { RESULT } from "./tasks.ts";
import type { Crew, Setting, Way } from "./setting.ts";

const NAMES = ["piscina", "tinypool", "workerpool", "poolifier"] as const;

/** One of the pools. */
export type Name = typeof NAMES[number];

/**
 * The data that its workers find under the name `weft` in the environment data.
 */
export interface Environment {
  readonly name: Name;
  /** Where its module is. */
  readonly url: string;
  readonly kind: Setting["tasks"]["kind"];
  readonly meters: SharedArrayBuffer;
}

/** Hands a message to a worker; what is in `transfer` moves instead. */
type Submit = (
  message: Uint8Array,
  transfer: ArrayBuffer[],
) => Promise<Uint8Array>;

interface Started {
  submit: Submit;
  stop(): unknown;
}

/** `run` of piscina and tinypool, and `execute` of poolifier. */
type Run = (
  message: Uint8Array,
  options: { transferList: ArrayBuffer[] },
) => Promise<Uint8Array>;
type Execute = (
  message: Uint8Array,
  name: undefined,
  signal: undefined,
  transfer: ArrayBuffer[],
) => Promise<Uint8Array>;

/** From how many bytes on a transfer takes less time than a second copy. */
const TRANSFERRED = 4096;

type Constructor = new (...args: unknown[]) => Record<string, never>;

type Module = Record<string, Constructor> & { default: never };

const WORKER = new URL("./peer_worker.ts", import.meta.url);

const makers: Record<Name, (module: Module, workers: number) => Started> = {
  piscina({ Piscina }, workers) {
    const pool = new Piscina!({
      filename: WORKER.href,
      minThreads: workers,
      maxThreads: workers,
    }) as unknown as { run: Run; destroy(): unknown };
    return {
      submit: (it, transferList) => pool.run(it, { transferList }),
      stop: () => pool.destroy(),
    };
  },
  tinypool({ Tinypool }, workers) {
    const pool = new Tinypool!({
      filename: WORKER.href,
      minThreads: workers,
      maxThreads: workers,
    }) as unknown as { run: Run; destroy(): unknown };
    return {
      submit: (it, transferList) => pool.run(it, { transferList }),
      stop: () => pool.destroy(),
    };
  },
  workerpool(module, workers) {
    interface WorkerPool {
      exec(
        name: string,
        args: unknown[],
        options: { transfer: ArrayBuffer[] },
      ): Promise<Uint8Array>;
      terminate(force: boolean): unknown;
    }
    const make = (module.default as { pool(...a: unknown[]): WorkerPool }).pool;
    const pool = make(fileURLToPath(WORKER), {
      minWorkers: workers,
      maxWorkers: workers,
      workerType: "thread",
    });
    return {
      submit: (it, transfer) => pool.exec("work", [it], { transfer }),
      stop: () => pool.terminate(true),
    };
  },
  poolifier({ FixedThreadPool }, workers) {
    const pool = new FixedThreadPool!(workers, fileURLToPath(WORKER), {
      startWorkers: true,
    }) as unknown as { execute: Execute; destroy(): unknown };
    // Its promise may never settle.
    return {
      submit: (it, transfer) =>
        pool.execute(it, undefined, undefined, transfer),
      stop: () => void pool.destroy(),
    };
  },
};

const wayOf = (name: Name): Way => async (setting): Promise<Crew> => {
  const { tasks: { kind }, messages, results, workers, meters } = setting;
  const url = peer(name)?.href;
  if (url === undefined) throw new Error(`${name} cannot be had`);
  setEnvironmentData("weft", { name, url, kind, meters } as never);
  const module: Module = await import(url);
  const { submit, stop } = makers[name](module, workers);
  const one = async (message: Uint8Array, i: number) => {
    // Make a copy, or all the memory behind it would be cloned.
    const copy = new Uint8Array(message);
    const transfer = copy.length < TRANSFERRED ? [] : [copy.buffer];
    results.set(await submit(copy, transfer), i * RESULT);
  };
  const run = () => Promise.all(messages.map(one));
  return { run, stop };
};

/** A way for each. */
export const peers: Readonly<Record<string, Way>> = Object.fromEntries(
  NAMES.map((name) => [name, wayOf(name)]),
);
