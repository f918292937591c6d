/**
 * Opens a page in WebKitGTK, which is driven by WebDriver and needs a display:
 *
 * ```sh
 * deno run -A webkit.ts URL
 * deno run -A webkit.ts --version
 * ```
 *
 * It runs until it is killed, with its group of processes.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";

/** Starts a display without a screen, and returns its number. */
async function display(): Promise<[ChildProcess, string]> {
  const size = ["-screen", "0", "1120x900x24"];
  const words = ["-displayfd", "1", "-nolisten", "tcp", ...size];
  const server = spawn("Xvfb", words, { stdio: ["ignore", "pipe", "ignore"] });
  const [number] = await once(server.stdout!, "data");
  return [server, `:${`${number}`.trim()}`];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Sends a command of WebDriver, as soon as the driver listens. */
async function send(
  url: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  for (let turn = 0;; turn++) {
    try {
      const request = { method: "POST", body: JSON.stringify(body) };
      const { value } = await (await fetch(url, request)).json();
      if (value?.error) throw new TypeError(`${value.error} ${value.message}`);
      return value;
    } catch (error) {
      if (turn === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const [server, DISPLAY] = await display();
const port = await freePort();
const driver = spawn("WebKitWebDriver", [`--port=${port}`], {
  stdio: "ignore",
  // WebKitGTK has SharedArrayBuffer only with this.
  env: { ...process.env, DISPLAY, JSC_useSharedArrayBuffer: "1" },
});
const at = `http://127.0.0.1:${port}/session`;
const { sessionId, capabilities } = await send(at, { capabilities: {} });
const [url] = process.argv.slice(2);
if (url === "--version") {
  console.log((capabilities as { browserVersion: string }).browserVersion);
  await fetch(`${at}/${sessionId}`, { method: "DELETE" });
  driver.kill();
  server.kill();
  process.exit();
}
await send(`${at}/${sessionId}/url`, { url });
