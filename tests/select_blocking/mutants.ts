import { mutants, none } from "../_run/mutant.ts";

/** Mistakes that `_queue/channel/handoff` has in TypeScript. */
const IN_HANDOFF = none("_queue/channel/handoff does it for every receiver");

const scenarios = ["select_blocking"];

const IN_TS = none("TypeScript has a generator for each arm");
const IN_C = none("C has a loop over the arms");

/** Mutants of the code by which an agent blocks at several ends. */
export const MUTANTS = [
  ...mutants(
    { source: "_wait/gong", scenarios },
    {
      what: "a strike wakes nobody",
      ts: "[-if (seen === value) Atomics.notify(words, gong);-]",
      c: "== value) [-weft__notify(gong, WEFT__ALL);-]{+{}+}",
      by: "one comes",
    },
    {
      what: "a strike wakes one",
      ts: "if (seen === value) Atomics.notify(words, gong{+, 1+});",
      c: "== value) weft__notify(gong, [-WEFT__ALL-]{+1+});",
      by: "two who take",
    },
    {
      what: "a strike does not follow a link",
      ts: "if (value & LINK_BIT) {{+ return;+} gong += words.byteOffset / 4;",
      c: "while ([-value & WEFT__GONG_LINK_BIT && (gong = " +
        "weft__gong_next(gong, value)) != NULL-]{+0+});",
      by: "one comes",
    },
    {
      what: "a strike does not change the word",
      ts: "const next = [-SIGN | (value + WAITING_BIT & " +
        "STRIKES_MASK)-]{+value+};",
      c: "int32_t next = [-WEFT__GONG_SIGN | ((value + " +
        "WEFT__GONG_WAITING_BIT) & WEFT__GONG_STRIKES_MASK)-]{+value+};",
      by: "one comes",
    },
    {
      what: "a strike leaves no trace behind a new sleeper",
      ts: "const next = [-SIGN | (value + WAITING_BIT & " +
        "STRIKES_MASK)-]{+value & ~WAITING_BIT+};",
      c: "int32_t next = [-WEFT__GONG_SIGN | ((value + " +
        "WEFT__GONG_WAITING_BIT) & WEFT__GONG_STRIKES_MASK)-]{+value & " +
        "~WEFT__GONG_WAITING_BIT+};",
      by: "a strike, and another one who waits",
    },
    {
      what: "who sleeps asks for no strike",
      ts: "const value = SIGN | was & STRIKES_MASK[- | WAITING_BIT-];",
      c: "root.value = WEFT__GONG_SIGN | (was & WEFT__GONG_STRIKES_MASK)[- | " +
        "WEFT__GONG_WAITING_BIT-];",
      by: "one comes",
    },
    {
      what: "queues are not linked",
      ts: "[-for (const gong of gongs) join(words, first, gong);-]",
      c: none("select_blocking.h links them"),
      by: "one comes",
    },
    {
      what: "(J): a link wakes nobody",
      ts: "[-if (value & WAITING_BIT) Atomics.notify(words, high);-]",
      c: "[-if (high.value & WEFT__GONG_WAITING_BIT) weft__notify(high.at, " +
        "WEFT__ALL);-]",
      by: "another one links queues behind",
    },
    {
      what: "a link overwrites another one",
      ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, high, " +
        "[-value, link) !== value) continue-]{+link)+};",
      c: "[-if (weft__compare_exchange(high.at, high.value, link) != " +
        "high.value) continue;-]{+weft__store(high.at, link);+}",
      by: "two link one queue",
    },
    {
      what: "(W): looks before it asks for a strike",
      ts: [
        "[-if (!over) sleep = meet(words, gongs);-]",
        "if (over) return undefined; {+sleep = meet(words, gongs); +}}",
        "[-let sleep = meet(words, gongs); -]for (const [i, bout] of " +
        "bouts.entries()) {",
        "if (path.next().value === true) return i; } {+let sleep = " +
        "meet(words, gongs); +}for (;;) {",
      ],
      c: none("select_blocking.h asks"),
      by: "one comes",
    },
    {
      what: "stays announced",
      ts: "[-for (const path of paths) path.return(undefined);-]",
      c: none("select_blocking.h announces"),
      by: "one comes",
    },
  ),
  ...mutants({ source: "select", header: "select_blocking", scenarios }, {
    what: "(T): without time, looks once",
    ts: "if (timeout [-=== 0) done(); else-]{+> 0)+} if",
    c: "[-result = weft__select_try(s); -]return [-result == EBUSY ? " +
      "-]ETIMEDOUT[- : result-];",
    by: "an element comes, and another one goes",
  }, {
    what: "queues are not linked",
    ts: IN_TS,
    c: "for (int32_t k = 1; k < [-s->n-]{+0+}; k++) { int failed",
    by: "one comes",
  }, {
    what: "(W): looks before it asks for a strike",
    ts: IN_TS,
    c: [
      "[-result = weft__select_round(s, looked); -]if (result != EBUSY) " +
      "break; int woken",
      "for (bool looked = false; result == EBUSY;) { {+result = " +
      "weft__select_round(s, looked); +}weft__gong_root root",
    ],
    by: "one comes",
  }, {
    what: "does not announce itself",
    ts: IN_TS,
    c: "[-weft__arm_announce(arm); -]if (stuck) {",
    by: "one comes, from one producer",
  }, {
    what: "looks before it announces itself",
    ts: IN_TS,
    c: "[-weft__arm_announce(arm); if (stuck) { s->index = (int32_t)(arm - " +
      "s->arms); return ENOTRECOVERABLE; } -]int result = " +
      "weft__select_try_one(s, arm);{+ weft__arm_announce(arm);+}",
    by: "one comes",
  }, {
    what: "stays announced",
    ts: IN_TS,
    c: "[-weft__arm_withdraw(arm); -](void)arm->act(arm, WEFT__ARM_PASS);",
    by: "one comes",
  }, {
    what: "stays announced at one end after each sleep",
    ts: IN_TS,
    c: "if (k [-<-]{+>=+} s->announced)[- weft__arm_withdraw(arm); else-] " +
      "s->announced++;",
    by: "one comes",
  }, {
    what: "what comes with the end of the time is lost",
    ts: IN_C,
    c: "[-if (result == EBUSY) result = weft__select_try_one(s, arm); " +
      "if-]{+(void)arm->act(arm, WEFT__ARM_TRY); if+}",
    by: "a timeout beside a consumer",
  }, {
    what: "an arm that receives offers nothing",
    ts: IN_HANDOFF,
    c: "[-if (!s->looks) (void)arm->act(arm, WEFT__ARM_OFFER);-]",
    by: "capacity 0: select sends to another select",
  }, {
    what: "an arm that gives up leaves what was handed to it",
    ts: IN_HANDOFF,
    c: "[-result = (int)arm->act(arm, WEFT__ARM_SETTLE);-]",
    by: "capacity 0: select gives up",
  }, {
    what: "an arm that lost leaves its offer",
    ts: IN_HANDOFF,
    c: "[-weft__handoff_end(c, &since);-]",
    by: "capacity 0: select receives from one of two channels",
  }),
  ...mutants({ source: "_wait/event_count", scenarios }, {
    what: "who wakes the sleepers of an end does not strike its gong",
    ts: "[-strike(words, epoch + GONG);-]",
    c: "[-weft__strike(epoch + WEFT__EVENT_GONG); -]return true;",
    by: "one comes",
  }),
  ...mutants({
    source: "_queue/record/claim",
    header: "_record_claim",
    scenarios,
  }, {
    what: "a wake that is handed on strikes no gong",
    ts: "[-if (wake-]{+Atomics.or+}(words, PUSH_EPOCH, 1)[-)-]{+; " +
      "Atomics.notify(words, PUSH_EPOCH, 1);+} Atomics.sub(words, HAND_ONS, " +
      "1);",
    c: "[-if (weft__event_wake_end-]{+weft__or+}(&r->push_epoch, 1)[-)-]{+; " +
      "weft__notify(&r->push_epoch, 1);+} weft__add(&r->hand_ons, -1);",
    by: "rings: a wake is handed on",
  }),
  ...mutants({
    source: "_queue/spsc/core",
    header: "_spsc_steps",
    scenarios,
  }, {
    what: "a push does not strike the gong",
    ts: "Atomics.notify(words, TAIL, 1);[- strike(words, TAIL_GONG);-]",
    c: "return EPIPE; [-weft__spsc_wake(&q->tail-]{+weft__notify(&q->tail, " +
      "1+}); return 0;",
    by: "one comes, from one producer",
  }, {
    what: "a pop does not strike the gong",
    ts: "Atomics.notify(words, HEAD, 1);[- strike(words, HEAD_GONG);-]",
    c: "if (was & WEFT_SPSC_QUEUE_WAITING_BIT) " +
      "[-weft__spsc_wake(&q->head-]{+weft__notify(&q->head, 1+});",
    by: "room comes, for one producer",
  }, {
    what: "close does not strike the gong of who pops",
    ts: "{+if (index !== TAIL) +}strike(this.#words, [-index === TAIL ? " +
      "TAIL_GONG : -]HEAD_GONG);",
    c: "{+if (i == 1) +}weft__spsc_wake(words[i]);{+ else " +
      "weft__notify(words[i], WEFT__ALL);+}",
    by: "one is closed by its producer",
  }, {
    what: "close does not strike the gong of who pushes",
    ts: "{+if (index === TAIL) +}strike(this.#words, [-index === TAIL ? " +
      "-]TAIL_GONG[- : HEAD_GONG-]);",
    c: "{+if (i == 0) +}weft__spsc_wake(words[i]);{+ else " +
      "weft__notify(words[i], WEFT__ALL);+}",
    by: "one is closed, for who adds",
  }),
];
