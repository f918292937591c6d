/**
 * Opens a page of a test's own in a real Chromium.
 *
 * @module
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { serve } from "../../../docs/page/serve.ts";
import { drive, type Driven } from "./driver.ts";
import { programOf } from "./server.ts";

/** A page, and how it is served. */
export interface Visited {
  /** Writes `index.html`, and what else the page needs, into a folder. */
  readonly write: (folder: string) => void | Promise<void>;
  readonly headers?: Readonly<Record<string, string>>;
  /** An expression that is true once the page is ready. */
  readonly ready: string;
}

/** Looks at the page; skips the test where there is no Chromium. */
export async function visit(
  { write, headers = {}, ready }: Visited,
  look: (page: Driven) => Promise<void>,
): Promise<void> {
  programOf("chromium"); // before the page is made
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-visit-"));
  try {
    await write(folder);
    const { server, url } = await serve(folder, headers);
    let browser: Driven | undefined;
    try {
      browser = await drive("chromium", url);
      await browser.until(ready);
      await look(browser);
    } finally {
      browser?.close();
      server.close();
      server.closeAllConnections();
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
