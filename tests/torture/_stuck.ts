/** Blocks its main thread for ever, as a defect would; it is watched. */
import { say, watchman } from "./_watchman.ts";

await watchman(1000);
say("the plan that blocks");
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
