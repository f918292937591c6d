/// <reference lib="dom" />
/**
 * The race tester, on lines that the visitor writes.
 *
 * @module
 */
import { at, write } from "./dom.ts";
import type { Verdict } from "./explorer.ts";
import { EXAMPLES } from "./tester_examples.ts";

/** The time in ms after which lines that do not end are given up. */
const PATIENCE = 20_000;

/** What the tester says of `code`. */
function explore(code: string): Promise<Verdict> {
  const worker = new Worker("explorer.js", { type: "module" });
  const { port1, port2 } = new MessageChannel();
  return new Promise<Verdict>((resolve) => {
    const late = () => resolve({ error: "The lines do not end." });
    const timer = setTimeout(late, PATIENCE);
    port1.onmessage = ({ data }) => (clearTimeout(timer), resolve(data));
    worker.onerror = ({ message }) => resolve({ error: message });
    worker.postMessage(code, [port2]);
  }).finally(() => {
    worker.terminate();
    port1.close();
  });
}

/** The mark in the address before the lines. */
const MARK = "#code=";

/** The lines that the address holds, if any. */
function linesInAddress(): string | undefined {
  if (!location.hash.startsWith(MARK)) return undefined;
  try {
    return decodeURIComponent(location.hash.slice(MARK.length));
  } catch {
    return undefined; // cut in the middle of a character
  }
}

/** Lets a visitor pick an example; `taken` is called with its lines. */
function offerExamples(taken: (lines: string) => void): HTMLSelectElement {
  const select = at<HTMLSelectElement>("example");
  for (const name of Object.keys(EXAMPLES)) select.add(new Option(name));
  select.add(new Option("your own", ""));
  select.addEventListener("change", () => {
    if (select.value !== "") taken(EXAMPLES[select.value]!);
  });
  return select;
}

/** Lets the button run the tester. */
export function showTester(): void {
  const code = at<HTMLTextAreaElement>("code");
  const run = at<HTMLButtonElement>("run");
  const verdict = at("verdict");
  const steps = at<HTMLIFrameElement>("steps");
  const take = (lines: string) => {
    code.value = lines;
    write(verdict, "");
    steps.hidden = true;
  };
  /** Whoever gets this address sees the same lines. */
  const keep = () => {
    const [name = ""] = Object.entries(EXAMPLES)
      .find(([, lines]) => lines === code.value) ?? [];
    select.value = name;
    const hash = `${MARK}${encodeURIComponent(code.value)}`;
    history.replaceState(null, "", hash);
  };
  const select = offerExamples((lines) => (take(lines), keep()));
  take(EXAMPLES[select.value]!);
  const read = () => {
    const lines = linesInAddress();
    if (lines === undefined || lines === code.value) return;
    take(lines);
    keep();
  };
  read();
  addEventListener("hashchange", read);
  code.addEventListener("input", keep);
  run.addEventListener("click", async () => {
    run.disabled = true;
    write(verdict, "exploring …");
    const found = await explore(code.value);
    run.disabled = false;
    steps.hidden = true;
    const bad = "error" in found || !found.ok;
    verdict.classList.toggle("bad", bad);
    if ("error" in found) return write(verdict, found.error);
    if (found.ok) {
      return write(verdict, `Right in every interleaving (${found.summary}).`);
    }
    write(verdict, found.message);
    steps.hidden = false;
    steps.srcdoc = found.page;
    steps.onload = () => {
      const { scrollHeight } = steps.contentDocument!.documentElement;
      steps.style.height = `${Math.min(scrollHeight + 8, 560)}px`;
      steps.focus({ preventScroll: true }); // arrow keys step through it
    };
  });
}
