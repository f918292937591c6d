/**
 * Regions whose seal fits a configuration that no `init` takes: only a faulty
 * or hostile program makes one.
 *
 * @module
 */
import { type KIND, LAYOUT } from "../../primitives/_memory/layout.ts";

/** Capacities and sizes of elements that no queue has. */
const QUEUES: (readonly [number, number])[] = [
  ...[[0, 4], [-8, 4], [3, 4], [8, 0], [8, 6], [8, -4]] as const,
  ...[[2 ** 28, 8], [2 ** 30, 4]] as const,
];

/** Configurations that `init` refuses, under a seal that fits them. */
export const IMPOSSIBLE: Record<string, (readonly [number, number?])[]> = {
  barrier: [[0], [-8], [4096]],
  snapshot: [[0, 0], [-8, 0], [6, 0], [8, 2], [8, -1], [2 ** 28 + 4, 0]],
  shape_table: [[0], [-4], [6], [2 ** 20 + 4]],
  spsc_queue: QUEUES,
  mpmc_queue: QUEUES,
  lock_free_queue: QUEUES,
  broadcast: [[2, 4], [1025 << 6 | 2, 4]],
  call_ring: [[0, -8], [0, 2 ** 30 + 4]],
  work_counter: [[-1, 1], [1, 0], [1, -(2 ** 16) - 1], [2 ** 30 + 1, 1]],
  work_deque: [[0], [-8], [3], [2 ** 29]],
  slab_pool: [[0, 4], [-8, 4], [8, 0], [8, 6], [8, -4], [2 ** 28, 8]],
  hash_map: [
    [0, 0x4004],
    [-8, 0x4004],
    [8, 0],
    [8, 4],
    [8, 0x4000],
    [8, 1 << 31 | 0x4004],
    [2 ** 26, 1 << 30 | 0x4004],
    [8, -(2 ** 30)],
    [2 ** 26, -(2 ** 30) | 0x4004],
    [2 ** 28, 0x4004],
  ],
  striped_counter: [[0], [-8], [1025]],
};

/** Writes a configuration into a region, and the seal that fits it. */
export function forge(
  stem: string,
  words: Int32Array,
  first: number,
  second = 0,
): void {
  const { seal } = LAYOUT[stem as keyof typeof KIND];
  words[1] = first;
  if (seal > 2) words[2] = second;
  words[seal] = ~(words[0]! ^ Math.imul(first, 31) ^
    Math.imul(second, 0x9e3779b1));
}
