// Runs one test file in a worker of a page, and posts the results.
import type { FromWorker } from "./page.ts";

// WebKit has none. Weft and transpiled `using` take this one instead.
(Symbol as { dispose?: symbol }).dispose ??= Symbol.for("Symbol.dispose");

const post = (message: FromWorker) => {
  (self as unknown as Worker).postMessage(message);
};
for (const method of ["log", "error"] as const) {
  console[method] = (...words: unknown[]) =>
    post({
      output: words.map((word) => (word as Error)?.stack ?? `${word}`)
        .join(" "),
    });
}
// Only now, because uvu keeps the console that it finds when it loads.
const { runAll, runFor } = await import("../harness.ts");
runFor((note) => post({ note }));

addEventListener("message", async ({ data }) => {
  try {
    await import(data);
    await runAll();
  } catch (error) {
    post({ output: `${(error as Error).stack}` });
  }
  post({ ended: true });
}, { once: true });
post({ ready: true });
