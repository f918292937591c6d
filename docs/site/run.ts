/**
 * `deno task site`: builds the site.
 *
 * @module
 */
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { complain, wordsOf } from "../../tests/_run/usage.ts";
import { serve } from "../page/serve.ts";
import { buildSite } from "./build.ts";

const USAGE = `usage: deno task site [--out FOLDER] [--port N]
Builds the site from docs and serves it to this machine.

  --out FOLDER  only builds it, into this folder, for any static host
  --port N      the port to serve it at; 8000 by default`;

const { values, positionals } = wordsOf(USAGE, {
  out: "string",
  port: "string",
});
if (positionals.length > 0) complain("deno task site takes options only");
if (typeof values.out === "string") {
  await buildSite(path.resolve(values.out));
} else {
  const out = fileURLToPath(new URL("../../.weft/site", import.meta.url));
  await buildSite(out);
  const { url } = await serve(out, {}, Number(values.port ?? 8000));
  console.log(url);
}
