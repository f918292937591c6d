/**
 * Each primitive's `kind.ts` says how it is made and used, and how large a
 * bundle of it may be. Tests of all primitives use it. Its class over functions
 * of C is there, too: see `mixed/twins.ts`.
 *
 * @module
 */

import type { Handle, Memory, Region } from "../../mod.ts";
import { KIND, LAYOUT } from "../../primitives/_memory/layout.ts";

/** How one primitive is made, attached to and used. */
export interface Kind {
  stem: string;
  byteLength: number;
  init(memory: Memory, byteOffset: number | bigint): Region;
  attach(memory: Memory, byteOffset?: number | bigint): Region;
  from(handle: Handle): Region;
  /** Changes it through one view, so that {@linkcode Kind.used} can notice. */
  use(view: Region): void;
  /** Whether {@linkcode Kind.use} was called once, as another view sees it. */
  used(view: Region): boolean;
}

/**
 * The names that are imported from a module, and the most bytes they may cost.
 */
export interface Size {
  readonly name: string;
  /** The size that was reached, rounded up. */
  readonly most: number;
}

/** The exports of `kind.ts` in a primitive's folder. */
interface Exports {
  readonly kind: Kind;
}

/** All primitives, in the order of `mod.ts`. */
export const KINDS: Kind[] = [];
for (const stem of Object.keys(LAYOUT)) {
  // In one literal: a bundle then holds all of them.
  const { kind } = await import(`../${stem}/kind.ts`) as Exports;
  KINDS.push(kind);
}

/** Those with a head word, so that attaching can fail. */
export const CONFIGURED: Kind[] = KINDS.filter(({ stem }) => stem in KIND);
