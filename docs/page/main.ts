/// <reference lib="dom" />
/**
 * The page: starts its four parts, once it is isolated.
 *
 * @module
 */
import { isSupported } from "@weft/sync";
import { at } from "./dom.ts";
import { watchFrames } from "./frames.ts";
import { showTester } from "./tester.ts";

/** Says what is wrong, at the top of the page. */
function complain(what: unknown) {
  const place = at("unsupported");
  place.hidden = false;
  place.textContent = `${what}`;
}

const supported = isSupported();
if (supported.ok) {
  addEventListener("error", ({ message }) => complain(message));
  addEventListener("unhandledrejection", ({ reason }) => complain(reason));
  showTester();
  watchFrames();
  const { startCrowd } = await import("./crowd.ts"); // it allocates
  await startCrowd();
  const { showStuck } = await import("./stuck.ts");
  showStuck();
  const { showTone } = await import("./tone.ts");
  showTone();
} else {
  // isolate.js reloads the page in a moment, if it can.
  setTimeout(complain, 3000, `This page cannot run here: ${supported.reason}`);
}
