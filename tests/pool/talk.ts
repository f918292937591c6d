import { task } from "../../primitives/pool.ts";

/** Writes a text to the console. */
export const talk = task<string, null>();
