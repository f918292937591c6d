/**
 * Runs test files in a browser. It serves their bundles to a page, which sends
 * back the results. No driver is needed.
 *
 * @module
 */

import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { emcc, PTHREADS } from "../../../wasm/emcc.ts";
import { bundle, bundled } from "../bundle.ts";
import type { File } from "../files.ts";
import { Missing } from "../missing.ts";
import { adopt, judge, type Outcome } from "../process.ts";
import type { Job, Said } from "./page.ts";

/** A browser's places, and the arguments that open a page without a window. */
interface Browser {
  readonly programs: readonly string[];
  /** The module that opens pages in it, if the program does not. */
  readonly opener?: string;
  args(profile: string, url: string): string[];
}

/** The browsers by name. */
export const BROWSERS: Readonly<Record<string, Browser>> = {
  chromium: {
    programs: ["chromium", "chromium-browser", "google-chrome"],
    args: (profile, url) => [
      "--headless=new",
      "--no-sandbox", // which root cannot have
      "--disable-gpu",
      "--no-first-run",
      `--user-data-dir=${profile}`,
      url,
    ],
  },
  firefox: {
    programs: ["firefox", "firefox-esr"],
    args: (profile, url) => [
      "--headless",
      "--no-remote",
      "--profile",
      profile,
      url,
    ],
  },
  webkit: {
    programs: ["WebKitWebDriver"],
    opener: fileURLToPath(new URL("./webkit.ts", import.meta.url)),
    args: (_, url) => [url],
  },
};

/** How many seconds a browser's page may be silent. */
const SILENCE = 500;
/**
 * How many of them a file may take: then the page goes on with the next one.
 */
const LIMIT = SILENCE - 50;

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const PAGE = here("./page.ts");
const WORKER = here("./worker.ts");
const EXAMPLE = here("../../../wasm/example/example.c");
const WASM = here("../../../wasm");
const MODULES = [PAGE, WORKER, here("./plain.ts"), here("./_audio.ts")];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

const ISOLATED = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

const pageOf = (module: string) =>
  '<!doctype html><meta charset="utf-8"><title>Weft</title>' +
  `<link rel="icon" href="data:,"><script type="module" src="${module}">` +
  "</script>";

/**
 * The path of a browser's program: what the variable of its name says, or the
 * one on the PATH.
 */
export function programOf(name: string): string {
  const chosen = process.env[name.toUpperCase()];
  if (chosen !== undefined) return chosen;
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const file = BROWSERS[name]!.programs
    .flatMap((program) => folders.map((folder) => path.join(folder, program)))
    .find((file) => fs.existsSync(file));
  if (file !== undefined) return file;
  throw new Missing(name);
}

/** The command that opens a page in a browser, without its arguments. */
export function commandOf(name: string): [string, ...string[]] {
  const program = programOf(name);
  const { opener } = BROWSERS[name]!;
  return opener ? [process.execPath, "run", "-A", opener] : [program];
}

/** Runs `files` in the browser `name`; returns how each of them ended. */
export async function* browse(
  name: string,
  files: readonly File[],
): AsyncGenerator<[title: string, outcome: Outcome]> {
  const [program, ...words] = commandOf(name);
  const folder = fs.mkdtempSync(path.join(tmpdir(), `weft-${name}-`));
  const root = path.join(folder, "served");
  const paths = files.map(({ path }) => path);
  await bundle([...MODULES, ...paths], root, { served: true });
  await emcc({
    sources: [EXAMPLE, here("./page.c")],
    args: [...PTHREADS, "-sPTHREAD_POOL_SIZE=1", `-I${WASM}`],
    out: path.join(root, "example.mjs"),
    quiet: true,
  });
  const jobs = files.map(({ path: file, name, limit }): Job => ({
    title: name,
    url: `/${path.relative(root, bundled(file, root))}`,
    limit: Math.min(limit, LIMIT),
  }));
  const said: Said[] = [];
  let hear = () => {};
  const server = await serve(root, jobs, (what) => {
    said.push(what);
    hear();
  });
  const { port } = server.address() as AddressInfo;
  const profile = path.join(folder, "profile");
  fs.mkdirSync(profile);
  const browser = spawn(
    program,
    [...words, ...BROWSERS[name]!.args(profile, `http://127.0.0.1:${port}/`)],
    { stdio: "ignore", detached: true },
  );
  const end = adopt(browser.pid);
  let gone: string | undefined;
  browser.on("error", (error) => (gone = error.message, hear()));
  browser.on("exit", (code) => (gone = `it ended with ${code}`, hear()));
  try {
    for (;;) {
      const what = said.shift();
      if (what === undefined) {
        if (gone !== undefined) throw new Error(gone);
        await new Promise<void>((resolve, reject) => {
          const late = new Error(`silent for ${SILENCE} s`);
          const timer = setTimeout(() => reject(late), SILENCE * 1000);
          hear = () => (clearTimeout(timer), resolve());
        });
      } else if ("title" in what) {
        const { title, notes, output, ending } = what;
        yield [title, { output, ...judge(notes, ending) }];
      } else if ("failed" in what) {
        throw new Error(what.failed);
      } else {
        return;
      }
    }
  } finally {
    end();
    server.close();
    server.closeAllConnections();
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Serves `root` on this machine only, and receives the page's messages. */
function serve(
  root: string,
  jobs: readonly Job[],
  take: (what: Said) => void,
): Promise<Server> {
  const module = (file: string) =>
    `/${path.relative(root, bundled(file, root))}`;
  const pages: Record<string, [type: string, text: string]> = {
    "/": ["text/html", pageOf(module(PAGE))],
    "/plain": ["text/html", pageOf(module(here("./plain.ts")))],
    "/jobs": ["application/json", JSON.stringify(jobs)],
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://localhost");
    const isolated = pathname === "/plain" ? {} : ISOLATED;
    const answer = (status: number, type: string, body: string | Uint8Array) =>
      response.writeHead(status, {
        ...isolated,
        "Content-Type": type,
        "Cache-Control": "no-store",
      }).end(body);
    if (request.method === "POST") {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (text) => body += text);
      request.on("end", () => {
        answer(200, "text/plain", "");
        take(JSON.parse(body));
      });
      return;
    }
    const page = pages[pathname];
    if (page !== undefined) return void answer(200, ...page);
    const file = path.join(root, path.normalize(pathname));
    fs.readFile(file, (error, data) => {
      if (error) answer(404, "text/plain", "not found");
      else answer(200, TYPES[path.extname(file)] ?? "text/plain", data);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
