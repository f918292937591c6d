/**
 * How a call goes through the slots of a ring: in one piece or in several,
 * there and back, until its answer is whole.
 *
 * @module
 */

import { CALL_RING } from "../../_memory/layout.ts";
import { readUtf8 } from "../../_message/utf8.ts";
import { ClosedError } from "../../_queue/queue.ts";
import { wake } from "../../_wait/event_count.ts";
import { waitOn } from "../../_wait/pending.ts";
import type { Waiting } from "../../_wait/wait.ts";
import type { Sleep } from "../../_wait/waiter.ts";
import { CallError } from "../ring/answers.ts";
import { answered, cancel, giveUp, isDead } from "../ring/call.ts";
import type { Slots } from "../ring/slots.ts";
import { FREE, PHASE_MASK, POSTED } from "../ring/words.ts";
import { joined } from "../pieces.ts";
import {
  agentOf,
  ANSWER,
  ANSWER_AGENT,
  ELSEWHERE,
  FETCH,
  HEAD,
  KEPT_MS,
  MORE,
  NAME_LENGTH,
  NOTHING,
  OF_OBJECT,
  OFFSET,
  PIECE,
  PIECE_HEAD,
  PIECE_OF_CALL,
  putWord,
  RESTART,
  TOKEN,
  WHAT,
  WHOLE,
  wordAt,
} from "../wire.ts";

/** What a server may have lost. */
const PIECES = "other pieces";

/** How a call ended, or the first piece of its reply. */
export interface Answer {
  readonly what: number;
  /**
   * The value, the bytes of a piece, or the request if it must be sent again.
   */
  readonly value: unknown;
  /** The slot, which is kept because more goes there; 0 if it was freed. */
  readonly at: number;
}

/**
 * A slot is kept behind a piece of a request, and while the rest of a reply is
 * fetched: whether more pieces of the request follow.
 */
export type Keeps = "more" | "last" | "rest";

/** Whether it is kept behind this answer. */
export const isKept = (what: number, keeps: Keeps | undefined): boolean =>
  keeps !== undefined && (what === ELSEWHERE || what === RESTART) ||
  what === NOTHING && keeps === "more" ||
  what === PIECE && keeps === "rest";

/** Whether nothing follows. */
export const isWhole = ({ what }: Answer): boolean =>
  (what & MORE) === 0 && what !== ELSEWHERE;

/**
 * The ways of a caller's requests and answers. The class that calls reads them.
 */
export abstract class Exchanges {
  protected readonly slots: Slots;

  constructor(slots: Slots) {
    this.slots = slots;
  }

  /** Reads the answer of a call, and gives its slot back if it is over. */
  protected abstract read(at: number, keeps?: Keeps): Answer;
  /** The same of a whole reply, which came in pieces. */
  protected abstract whole(what: number, bytes: Uint8Array, at: number): Answer;
  /** Writes why this agent gives up, if the server has made room for that. */
  protected abstract tell(at: number, signal: AbortSignal | undefined): void;

  /** A call that was posted at `at`, or `request` if it was not, to its end. */
  protected *path(
    token: number,
    at: number,
    signal: AbortSignal | undefined,
    request?: Uint8Array,
  ): Waiting<Answer | undefined> {
    const answer = at === 0 && request!.length > this.slots.maxRequest
      ? yield* this.#callInPieces(token, signal, request!)
      : yield* this.#exchange(at, signal, request);
    return yield* this.toEnd(token, signal, answer);
  }

