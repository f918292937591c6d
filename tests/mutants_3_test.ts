// limit: 600 s
// Mutants: one-line mistakes that the race scenarios must find.
import { part } from "./mutants/_tests.ts";

part(3);
