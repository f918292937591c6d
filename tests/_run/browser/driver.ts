/**
 * Drives a page in a browser as a visitor would, by clicks and keys: Chromium
 * by its DevTools protocol, Firefox by WebDriver BiDi. Both are messages over a
 * WebSocket; no program besides the browser is needed.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { Missing } from "../missing.ts";
import { BROWSERS, programOf } from "./server.ts";

/** A page in a browser. */
export interface Driven {
  /** The value of an expression, which must be JSON. */
  value(expression: string): Promise<unknown>;
  /** Waits until an expression is true. */
  until(expression: string): Promise<void>;
  /** Clicks the middle of the element. */
  click(selector: string): Promise<void>;
  /** Presses a key, such as "ArrowRight", or types one character. */
  press(key: string): Promise<void>;
  /** Shows the page in light or dark (Chromium only). */
  scheme(scheme: "light" | "dark"): Promise<void>;
  /** A picture of an element, as PNG, of `scale` its size (Chromium only). */
  picture(selector: string, scale?: number): Promise<Uint8Array>;
  /**
   * What DevTools show of an expression's value if custom formatters are on:
   * the line, and what is there once it is opened (Chromium only).
   */
  shown(expression: string): Promise<{ header: unknown; body: unknown }>;
  /** Ends the browser. */
  close(): void;
}

/** How many seconds an expression may take to become true: a hang otherwise. */
const PATIENCE = 60;

type Json = Record<string, unknown>;

/** Calls of a protocol over a WebSocket. */
class Calls {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, PromiseWithResolvers<Json>>();
  #last = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const { id, result, error, message } = JSON.parse(data);
      const call = this.#pending.get(id);
      this.#pending.delete(id);
      if (error) call?.reject(new Error(message ?? error.message ?? error));
      else call?.resolve(result);
    };
    socket.onclose = () => {
      const gone = new Error("the browser has ended");
      for (const { reject } of this.#pending.values()) reject(gone);
    };
  }

  call(method: string, params: Json = {}): Promise<Json> {
    const id = ++this.#last;
    const call = Promise.withResolvers<Json>();
    this.#pending.set(id, call);
    this.#socket.send(JSON.stringify({ id, method, params }));
    return call.promise;
  }
}

function connect(url: string): Promise<Calls> {
  const socket = new WebSocket(url);
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(new Calls(socket));
    socket.onerror = () => reject(new Error(`cannot connect to ${url}`));
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a protocol must be able to do. */
type Protocol = Omit<Driven, "until" | "click" | "close"> & {
  clickAt(x: number, y: number): Promise<void>;
};

/** The keys that have no character, with their codes in Chromium. */
const CODES: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Home: 36,
  End: 35,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  ArrowLeft: 37,
};

async function chromium(profile: string, url: string): Promise<Protocol> {
  const file = path.join(profile, "DevToolsActivePort");
  const [port] = (await fileOf(file)).split("\n");
  let page: { type: string; webSocketDebuggerUrl: string } | undefined;
  while (page === undefined) {
    const list = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
    page = list.find(({ type }: { type: string }) => type === "page");
    if (page === undefined) await pause(50);
  }
  const calls = await connect(page.webSocketDebuggerUrl);
  await calls.call("Page.navigate", { url });
  const protocol: Protocol = {
    async value(expression) {
      const { result, exceptionDetails } = await calls.call(
        "Runtime.evaluate",
        { expression, returnByValue: true, awaitPromise: true },
      );
      if (exceptionDetails) {
        throw new Error(JSON.stringify(exceptionDetails).slice(0, 500));
      }
      return (result as Json).value;
    },
    async clickAt(x, y) {
      for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) {
        const button = type === "mouseMoved" ? "none" : "left";
        const event = { type, x, y, button, clickCount: 1 };
        await calls.call("Input.dispatchMouseEvent", event);
      }
    },
    async press(key) {
      const code = CODES[key];
      const text = key === "Enter"
        ? "\r"
        : code === undefined
        ? key
        : undefined;
      for (const type of ["keyDown", "keyUp"]) {
        await calls.call("Input.dispatchKeyEvent", {
          type,
          key,
          ...code !== undefined && { windowsVirtualKeyCode: code },
          ...text !== undefined && type === "keyDown" && { text },
        });
      }
    },
    async scheme(value) {
      const features = [{ name: "prefers-color-scheme", value }];
      await calls.call("Emulation.setEmulatedMedia", { features });
    },
    async picture(selector, scale = 1) {
      const clip = await protocol.value(`(() => {
        const place = document.querySelector(${JSON.stringify(selector)});
        const { x, y, width, height } = place.getBoundingClientRect();
        return {
          x: x + scrollX - 16,
          y: y + scrollY,
          width: width + 32,
          height: height + 16,
          scale: ${scale},
        };
      })()`);
      const { data } = await calls.call("Page.captureScreenshot", {
        format: "png",
        captureBeyondViewport: true,
        clip,
      });
      return Buffer.from(data as string, "base64");
    },
    async shown(expression) {
      await calls.call("Runtime.enable");
      const enabled = { enabled: true };
      await calls.call("Runtime.setCustomObjectFormatterEnabled", enabled);
      const evaluated = { expression, generatePreview: true };
      const { result } = await calls.call("Runtime.evaluate", evaluated);
      const preview = (result as { customPreview?: Json }).customPreview;
      if (preview === undefined) return { header: null, body: null };
      const { result: body } = await calls.call("Runtime.callFunctionOn", {
        objectId: preview.bodyGetterId,
        functionDeclaration: "function () { return this(); }",
        returnByValue: true,
      });
      const header = JSON.parse(preview.header as string);
      return { header, body: (body as Json).value };
    },
  };
  return protocol;
}

