/**
 * Serves plain files to browsers on this machine.
 *
 * @module
 */
import * as fs from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** The headers that isolate a page. */
export const ISOLATED: Readonly<Record<string, string>> = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** A server that runs. */
export interface Serving {
  readonly server: Server;
  readonly url: string;
}

/**
 * Where tasks serve unless they are told another port, and how far they look.
 */
const PORTS = { first: 8000, last: 8019 };

/**
 * Serves `root` with `headers` at the port `said`, or at the first one that no
 * other program has.
 */
export async function serveAt(
  said: string | undefined,
  root: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  if (said !== undefined) {
    const port = /^\d+$/.test(said) ? Number(said) : 0;
    if (port > 0 && port < 65536) return await serve(root, headers, port);
    throw new RangeError(`the port is "${said}", but it must be 1 to 65535`);
  }
  for (let port = PORTS.first;; port++) {
    try {
      return await serve(root, headers, port);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "EADDRINUSE" || port === PORTS.last) throw error;
    }
  }
}

/** The file below `root` that `url`, the address in a request, asks for. */
function fileOf(root: string, url: string): string | undefined {
  try {
    const { pathname } = new URL(url, "http://localhost");
    const name = decodeURIComponent(pathname);
    // A URL has no "..", but "%2f" hides one; a file system has no NUL.
    if (/\0|(^|[/\\])\.\.([/\\]|$)/.test(name)) return undefined;
    return path.join(root, name.endsWith("/") ? `${name}index.html` : name);
  } catch {
    return undefined; // it is no address
  }
}

/** Serves `root` with `headers`, at `port`, or at any that is free. */
export function serve(
  root: string,
  headers: Readonly<Record<string, string>> = {},
  port = 0,
): Promise<Serving> {
  const server = createServer((request, response) => {
    const name = fileOf(root, request.url!);
    if (name === undefined) {
      response.writeHead(404, headers).end("not found");
      return;
    }
    fs.readFile(name, (error, data) => {
      const type = TYPES[path.extname(name)] ?? "text/plain";
      response.writeHead(error ? 404 : 200, {
        ...headers,
        "Content-Type": type,
        "Cache-Control": "no-store",
      }).end(error ? "not found" : data);
    });
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({ server, url: `http://127.0.0.1:${port}/` });
    });
  });
}
