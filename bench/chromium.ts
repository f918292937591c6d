/**
 * Measures a group in a worker of a page in Chromium.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ISOLATED, serve } from "../docs/page/serve.ts";
import { drive } from "../tests/_run/browser/driver.ts";
import { bundle, bundled } from "../tests/_run/bundle.ts";
import type { Order } from "./_page.ts";
import type { Row } from "./contest.ts";

const WORKER = fileURLToPath(new URL("./_page.ts", import.meta.url));

/** The rows of the group whose module is `file`; `folder` takes the bundles. */
export async function measureInChromium(
  file: string,
  folder: string,
): Promise<Row[]> {
  const root = path.join(folder, "page");
  await bundle([WORKER, file], root, { served: true, standIns: true });
  fs.writeFileSync(path.join(root, "index.html"), "<!doctype html>");
  const at = (file: string) => `/${path.relative(root, bundled(file, root))}`;
  const { BENCH_PATIENCE } = process.env;
  const order: Order = { module: at(file), env: { BENCH_PATIENCE } };
  const { server, url } = await serve(root, ISOLATED);
  const page = await drive("chromium", url);
  try {
    await page.until("crossOriginIsolated");
    return await page.value(`new Promise((resolve, reject) => {
      const worker = new Worker("${at(WORKER)}", { type: "module" });
      worker.onmessage = ({ data }) =>
        "rows" in data ? resolve(data.rows) : reject(new Error(data.failed));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(${JSON.stringify(order)});
    })`) as Row[];
  } finally {
    page.close();
    server.close();
    server.closeAllConnections();
  }
}
