/**
 * What `inspect` shows of a `CallRing`, and how it finds problems.
 *
 * @module
 */

import { CALL_RING } from "../../_memory/layout.ts";
import type { WordsProblems } from "../../_memory/problems.ts";
import type { WordsInspection } from "../../_memory/region.ts";
import { waitersOf } from "../../_wait/event_count.ts";
import {
  bytesFor,
  DROPPED,
  FAILED,
  FREE,
  ID_MASK,
  PHASE_MASK,
  POSTED,
  REPLIED,
  REPLY,
  REPLY_LENGTH,
  REQUEST_LENGTH,
  requestOf,
  SERVE_EPOCH,
  SERVING,
  SHAPE,
  SLOT_EPOCH,
  SLOTS,
  slotsOf,
  strideFor,
} from "./words.ts";

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: CALL_RING,
  waiters: (words) =>
    waitersOf(words, SERVE_EPOCH) + waitersOf(words, SLOT_EPOCH),
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (shape, reply) => bytesFor(shape, reply),
  behind: (region, tell) => {
    const shape = region[SHAPE]!;
    const most = { request: requestOf(shape), reply: region[REPLY]! };
    const stride = strideFor(most.request, most.reply);
    for (let slot = 0; slot < slotsOf(shape); slot++) {
      const at = SLOTS + slot * stride;
      const name = `slot ${slot}`;
      const state = Atomics.load(region, at);
      const phase = state & PHASE_MASK;
      if (phase !== FREE && (state & ID_MASK) === 0) {
        tell(at, name, state, "It is in use, but names no agent.");
      }
      const asked = phase === POSTED || phase === SERVING || phase === DROPPED;
      const request = Atomics.load(region, at + REQUEST_LENGTH);
      if (asked && request >>> 0 > most.request) {
        tell(
          at + REQUEST_LENGTH,
          name,
          request,
          "The request is too long for a slot.",
        );
      }
      const reply = Atomics.load(region, at + REPLY_LENGTH);
      const answered = phase === REPLIED || phase === FAILED;
      if (answered && reply >>> 0 > most.reply) {
        tell(
          at + REPLY_LENGTH,
          name,
          reply,
          "The reply is too long for a slot.",
        );
      }
    }
  },
};
