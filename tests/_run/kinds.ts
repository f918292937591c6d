/**
 * What is promised of every primitive is tested by its `kind.ts`: how it is
 * made and used, and what it costs a bundle.
 *
 * @module
 */

import type { Handle, Memory, Region } from "../../mod.ts";
import { KIND, LAYOUT } from "../../primitives/_layout.ts";

/** How one primitive is made, attached to and used. */
export interface Kind {
  stem: string;
  byteLength: number;
  init(memory: Memory, byteOffset: number | bigint): Region;
  attach(memory: Memory, byteOffset?: number | bigint): Region;
  from(handle: Handle): Region;
  /** Changes it, by one view, so that {@linkcode Kind.used} can tell. */
  use(view: Region): void;
  /** Whether {@linkcode Kind.use} was called once, as another view sees it. */
  used(view: Region): boolean;
}

/** What is imported of a module, and the most bytes that it may cost. */
export interface Size {
  readonly name: string;
  /** What was reached, rounded up. */
  readonly most: number;
}

/** What `kind.ts` of a primitive's folder exports. */
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
