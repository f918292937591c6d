// Sends the numbers from 1 to 100.
import { MpmcQueue } from "@weft/sync";
import { workerData } from "node:worker_threads";

const numbers = MpmcQueue.from(workerData);
for (let n = 1; n <= 100; n++) numbers.pushInt(n);
numbers.close();
