/// <reference lib="dom" />
/**
 * The slots of the queue and the word of the lock, as they lie in memory.
 *
 * @module
 */
import type { MpmcQueue, Mutex } from "@weft/sync";
import {
  MPMC_QUEUE,
  MUTEX,
  MUTEX_BITS,
} from "../../primitives/_memory/layout.ts";
import { strideFor } from "../../primitives/_queue/mpmc/slots.ts";
import { make, write } from "./dom.ts";

/** Draws something that lies in memory, again whenever it is called. */
export type Draw = () => void;

/** A row of cells that a screen reader takes for one picture. */
function cells(count: number, name: string, label: string): HTMLElement {
  const all = Array.from({ length: count }, () => make("i"));
  const element = make("div", name, ...all);
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", label);
  return element;
}

/** Shows each slot: free, being written, filled, being read. */
export function drawSlots(place: HTMLElement, queue: MpmcQueue<unknown>): Draw {
  const { buffer, byteOffset, capacity } = queue;
  const words = new Int32Array(buffer, byteOffset);
  const stride = strideFor(4);
  const slots = cells(capacity, "slots", "The slots of the queue");
  const label = "slots; red while an agent writes or reads one";
  place.append(make("div", "gauge", slots, make("div", "text", label)));
  return () => {
    const head = Atomics.load(words, MPMC_QUEUE.head);
    const tail = Atomics.load(words, MPMC_QUEUE.tail);
    for (let i = 0; i < capacity; i++) {
      const turn = Atomics.load(words, MPMC_QUEUE.length + i * stride);
      // An end beyond the slot's ticket: an agent has claimed the slot.
      const doing = turn & 1
        ? (head - turn | 0) > 0 ? "read" : "full"
        : (tail - turn | 0) > 0
        ? "written"
        : "";
      const cell = slots.children[i]!;
      if (cell.className !== doing) cell.className = doing;
    }
  };
}

const FLAGS = ["CONTENDED", "HANDOFF", "ABANDONED"] as const;

/** Shows the 32 bits of the lock's first word, the highest first. */
export function drawWord(place: HTMLElement, lock: Mutex): Draw {
  const words = new Int32Array(lock.buffer, lock.byteOffset);
  const bits = cells(32, "bits", "The word of the lock, bit by bit");
  const said = make("span", "value");
  place.append(bits, make("div", "text", make("span", "", "state"), said));
  return () => {
    const state = Atomics.load(words, MUTEX.state);
    const [, last] = MUTEX_BITS.OWNER;
    for (let bit = 0; bit < 32; bit++) {
      const name = (state >>> bit & 1) === 0
        ? ""
        : bit <= last
        ? "own"
        : "flag";
      const cell = bits.children[31 - bit]!;
      if (cell.className !== name) cell.className = name;
    }
    const owner = state & ((1 << last + 1) - 1);
    const set = FLAGS.filter((flag) => state >>> MUTEX_BITS[flag] & 1)
      .map((flag) => flag.toLowerCase());
    const parts = [owner === 0 ? "no owner" : `owner ${owner}`, ...set];
    write(said, state === 0 ? "0, unlocked" : parts.join(", "));
  };
}
