// For Emscripten's threads under Bun, which calls no `onmessage` in a worker of
// node:worker_threads: `emcc -pthread --pre-js bun.js`. Does nothing elsewhere.
if (
  globalThis.Bun && typeof ENVIRONMENT_IS_PTHREAD !== "undefined" &&
  ENVIRONMENT_IS_PTHREAD
) {
  worker_threads.parentPort.on(
    "message",
    (data) => globalThis.onmessage?.({ data }),
  );
}
