/**
 * The published code that the race tester is put to.
 *
 * @module
 */
import type { Published } from "./_kit.ts";
import { published as asymmetricIoMutex } from "./asymmetric_io_mutex.ts";
import { audioRings } from "./audio_rings.ts";
import { published as awaitSync } from "./await_sync.ts";
import { published as coincident } from "./coincident.ts";
import { esfx } from "./esfx.ts";
import { published as makeSynchronized } from "./make_synchronized.ts";
import { published as makeSynchronous } from "./make_synchronous.ts";
import { published as memfs } from "./memfs.ts";
import { published as multithreading } from "./multithreading.ts";
import { published as piscina } from "./piscina.ts";
import { published as ringbufJs } from "./ringbuf_js.ts";
import { published as syncMessage } from "./sync_message.ts";
import { published as syncMessagePort } from "./sync_message_port.ts";
import { published as syncThreads } from "./sync_threads.ts";
import { published as synckit } from "./synckit.ts";
import { published as synclink } from "./synclink.ts";
import { published as threadStream } from "./thread_stream.ts";
import { published as tinypool } from "./tinypool.ts";
import { published as wasmRuntime } from "./wasm_runtime.ts";
import { published as webMutex } from "./web_mutex.ts";

/** The packages and the models, in the order of the page. */
export const PACKAGES: readonly Published[] = [
  multithreading,
  ringbufJs,
  awaitSync,
  coincident,
  syncThreads,
  syncMessage,
  syncMessagePort,
  makeSynchronous,
  makeSynchronized,
  threadStream,
  piscina,
  tinypool,
  wasmRuntime,
  synclink,
  asymmetricIoMutex,
  synckit,
  memfs,
  ...esfx,
  webMutex,
  ...audioRings,
];