/** The keys of WebDriver that have no character. */
const KEYS: Readonly<Record<string, string>> = {
  Tab: "\uE004",
  Enter: "\uE007",
  End: "\uE010",
  Home: "\uE011",
  ArrowLeft: "\uE012",
  ArrowUp: "\uE013",
  ArrowRight: "\uE014",
  ArrowDown: "\uE015",
};

async function firefox(profile: string, url: string): Promise<Protocol> {
  const file = path.join(profile, "WebDriverBiDiServer.json");
  const { ws_host, ws_port } = JSON.parse(await fileOf(file));
  const calls = await connect(`ws://${ws_host}:${ws_port}/session`);
  await calls.call("session.new", { capabilities: {} });
  const { contexts } = await calls.call("browsingContext.getTree");
  const { context } = (contexts as { context: string }[])[0]!;
  await calls.call("browsingContext.navigate", { context, url, wait: "none" });
  const perform = async (type: string, actions: Json[]) => {
    const source = { type, id: type, actions };
    const params = { context, actions: [source] };
    await calls.call("input.performActions", params);
  };
  return {
    async value(expression) {
      const { result, exceptionDetails } = await calls.call("script.evaluate", {
        expression: `(async () => JSON.stringify(await (${expression})))()`,
        target: { context },
        awaitPromise: true,
      });
      if (exceptionDetails) {
        throw new Error(JSON.stringify(exceptionDetails).slice(0, 500));
      }
      const text = (result as { value?: string }).value;
      return text === undefined ? undefined : JSON.parse(text);
    },
    async clickAt(x, y) {
      await perform("pointer", [
        { type: "pointerMove", x: Math.round(x), y: Math.round(y) },
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      ]);
    },
    async press(key) {
      const value = KEYS[key] ?? key;
      await perform("key", [
        { type: "keyDown", value },
        { type: "keyUp", value },
      ]);
    },
    scheme() {
      throw new Error("only in Chromium");
    },
    picture() {
      throw new Error("only Chromium takes pictures");
    },
    shown() {
      throw new Error("only Chromium tells what DevTools show");
    },
  };
}

/** The text of a file, once there is one. */
async function fileOf(file: string): Promise<string> {
  const end = performance.now() + PATIENCE * 1000;
  while (performance.now() < end) {
    try {
      const text = fs.readFileSync(file, "utf8");
      if (text.includes("\n") || text.includes("}")) return text;
    } catch {
      // not yet
    }
    await pause(50);
  }
  throw new Error("the browser does not begin");
}

/** Arguments besides those that every page has. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  chromium: [
    "--remote-debugging-port=0",
    "--window-size=1120,900",
    "--autoplay-policy=user-gesture-required",
  ],
  firefox: ["--remote-debugging-port", "0", "--width=1120", "--height=900"],
};

/** How often a browser is started before it counts as missing. */
const ATTEMPTS = 3;

/**
 * Opens `url` in the browser `name`.
 *
 * @throws {Missing} If it is not on this machine, or never begins: that says
 * nothing about the page.
 */
export async function drive(name: string, url: string): Promise<Driven> {
  const program = programOf(name);
  let why: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      return await begin(name, program, url);
    } catch (error) {
      why = error;
    }
  }
  throw new Missing(`${name} that runs`, { cause: why });
}

async function begin(
  name: string,
  program: string,
  url: string,
): Promise<Driven> {
  const profile = fs.mkdtempSync(path.join(tmpdir(), `weft-${name}-`));
  const words = BROWSERS[name]!.args(profile, "about:blank");
  const browser = spawn(program, [...MORE[name]!, ...words], {
    stdio: "ignore",
    detached: true,
  });
  const close = () => {
    try {
      process.kill(-browser.pid!, "SIGKILL");
    } catch {
      // It has ended.
    }
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const open = name === "firefox" ? firefox : chromium;
    const gone = new Promise<never>((_, reject) => {
      browser.on("error", reject);
      browser.on("exit", () => reject(new Error("the browser has ended")));
    });
    gone.catch(() => {});
    const protocol = await Promise.race([open(profile, url), gone]);
    const until = async (expression: string) => {
      const end = performance.now() + PATIENCE * 1000;
      while (performance.now() < end) {
        // While a page loads, there may be nothing to ask.
        if (await protocol.value(expression).catch(() => false) === true) {
          return;
        }
        await pause(30);
      }
      const text = await protocol.value("document.body.innerText");
      throw new Error(`never: ${expression}\n${text}`);
    };
    const click = async (selector: string) => {
      const name = JSON.stringify(selector);
      const [x, y] = await protocol.value(`(() => {
        const element = document.querySelector(${name});
        element.scrollIntoView({ block: "nearest" });
        const { x, y, width, height } = element.getBoundingClientRect();
        return [x + width / 2, y + height / 2];
      })()`) as [number, number];
      await protocol.clickAt(x, y);
    };
    return { ...protocol, until, click, close };
  } catch (error) {
    close();
    throw error;
  }
}
