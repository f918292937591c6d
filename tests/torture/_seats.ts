/**
 * The words in which threads note what they do.
 *
 * @module
 */

/** Not 0 once all shall stop. */
export const STOP = 0;
/** Broken promises. */
export const PROBLEMS = 1;
/** Which barrier, or counter, all use now. */
export const ROUND = 9;
/** The next number that is told to all, and how many have died telling. */
export const NUMBER = 10;
export const TELLERS = 11;
/** Where the seats begin, each of 32 words. */
export const SEATS = 32;
/** In a seat: elements whose push began. */
export const BEGUN = 0;
/** Elements taken. */
export const RECEIVED = 1;
/** Steps done, counted by the hundred. */
export const OPERATIONS = 2;
/** The last arrival at a barrier: its round, shifted by 16, and its number. */
export const ARRIVED = 3;
/** How often an agent has passed a barrier. */
export const PASSED = 4;
/** Tasks that came to this agent after another one had marked them. */
export const REPEATED = 5;
/** The words of all notes. */
export const LENGTH: number = SEATS + 8 * 32;

/** The number of barriers, or counters, that lie side by side. */
export const PLACES = 16;
/** The tasks of a counter, and how many it hands out at a time. */
export const TASKS = 60_000;
export const CHUNK = 3;
/**
 * The bytes from one barrier, or counter and marks of its tasks, to the next.
 */
export const BARRIER_BYTES = 1024;
export const COUNTER_BYTES = 65_536;
