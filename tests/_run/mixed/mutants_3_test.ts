// limit: 600 s
// Mutants of weft.h: one-line mistakes that agents of C must find.
import { part } from "./mutant_tests.ts";

part(3);