  /** Goes on after the first answer. */
  protected *toEnd(
    token: number,
    signal: AbortSignal | undefined,
    answer: Answer | undefined,
  ): Waiting<Answer | undefined> {
    const since = Date.now();
    while (answer?.what === ELSEWHERE) {
      const request = answer.value as Uint8Array;
      if (!(yield* this.#tryAgain(since, request))) return undefined;
      answer = yield* this.#exchange(0, signal, request);
    }
    if (answer === undefined || isWhole(answer)) return answer;
    return yield* this.#rest(token, answer);
  }

  /**
   * Says something in the slot that this agent keeps. It gives it back only at
   * the end, because a server takes that for its death.
   */
  protected *say(
    kept: number,
    token: number,
    signal: AbortSignal | undefined,
    request: Uint8Array,
  ): Waiting<Answer | undefined> {
    let answer: Answer | undefined;
    if (request.length > this.slots.maxRequest) {
      answer = yield* this.#callInPieces(token, signal, request, kept);
    } else {
      const since = Date.now();
      for (;;) {
        this.slots.postAgain(kept, request);
        answer = yield* this.#exchange(kept, signal, undefined, "last");
        if (answer?.what !== ELSEWHERE) break;
        let goesOn = false;
        try {
          goesOn = yield* this.#tryAgain(since, request);
        } finally {
          if (!goesOn) cancel(this.slots.words, kept);
        }
        if (!goesOn) return undefined;
      }
    }
    return yield* this.toEnd(token, signal, answer);
  }

  /**
   * One request and its answer; undefined if the time was over. After a piece
   * that others follow, its slot may be kept.
   */
  *#exchange(
    at: number,
    signal: AbortSignal | undefined,
    request?: Uint8Array,
    keeps?: Keeps,
  ): Waiting<Answer | undefined> {
    const slots = this.slots;
    at ||= (yield* waitOn(slots.posting(request!, true))) ?? 0;
    if (at === 0) return undefined;
    let over = false;
    try {
      if (!(yield* answeredUnlessOver(slots, at))) {
        this.tell(at, signal);
        over = giveUp(slots.words, at);
        if (over) return undefined;
      }
      over = true; // at the moment of the timeout it may be answered
      return this.read(at, keeps);
    } catch (error) {
      over ||= error instanceof ClosedError; // it was withdrawn
      throw error;
    } finally {
      if (!over) cancel(slots.words, at);
    }
  }

  /**
   * Sends a request in pieces; the answer to the last is that of the call. If
   * this agent keeps a slot, all of them go there.
   */
  *#callInPieces(
    token: number,
    signal: AbortSignal | undefined,
    request: Uint8Array,
    kept = 0,
  ): Waiting<Answer | undefined> {
    const piece = new Uint8Array(this.slots.maxRequest);
    piece[0] = PIECE_OF_CALL;
    putWord(piece, TOKEN, token);
    putWord(piece, WHOLE, request.length);
    const begun = Date.now();
    let since = begun;
    let held = kept;
    try {
      for (let at = 0;;) {
        const next = request.subarray(at, at + piece.length - PIECE_HEAD);
        putWord(piece, OFFSET, at);
        piece.set(next, PIECE_HEAD);
        const message = piece.subarray(0, PIECE_HEAD + next.length);
        const isLast = at + next.length === request.length;
        let keeps: Keeps | undefined;
        if (kept !== 0) {
          keeps = isLast ? "last" : "more";
          held = 0; // it is given back if this throws
          this.slots.postAgain(kept, message);
        }
        const answer = yield* this.#exchange(kept, signal, message, keeps);
        if (answer === undefined) return undefined;
        const { what } = answer;
        if (isKept(what, keeps)) held = kept;
        if (what === ELSEWHERE || what === RESTART) {
          if (at === 0) since = Date.now(); // no server has a piece of it
          if (what === RESTART) at = 0;
          const from = what === RESTART ? begun : since;
          if (!(yield* this.#tryAgain(from, request, PIECES))) return undefined;
          continue;
        }
        at += next.length;
        if (isLast || what !== NOTHING) return answer;
        since = Date.now();
      }
    } finally {
      if (held !== 0) cancel(this.slots.words, held);
    }
  }

  /**
   * Fetches all that follows the first piece of a reply, in the same slot. The
   * reply may be a call back. If this agent gave the slot back meanwhile, calls
   * that wait for its answer could take all slots.
   */
  *#rest(
    token: number,
    { what, value, at }: Answer,
  ): Waiting<Answer | undefined> {
    const request = new Uint8Array(HEAD);
    request[0] = FETCH;
    putWord(request, TOKEN, token);
    const pieces = [value as Uint8Array];
    let since = Date.now();
    let held = at;
    try {
      for (let more = true; more;) {
        held = 0; // it is given back if this throws
        this.slots.postAgain(at, request);
        const answer = yield* this.#exchange(at, undefined, undefined, "rest");
        if (answer === undefined) return undefined;
        held = answer.at;
        if (answer.what === ELSEWHERE) {
          if (!(yield* tryAgain(since, PIECES))) return undefined;
          continue;
        }
        pieces.push(answer.value as Uint8Array);
        more = (answer.what & MORE) !== 0;
        since = Date.now();
      }
      held = 0; // the next step keeps it, or gives it back
      return this.whole(what & ~MORE, joined(pieces), at);
    } finally {
      if (held !== 0) cancel(this.slots.words, held);
    }
  }

  /**
   * As `tryAgain`, before `request` is sent again. Fails if the only server
   * that can answer it is dead: the others would never have what it had.
   */
  *#tryAgain(
    since: number,
    request: Uint8Array,
    what = "object",
  ): Waiting<boolean> {
    const server = onlyServerOf(request);
    if (server !== 0 && isDead(this.slots.words, server)) {
      throw new CallError("The server of the call was abandoned", true);
    }
    return yield* tryAgain(since, what);
  }
}

/**
 * The agent that alone can answer a request: it has the object, or has called
 * back. 0 if any server can.
 */
function onlyServerOf(request: Uint8Array): number {
  const what = request[0]!;
  if ((what & WHAT) === ANSWER) return wordAt(request, ANSWER_AGENT);
  if ((what & OF_OBJECT) === 0) return 0;
  return agentOf(
    readUtf8(request.subarray(HEAD, HEAD + request[NAME_LENGTH]!)),
  );
}

/**
 * Waits for the answer of a call. After the ring was closed, a call that no
 * server has taken for a second is withdrawn: the servers have ended.
 */
function* answeredUnlessOver(slots: Slots, at: number): Waiting<boolean> {
  const path = answered(slots.words, at);
  let step = path.next();
  for (let closed = false; !step.done;) {
    step = path.next(yield step.value);
    if (step.done) break;
    if (closed && withdraw(slots, at)) {
      throw new ClosedError("The ring was closed, and nobody serves it");
    }
    closed = slots.closed;
  }
  return step.value;
}

/** Takes back a call that no server has taken; false if it is too late. */
function withdraw({ words }: Slots, at: number): boolean {
  const state = Atomics.load(words, at);
  if (
    (state & PHASE_MASK) !== POSTED ||
    Atomics.compareExchange(words, at, state, FREE) !== state
  ) return false;
  wake(words, CALL_RING.slot_epoch, 1);
  return true;
}

/**
 * Lets the server that has the other pieces come first; false if the time is
 * over.
 */
function* tryAgain(since: number, what: string): Waiting<boolean> {
  if (Date.now() - since > KEPT_MS) {
    throw new Error(`The server of the call has lost its ${what}`);
  }
  return (yield pause()) !== "timed-out";
}

let nowhere: Int32Array<SharedArrayBuffer> | undefined;

/**
 * A sleep of 1 to 4 ms. Callers that all slept alike could ask in the same
 * order each time, and each reach the wrong server for ever.
 */
function pause(): Sleep {
  nowhere ??= new Int32Array(new SharedArrayBuffer(4));
  const atMost = 1 + Math.random() * 3;
  return { words: nowhere, index: 0, value: 0, atMost };
}
