/**
 * The library, in the form that race scenarios use.
 *
 * @module
 */
import * as mod from "../../mod.ts";
import * as pool from "../pool/parts.ts";
import * as spin from "../../primitives/_spin.ts";
import * as turn from "../../primitives/_turn.ts";
import { realmOf } from "./realm.ts";
import type { Modules, Weft } from "./scenario.ts";

const realm = await realmOf<Modules>({
  mod: new URL("../../mod.ts", import.meta.url),
  spin: new URL("../../primitives/_spin.ts", import.meta.url),
  turn: new URL("../../primitives/_turn.ts", import.meta.url),
  pool: new URL("../pool/parts.ts", import.meta.url),
});

/** The library's own modules. */
export const weft: Weft = { mod, spin, turn, pool, realm };
