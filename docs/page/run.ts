/**
 * `deno task page`: builds the page, and shows where to look at it.
 *
 * @module
 */
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { complain, wordsOf } from "../../tests/_run/usage.ts";
import { buildPage } from "./build.ts";
import { ISOLATED, serveAt } from "./serve.ts";

const USAGE = `usage: deno task page [--out FOLDER] [--port N] [--pictures]
Builds the page of docs/page and serves it to this machine.

  --out FOLDER  only builds it, into this folder, for any static host
  --port N      the port to serve it at; else the first that is free from 8000
  --pictures    takes the pictures of it in docs, also the moving one, by
                Chromium, and ends`;

const { values, positionals } = wordsOf(USAGE, {
  out: "string",
  port: "string",
  pictures: "boolean",
});
if (positionals.length > 0) complain("deno task page takes options only");
if (typeof values.out === "string") {
  await buildPage(path.resolve(values.out));
} else {
  const out = fileURLToPath(new URL("../../.weft/page/site", import.meta.url));
  await buildPage(out);
  if (values.pictures) {
    const { takePictures } = await import("./pictures.ts");
    await takePictures(out);
    process.exit();
  }
  try {
    const { url } = await serveAt(values.port as string, out, ISOLATED);
    console.log(url);
  } catch (error) {
    console.error(`${(error as Error).message}; --port names another one`);
    process.exit(1);
  }
}
