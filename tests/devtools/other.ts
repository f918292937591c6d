/**
 * The formatter of another library, which was there before.
 *
 * @module
 */

import type { Formatter } from "../../primitives/tools/devtools.ts";

/** It shows nothing. */
export const OTHER: Formatter = {
  header: () => null,
  hasBody: () => false,
  body: () => null,
};

(globalThis as { devtoolsFormatters?: Formatter[] }).devtoolsFormatters = [
  OTHER,
];
