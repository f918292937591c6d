import { mutants, none } from "../_run/mutant.ts";

const IN_C = none("no agent of C plays these scenarios");

const CALLS = { header: "calls", scenarios: ["calls"] };

/** Mutants of calls in pieces. */
export const MUTANTS = [
  ...mutants({ ...CALLS, source: "_calls/beside" }, {
    what: "what comes by the port is forgotten",
    by: "a buffer is moved to the server and back",
    ts: "[-else if (number !== 0) this.#inbox.set(key, values);-]",
    c: IN_C,
  }, {
    what: "copies what is to be moved by the port",
    by: "a buffer is moved to the server and back",
    ts: "[-list.push(...moved);-]",
    c: IN_C,
  }),
  ...mutants({ ...CALLS, source: "_calls/wire" }, {
    what: "counts those that listen before it says that another one does",
    by: "2 servers whose callers want to listen",
    ts: [
      "[-Atomics.store(words, at + REQUEST, LISTENING);-]",
      "if (count < most) {+{ Atomics.store(words, at + REQUEST, LISTENING); " +
      "+}return true;{+ }+}",
    ],
    c: IN_C,
  }, {
    what: "counts only the callers that this agent lets listen",
    by: "2 servers whose callers want to listen",
    ts: "ANSWER_AGENT / 4] [-!-]{+=+}== id",
    c: IN_C,
  }),
  ...mutants({ ...CALLS, source: "_calls/pieces" }, {
    what: "a server takes a piece without the ones before it",
    by: "two servers, of which one has the pieces",
    ts: [
      "let long = this.#requests.get(key); if ([-offset === 0-]{+long === " +
      "undefined+}) {",
      "long === undefined ||[- long.at !== offset ||-]",
    ],
    c: IN_C,
  }),
  ...mutants({ ...CALLS, source: "_calls/server" }, {
    what: "gives the request back before it has read it",
    by: "a caller gives up, and says why",
    ts: "{+if (request[SIGNAL]! > 0) { Atomics.store(this.slots.words, at + " +
      "REQUEST, GIVEN); } +}asked = this.#reader.read(request);",
    c: IN_C,
  }),
  ...mutants({ ...CALLS, source: "_calls/client/exchange" }, {
    what: "a call goes on with the pieces of one that was given up",
    by: "a caller gives up between pieces, and calls again",
    ts: "? yield* this.#callInPieces([-token-]{+1+}, signal, request!)",
    c: IN_C,
  }, {
    what: "gives the slot back between the pieces of a call back",
    by: "a caller is called back in pieces",
    ts: "[-this.slots.postAgain(at, request); const answer = yield* " +
      "this.#exchange(at, undefined, undefined-]{+cancel(this.slots.words, " +
      "at); const answer = yield* this.#exchange(0, undefined, request+}, ",
    c: IN_C,
  }),
  ...mutants({ ...CALLS, source: "_calls/client/answers" }, {
    what: "takes what a terminated server left in the slot for its reply",
    by: "a server that dies at piece 2",
    ts: "if (phase [-!==-]{+<+} REPLIED) return slots.receive(at);",
    c: IN_C,
  }),
  ...mutants({ ...CALLS, source: "_calls/client/client" }, {
    what: "keeps a view of a piece, whose place has the next one later",
    by: "two callers whose pieces share a slot",
    ts: "? body[-.slice()-] : what ===",
    c: IN_C,
  }, {
    what: "says why it gives up where the server still reads",
    by: "a caller gives up, and says why",
    ts: "[-if (Atomics.load(words, at + REQUEST) !== GIVEN) return;-]",
    c: IN_C,
  }, {
    what: "gives the slot back before it answers a call back",
    by: "a caller is called back in a slot that another one wants",
    ts: "if ([-what === CALLBACK || -]what === RELEASED) kept = at;",
    c: IN_C,
  }),
];
