// limit: 600 s
// Mutants: one-line mistakes that the race scenarios must find.
import { part } from "./mutant_tests.ts";

part(2);
