/**
 * Files from the main thread of a page, in Chromium.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ISOLATED, serve } from "../../../docs/page/serve.ts";
import { drive } from "../../../tests/_run/browser/driver.ts";
import { bundle, bundled } from "../../../tests/_run/bundle.ts";
import { median } from "../../contest.ts";
import type { Table, Workload } from "../workload.ts";
import type { Cost } from "./main.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const KEEPER = fileURLToPath(new URL("./keeper.ts", import.meta.url));
const FOLDER = fileURLToPath(
  new URL(`../../../.weft/workloads/page-${process.pid}`, import.meta.url),
);

/** Measures in a page; each round is a new page. */
async function inChromium(count: number, rounds: number): Promise<Cost[]> {
  await bundle([MAIN, KEEPER], FOLDER, { served: true, standIns: true });
  const at = (file: string) =>
    `/${path.relative(FOLDER, bundled(file, FOLDER))}`;
  fs.writeFileSync(
    path.join(FOLDER, "index.html"),
    `<!doctype html><script type="module" src="${at(MAIN)}"></script>`,
  );
  const { server, url } = await serve(FOLDER, ISOLATED);
  const costs: Cost[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const page = await drive("chromium", url);
      try {
        await page.until("'measureFiles' in globalThis");
        const work = `measureFiles("${at(KEEPER)}", ${count})`;
        costs.push(...await page.value(work) as Cost[]);
      } finally {
        page.close();
      }
    }
  } finally {
    server.close();
    server.closeAllConnections();
    fs.rmSync(FOLDER, { recursive: true, force: true });
  }
  return costs;
}

/** Files from the main thread of a page. */
export const pageFiles: Workload = {
  name: "page_files",
  title: "Files from a page's main thread",
  async measure({ tiny }) {
    const costs = await inChromium(tiny ? 40 : 4000, tiny ? 1 : 3);
    const names = new Set(costs.map(({ way, step }) => `${step}: ${way}`));
    const middle = (figures: readonly number[]) =>
      Math.round(median(figures) * 1000) / 1000;
    const findings = [...names].map((name) => {
      const own = costs.filter(({ way, step }) => `${step}: ${way}` === name);
      const { way, step } = own[0]!;
      const each = middle(own.map(({ each }) => each));
      return { way, step, each, pause: middle(own.map((it) => it.pause)) };
    });
    const table: Table = {
      id: "pieces_page",
      title: "Pieces of 64 bytes from the main thread of a page, Chromium",
      of: "way",
      by: "step",
      figure: "each",
      unit: "µs a step",
      chart: ["write", "read"],
      logarithmic: true,
      details: {
        at: "write",
        columns: {
          each: "µs a step",
          pause: "main thread's longest pause, ms",
        },
      },
      findings,
    };
    return [table];
  },
};
