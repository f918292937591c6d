import { mutants, none } from "../_run/mutant.ts";

const NO_SELECT = none("C has no select");

/** Mutants of the code by which `select` does one of its arms. */
export const MUTANTS = [
  ...mutants({ source: "select", scenarios: ["select"] }, {
    what: "an arm is done after another one was",
    ts: "return () => {[- if (this.made !== undefined) return true;-]",
    c: NO_SELECT,
    by: "one is there, another comes",
  }, {
    what: "what was done beside an abort is forgotten",
    ts: "[-if (choice.made === undefined) -]throw error;",
    c: NO_SELECT,
    by: "an abort while an element comes",
  }, {
    what: "a signal that was seen counts as taken",
    ts: "[-if (-]attempt()[-)-]{+;+} return true;",
    c: NO_SELECT,
    by: "a signal that another one may take",
  }),
];
