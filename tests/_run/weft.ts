/**
 * The library, in the form that race scenarios use.
 *
 * @module
 */
import * as mod from "../../mod.ts";
import * as deadlocks from "../../primitives/deadlocks.ts";
import * as pool from "../pool/parts.ts";
import * as spin from "../../primitives/_spin.ts";
import * as turn from "../../primitives/_turn.ts";
import * as utf8 from "../../primitives/_utf8.ts";
import { Sources } from "./realm.ts";
import { MODULES, type Modules, type Weft } from "./scenario.ts";

const { realm } = await Sources.of<Modules>(MODULES);

/** The library's own modules. */
export const weft: Weft = { mod, spin, utf8, turn, pool, deadlocks, realm };
