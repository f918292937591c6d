// A worker of piscina: a task names its function.
import { functions } from "./tasks.ts";

export const small = functions.small;
export const hash = functions.hash;
export const text = functions.text;
export const add = functions.add;
