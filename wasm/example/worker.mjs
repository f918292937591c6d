// Sends the numbers from 1 to N.
import { MpmcQueue } from "@weft/sync";
import { workerData } from "node:worker_threads";

const N = 100;
const numbers = MpmcQueue.from(workerData);
for (let n = 1; n <= N; n++) numbers.pushInt(n);
numbers.close();
