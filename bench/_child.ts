// A program: measures one group in the runtime that runs it. Its arguments are
// the module of the group, and the file that takes the rows.
import * as fs from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { Row } from "./contest.ts";

const [module, out] = process.argv.slice(2);
const { rows } = await import(pathToFileURL(module!).href) as {
  rows(): Promise<Row[]>;
};
fs.writeFileSync(out!, JSON.stringify(await rows()));
process.exit(0);
