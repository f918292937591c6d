/**
 * The classes whose hot operations may run in the kernel. Agents of one play
 * use either: the words are the same.
 *
 * @module
 */
import * as mod from "../../mod.ts";
import * as kernel from "../../primitives/kernel/kernel.ts";

/** The classes that the storms need of either. */
type Classes = Pick<
  typeof mod,
  "Event" | "HashMap" | "Latch" | "Mutex" | "RwLock" | "Semaphore"
>;

/** The classes of the kernel, or those of the library. */
export const classes = (inKernel: boolean): Classes =>
  inKernel ? kernel as unknown as Classes : mod;

/** Whether an object's hot operations run in the kernel. */
export const isInKernel = (it: object): boolean =>
  (it as Partial<kernel.InKernel>).inKernel === true;

/** Memory for a play: one in which the kernel works if any agent uses it. */
export const memoryOf = (bytes: number, withKernel: boolean): mod.Memory =>
  withKernel ? kernel.arena(bytes) : new SharedArrayBuffer(bytes);
