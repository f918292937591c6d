/**
 * All workloads, in the order of the page.
 *
 * @module
 */

import { allocators } from "./allocators/workload.ts";
import { fileIo } from "./file_io/workload.ts";
import { denoPool, dispatch, hashPool } from "./hash_pool/workload.ts";
import { pageFiles } from "./page_files/workload.ts";
import type { Workload } from "./workload.ts";

/** See the list. */
export const WORKLOADS: readonly Workload[] = [
  hashPool,
  dispatch,
  denoPool,
  allocators,
  fileIo,
  pageFiles,
];
