/**
 * How deep the tests look: `deno task test --all` says so to each of its
 * processes.
 *
 * @module
 */
import process from "node:process";

/** The variable of the environment that is `1` for all tests. */
export const VARIABLE = "WEFT_TESTS_ALL";

/** Whether what is long by nature runs, too. */
export const all = (): boolean => process.env[VARIABLE] === "1";

/**
 * The most states of a scenario that the tests explore without `--all`. Most
 * scenarios have fewer.
 */
export const FIRST_STATES = 10_000;

/**
 * For how many operations the tests follow a loop that sees nothing new,
 * without `--all`. No loop of a primitive that ends by itself has half of them.
 */
export const FIRST_SPINS = 10_000;

/**
 * In how many histories the tests try whether a loop counts its rounds, without
 * `--all`: twice as many as a search does that is not complete. A scenario has
 * thousands of histories, and few ways to come out of a loop.
 */
export const FIRST_TRIALS = 200;

/**
 * At how many loops the tests try all numbers of rounds up to 130, without
 * `--all`. Of each loop they try the first 20, and some up to 1000, so that a
 * loop is noticed that does something else from any number of rounds on. Only
 * one that does so after a single other number is left to `--all`.
 */
export const FIRST_PLACES = 0;
