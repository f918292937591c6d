// limit: 600 s
// Mutants of weft.h: one-line mistakes that agents of C must find.
import { part, whole } from "./mixed/mutants/_tests.ts";

part(1);
whole();
