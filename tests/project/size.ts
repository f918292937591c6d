/**
 * What each export costs a bundle that uses it alone: minified, unused code
 * dropped, gzipped. `deno task size` prints the table.
 *
 * @module
 */

import * as esbuild from "esbuild";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { load } from "../_run/folders.ts";
import type { Size } from "../_run/kinds.ts";
import { wordsOf } from "../_run/usage.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** A bundle of a module, or of all of it if the name is `*`. */
export interface Sized extends Size {
  readonly from: string;
}

/** The public modules, in the order of mod.ts. */
const STEMS = [
  ...fs.readFileSync(`${PROJECT}mod.ts`, "utf8")
    .matchAll(/ from "\.\/primitives\/([a-z]\w+)\.ts"/g),
].map(([, stem]) => stem!);

/** All of them: each folder's `kind.ts` says what it may cost. */
export const SIZES: Sized[] = [];
for (const stem of STEMS) {
  const { size } = await load<{ size: Size }>(stem, "kind.ts");
  SIZES.push({ ...size, from: `./primitives/${stem}.ts` });
}
SIZES.push({ name: "*", from: "./mod.ts", most: 41000 });

/** Measures one. The bytes of its modules are those before gzip. */
export async function measure({ name, from }: Sized): Promise<
  { gzipped: number; minified: number; modules: [string, number][] }
> {
  const what = name === "*" ? "*" : `{ ${name} }`;
  const { outputFiles, metafile } = await esbuild.build({
    stdin: {
      contents: `export ${what} from ${JSON.stringify(from)};`,
      resolveDir: PROJECT,
    },
    absWorkingDir: PROJECT,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    logLevel: "error",
  });
  const [{ inputs }] = Object.values(metafile.outputs) as [
    esbuild.Metafile["outputs"][string],
  ];
  const { contents } = outputFiles[0]!;
  return {
    gzipped: gzipSync(contents, { level: 9 }).length,
    minified: contents.length,
    modules: Object.entries(inputs)
      .map(([file, { bytesInOutput }]): [string, number] => [
        file.replace("primitives/", ""),
        bytesInOutput,
      ])
      .filter(([, bytes]) => bytes > 0)
      .toSorted((a, b) => b[1] - a[1]),
  };
}

if (import.meta.main) {
  wordsOf("usage: deno task size\nPrints what each export costs a bundle.");
  console.log("export            gzip   most   minified, by module");
  for (const entry of SIZES) {
    const { gzipped, minified, modules } = await measure(entry);
    const bytes = [gzipped, entry.most].map((n) => `${n}`.padStart(5));
    const parts = entry.name === "*"
      ? ""
      : `: ${modules.map((part) => part.join(" ")).join(", ")}`;
    console.log(
      `${entry.name.padEnd(15)} ${bytes.join("  ")}  ${minified}${parts}`,
    );
  }
  await esbuild.stop();
}
