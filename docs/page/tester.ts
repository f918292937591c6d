/// <reference lib="dom" />
/**
 * The race tester, on lines that the visitor writes.
 *
 * @module
 */
import { at, write } from "./dom.ts";
import type { Verdict } from "./explorer.ts";

const BROKEN = `// Each agent adds 1. What can go wrong?
const old = Atomics.load(words, 0);
const sum = old + 1;

Atomics.store(words, 0, sum);`;

const FIXED = `// Each agent adds 1. Atomics.add does the same.
for (let old = Atomics.load(words, 0), seen; ; old = seen) {
  seen = Atomics.compareExchange(words, 0, old, old + 1);
  if (seen === old) break; // nobody came between
}`;

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

/** Lets the button run the tester. */
export function showTester(): void {
  const code = at<HTMLTextAreaElement>("code");
  const run = at<HTMLButtonElement>("run");
  const fix = at<HTMLInputElement>("fix");
  const verdict = at("verdict");
  const steps = at<HTMLIFrameElement>("steps");
  code.value = BROKEN;
  fix.addEventListener("change", () => {
    code.value = fix.checked ? FIXED : BROKEN;
    write(verdict, "");
  });
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
      steps.focus(); // arrow keys step through it
    };
  });
}
