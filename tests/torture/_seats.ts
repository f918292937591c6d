/**
 * The words in which threads note what they do.
 *
 * @module
 */

/** Not 0 once all shall stop. */
export const STOP = 0;
/** Broken promises. */
export const PROBLEMS = 1;
/** Where the seats begin, each of 32 words. */
export const SEATS = 32;
/** In a seat: elements whose push began. */
export const BEGUN = 0;
/** Elements taken. */
export const RECEIVED = 1;
/** Steps done, counted by the hundred. */
export const OPERATIONS = 2;
/** The words of all notes. */
export const LENGTH: number = SEATS + 8 * 32;
