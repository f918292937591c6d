import { mutants, none } from "../_run/mutant.ts";

const ONE_FORM = none(
  "C has one form, where TypeScript has one for arrays and one for the rest",
);
export const HINT = none(
  "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here",
);

/** Mutants of what finds slots, and of what waits for them. */
export const SLOTS = [
  ...mutants({
    source: "_calls/ring/slots",
    header: "call_ring",
    scenarios: ["call_ring"],
  }, {
    what: "looks for a free slot by hints alone",
    by: "two want one slot",
    ts: "const state = [-i > this.count ? -]words[at]![- : " +
      "Atomics.load(words, at)-]; if (state === FREE",
    c: HINT,
  }, {
    what: "writes the request after it is posted",
    by: "a post, the end, and its server",
    ts: "{+this.publish(at, byteLength); +}this.#write(request, at);[- " +
      "this.publish(at, byteLength);-]",
    c: "{+result = weft__call_publish(r, c, length); +}if (length > 0) " +
      "__builtin_memcpy(c + 1, request, (size_t)length);[- result = " +
      "weft__call_publish(r, c, length);-]",
  }, {
    what: "a server checks for the end after it looked for calls",
    ts: "[-const closed = this.closed; // (E) look at this first -]return " +
      "this.#take() || ({+this.+}closed ? -1 : 0);",
    c: [
      "return [-closed-]{+weft_call_ring_closed(r)+} ? EPIPE : EBUSY;",
      "[-bool closed = weft_call_ring_closed(r); /* (E) before the look */-]",
    ],
    by: "a post, the end, and its server",
  }, {
    what: "reads the reply after it gave back the slot",
    by: "two serve themselves in one slot",
    ts: "{+free(this.words, at); +}const reply = this.#bytes.slice(from, " +
      "from + length);[- free(this.words, at);-]",
    c: "{+weft__call_free(r, c); +}if (bytes > 0) __builtin_memcpy(dst, " +
      "weft__call_reply_at(r, c), (size_t)bytes);[- weft__call_free(r, c);-]",
  }, {
    what: "keeps the slot of a call that was answered",
    by: "a call and its server",
    ts: "const reply = this.#bytes.slice(from, from + length);[- " +
      "free(this.words, at);-]",
    c: "[-weft__call_free(r, c); -]if (phase == WEFT_CALL_RING_LOST) return " +
      "EOWNERDEAD;",
  }, {
    what: "reads the reply into an array after it gave back the slot",
    ts: "{+free(this.words, at); +}getBytes(this.#copier, this.#bytes, dst, " +
      "this.#replyAt(at), most); } finally {[- free(this.words, at); -]}",
    c: ONE_FORM,
    by: "two serve themselves in one slot, into arrays",
  }, {
    what: "keeps the slot of a call that was answered into an array",
    ts: "getBytes(this.#copier, this.#bytes, dst, this.#replyAt(at), most); " +
      "} finally {[- free(this.words, at); -]}",
    c: ONE_FORM,
    by: "two serve themselves in one slot, into arrays",
  }, {
    what: "keeps the slot of a call whose server is gone",
    by: "a server is abandoned",
    ts: "if (phase === LOST) {[- free(this.words, at);-]",
    c: "[-weft__call_free(r, c); -]if (phase == WEFT_CALL_RING_LOST) return " +
      "EOWNERDEAD;{+ weft__call_free(r, c);+}",
  }, {
    what: "looks for calls by hints alone",
    by: "a call and the end",
    ts: "const state = [-i > this.count ? -]words[at]![- : " +
      "Atomics.load(words, at)-]; if (take",
    c: HINT,
  }, {
    what: "looks at one slot only",
    by: "two callers, two servers",
    ts: "const at = this.#look;[- this.#look = this.#after(at);-]",
    c: "[-slot = slot + 1 < slots ? slot + 1 : 0; /* The first round uses " +
      "hints, which the exchange checks; the second one makes sure. */ " +
      "-]int32_t state = i > slots ? weft__hint(&c->state) : " +
      "weft__load(&c->state); while",
  }, {
    what: "writes the reply after the answer",
    by: "a post and its server",
    ts: "{+this.words[at + REPLY_LENGTH] = length; const done = " +
      'answer(this.words, at, REPLIED); +}if (typeof reply === "object") ' +
      "this.#put(reply, this.#replyAt(at) / 4); [-this.words[at + " +
      "REPLY_LENGTH] = length; // published by (R) return answer(this.words, " +
      "at, REPLIED)-]{+return done+};",
    c: none("In C the server writes the reply in place"),
  }, {
    what: "writes the reply's length after the answer",
    by: "a call and its server",
    ts: "{+const done = answer(this.words, at, REPLIED); +}this.words[at + " +
      "REPLY_LENGTH] = length; [-// published by (R) return " +
      "answer(this.words, at, REPLIED)-]{+return done+};",
    c: [
      "[-c->reply_length = length; /* published by (R) */ -]return 0;",
      "[-return result != 0 ? result :-]{+if (result == 0) { result =+} " +
      "weft__call_answer(r, c, WEFT_CALL_RING_REPLIED);{+ c->reply_length " +
      "= length; } return result;+}",
    ],
  }, {
    what: "notes a death after it has woken the servers",
    by: "a server hears of an agent that is abandoned beside another",
    ts: "[-noteDeath(words, id); // The dead agent may have used up a wake, " +
      "so wake the others. -]wake(words, SERVE_EPOCH, Infinity); wake(words, " +
      "SLOT_EPOCH, Infinity);{+ noteDeath(words, id);+}",
    c: "[-weft__call_note_death(r, id); /* If the agent had been given a " +
      "wake, pass it on. */ -]weft__event_wake(&r->serve_epoch, " +
      "WEFT__ALL);{+ weft__call_note_death(r, id);+}",
  }, {
    what: "abandons and wakes no caller that wants a slot",
    by: "a caller is abandoned while another wants its slot",
    ts: "wake(words, SERVE_EPOCH, Infinity); [-wake(words, SLOT_EPOCH, " +
      "Infinity); -]return count;",
    c: "weft__event_wake(&r->serve_epoch, WEFT__ALL); " +
      "[-weft__event_wake(&r->slot_epoch, WEFT__ALL); -]return count;",
  }),
  ...mutants({
    source: "_calls/ring/caller",
    header: "call_ring",
    scenarios: ["call_ring"],
  }, {
    what: "posts a call that was aborted",
    by: "a call is aborted while it waits for a slot",
    ts: "waitOn(slots.posting(request[-, true-]))",
    c: none("No call of C can be aborted"),
  }, {
    what: "the slot of a call that timed out is never freed",
    by: "a call that is late, and the next one",
    ts: "if (!(yield* answered(slots.words, at))[- && giveUp(slots.words, " +
      "at)-]) {",
    c: "if (weft__call_answered(c, timeout, deadline) != 0[- && " +
      "weft__call_give_up(r, c))-]{+)+}",
  }),
];
