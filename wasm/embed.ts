/**
 * Writes `_header_text.ts`, which holds `weft.h` as a string: a module loaded
 * from JSR or npm cannot read the files beside it. `deno task header` runs it;
 * a test compares the two files.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";

const text = readFileSync(new URL("./weft.h", import.meta.url), "utf8");

writeFileSync(
  new URL("./_header_text.ts", import.meta.url),
  `// Made from weft.h by \`deno task header\`.

/** The text of \`weft.h\`. */
export const TEXT: string = \`${text.replace(/[\\`]|\$\{/g, "\\$&")}\`;
`,
);
