/**
 * The library, in the form that race scenarios use.
 *
 * @module
 */
import * as mod from "../../mod.ts";
import * as deadlocks from "../../primitives/tools/deadlocks.ts";
import * as explored from "../../primitives/_memory/explored.ts";
import * as calls from "../calls/slots.ts";
import * as pool from "../pool/parts.ts";
import * as spin from "../../primitives/_wait/spin.ts";
import * as time from "../../primitives/_map/time.ts";
import * as turn from "../../primitives/_wait/turn.ts";
import * as utf8 from "../../primitives/_message/utf8.ts";
import * as waiter from "../../primitives/_wait/waiter.ts";
import { Sources } from "./realm.ts";
import { MODULES, type Modules, tellNothing, type Weft } from "./scenario.ts";

const { realm, renewed } = await Sources.of<Modules>(MODULES);

/** The library's own modules. */
export const weft: Weft = tellNothing({
  ...{ mod, spin, waiter, utf8, turn, time, explored, pool, calls, deadlocks },
  realm: () => tellNothing(realm()),
  renewed: (agent) => tellNothing(renewed(agent)),
});
