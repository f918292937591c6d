/**
 * A worker of the page: an agent of JavaScript, or a thread of C.
 *
 * @module
 */
import { agentId, announceAgent, type Mutex } from "@weft/sync";
import {
  AT,
  OWN,
  partsIn,
  ROW,
  rowIn,
  type Start,
  STATE,
  stateIn,
} from "./shared.ts";

globalThis.onmessage = async ({ data }: MessageEvent<Start>) => {
  postMessage(await announceAgent());
  if (data.module === undefined) run(data);
  else await runC(data, data.module);
  postMessage("ended");
};

/** Pushes or pops numbers until it is told to stop. */
function run({ memory, row }: Start) {
  const { jobs, lock } = partsIn(memory);
  const state = stateIn(memory);
  const own = rowIn(memory, row);
  for (let n = 0; Atomics.load(own, ROW.stop) === 0; n++) {
    linger(state, own);
    const done = Atomics.load(own, ROW.pops) === 1
      ? jobs.tryPopInt(50) !== undefined
      : jobs.tryPushInt(n, 50);
    if (done) count(lock, state, own);
  }
}

/**
 * Counts under the lock. An agent that is told to die there writes `total`, but
 * not `copy`.
 */
function count(lock: Mutex, state: Int32Array, own: Int32Array) {
  using guard = lock.lock();
  if (guard.abandoned) {
    state[STATE.copy] = state[STATE.total]!; // what the dead agent left
    Atomics.add(state, STATE.repairs, 1);
  }
  state[STATE.total]!++;
  Atomics.add(own, ROW.count, 1);
  linger(state, own);
  let rounds = Atomics.load(state, STATE.pace);
  while (rounds > 0) rounds--;
  if (Atomics.load(state, STATE.hold) === 1) {
    Atomics.store(state, STATE.held, agentId());
    while (true) Atomics.wait(own, ROW.stop, Atomics.load(own, ROW.stop));
  }
  state[STATE.copy]!++;
}

/** In slow motion, stays for a while, but not if it should end. */
function linger(state: Int32Array, own: Int32Array) {
  const slow = Atomics.load(state, STATE.slow);
  if (slow > 0) Atomics.wait(own, ROW.stop, 0, slow);
}

/** Runs agent.c in this worker. */
async function runC({ memory, row }: Start, module: WebAssembly.Module) {
  const env = { memory, weft_now: () => performance.now() };
  const { exports } = await WebAssembly.instantiate(module, { env });
  const { jobs, lock } = partsIn(memory);
  const own = AT.own + OWN * row;
  const stack = exports.__stack_pointer as WebAssembly.Global;
  stack.value = own + OWN; // it grows down
  (exports.run as (...words: number[]) => void)(
    own,
    agentId(),
    jobs.byteOffset,
    lock.byteOffset,
    AT.state,
    rowIn(memory, row).byteOffset,
  );
}
