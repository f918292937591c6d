/**
 * `deno task site`: builds the site.
 *
 * @module
 */
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { complain, wordsOf } from "../../tests/_run/usage.ts";
import { serveAt } from "../page/serve.ts";
import { buildSite } from "./build.ts";

const USAGE = `usage: deno task site [--out FOLDER] [--port N]
Builds the site from docs and serves it to this machine.

  --out FOLDER  only builds it, into this folder, for any static host
  --port N      the port to serve it at; else the first that is free from 8000`;

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
  try {
    const { url } = await serveAt(values.port as string, out);
    console.log(url);
  } catch (error) {
    console.error(`${(error as Error).message}; --port names another one`);
    process.exit(1);
  }
}
