/**
 * Mutants of `weft.h`: the header with one mistake in it, each the counterpart
 * of a mutant of the TypeScript in `../mutants`, where there is one.
 *
 * @module
 */
import { headerText } from "../header.ts";
import { call_ring } from "./mutants/call_ring.ts";
import { channel } from "./mutants/channel.ts";

/** Text that stands once in a section, and what to put there instead. */
export type Edit = readonly [from: string, to: string];

/** A mistake in a section of `weft.h`. */
export interface Mutant {
  /** The section, as its title names it. */
  readonly section: string;
  /** The primitive whose scenarios notice. */
  readonly stem: string;
  readonly what: string;
  /** White space in what they look for is any white space. */
  readonly edits: readonly Edit[];
}

type Row = readonly [what: string, from: string, to: string, also?: Edit];

const mutants = (
  stem: string,
  section: string,
  ...rows: readonly Row[]
): Mutant[] =>
  rows.map(([what, from, to, also]) => ({
    section,
    stem,
    what,
    edits: also === undefined ? [[from, to]] : [[from, to], also],
  }));

/** The header with the mistake in it. */
export function mutated({ section, edits }: Mutant): string {
  const text = headerText();
  const title = `/* ---- ${section} (`;
  const start = text.indexOf(title);
  if (start < 0) throw new Error(`weft.h has no section "${section}"`);
  // Sections within a section have titles without a source.
  const length = text.slice(start + 1).search(/\/\* ---- [\w ]+ \(/);
  const next = length < 0 ? text.length : start + 1 + length;
  let part = text.slice(start, next);
  for (const [from, to] of edits) {
    const words = from.trim().split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    // A line of a macro ends in a backslash.
    const pieces = part.split(new RegExp(words.join("(?:\\s|\\\\\\n)+")));
    if (pieces.length !== 2) {
      throw new Error(`${section}: fits ${pieces.length - 1} times: ${from}`);
    }
    part = pieces.join(to);
  }
  return text.slice(0, start) + part + text.slice(next);
}

/** The mistake as a difference of texts. */
export function diffOf({ section, what, edits }: Mutant): string {
  const lines = edits.flatMap(([from, to]) => [`  - ${from}`, `  + ${to}`]);
  return [`weft.h, ${section}: ${what}`, ...lines].join("\n");
}

const FREE = "weft__store(&m->state, WEFT_MUTEX_UNLOCKED);";
const WAKE = "weft__notify(&m->state, 1);";

const mutex = mutants(
  "mutex",
  "mutex",
  [
    "MX1: who slept takes the lock without CONTENDED for the others",
    "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT) | contended;",
    "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT);",
  ],
  [
    "MX2: sleeps without marking the lock contended",
    "if ((state & WEFT_MUTEX_CONTENDED_BIT) == 0) {",
    "if (0) {",
  ],
  ["MX3: notifies before it frees", `${FREE} ${WAKE}`, `${WAKE} ${FREE}`],
  ["MX4: never notifies", `${FREE} ${WAKE}`, FREE],
  [
    "MX5: unlocks by load and store",
    "int32_t state = weft__compare_exchange(&m->state, id, " +
    "WEFT_MUTEX_UNLOCKED);",
    "int32_t state = weft__load(&m->state); " +
    "if (state == id) weft__store(&m->state, 0);",
  ],
  ["MX6: the contended unlock forgets to free", `${FREE} ${WAKE}`, WAKE],
  [
    "MX7: tests, then locks",
    "if (!weft__may_block()) return EPERM; int32_t id = weft_agent_id(); " +
    "int32_t state = weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, " +
    "id);",
    "int32_t id = weft_agent_id(); int32_t state = weft__load(&m->state); " +
    "if (state == 0) weft__store(&m->state, id);",
  ],
  [
    "MX7: tryLock tests, then locks",
    "static inline int weft_mutex_try_lock(weft_mutex *m) { " +
    "int32_t id = weft_agent_id(); int32_t state = " +
    "weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, id);",
    "static inline int weft_mutex_try_lock(weft_mutex *m) { " +
    "int32_t id = weft_agent_id(); int32_t state = weft__load(&m->state); " +
    "if (state == 0) weft__store(&m->state, id);",
  ],
  [
    "MX8: who is woken holds the lock, it thinks",
    "if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;",
    "if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT; " +
    "if (outcome == WEFT__OK) return 0;",
  ],
  [
    "MX10: a timeout is taken for the lock",
    "if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;",
    "if (outcome == WEFT__TIMED_OUT) return 0;",
  ],
  [
    "tryLock takes only what was unlocked, and not what was abandoned",
    "while ((state & WEFT_MUTEX_OWNER_MASK) == 0) {",
    "while (state == 0) {",
  ],
  [
    "the slow path takes by a store",
    "state = weft__compare_exchange(&m->state, expected, taken); " +
    "if (state != expected) continue;",
    "weft__store(&m->state, taken);",
  ],
  [
    "marks by a store",
    "int32_t seen = weft__compare_exchange(&m->state, expected, state);",
    "int32_t seen = expected; weft__store(&m->state, state);",
  ],
  [
    "does not look again after a sleep",
    "state = weft__load(&m->state); woken",
    "woken",
  ],
  [
    "hands over and forgets that others sleep",
    "int32_t kept = WEFT_MUTEX_HANDOFF_BIT | WEFT_MUTEX_CONTENDED_BIT;",
    "int32_t kept = WEFT_MUTEX_HANDOFF_BIT;",
  ],
  [
    "keeps the lock for nobody",
    "if (weft__notify(&m->state, 1) > 0) return 0;",
    "weft__notify(&m->state, 1); return 0;",
  ],
  [
    "hands over without waking",
    "if (weft__notify(&m->state, 1) > 0) return 0;",
    "return 0;",
  ],
  [
    "abandons by a store",
    "state = weft__compare_exchange(&m->state, expected, " +
    "WEFT_MUTEX_ABANDONED_BIT);",
    "weft__store(&m->state, WEFT_MUTEX_ABANDONED_BIT);",
  ],
  [
    "abandons and wakes nobody",
    "if (state & WEFT_MUTEX_CONTENDED_BIT) weft__notify(&m->state, 1);",
    "",
  ],
);

const semaphore = mutants(
  "semaphore",
  "semaphore",
  [
    "SE1: looks for waiters before it adds",
    "for (;;) { if (permits > WEFT_SEMAPHORE_MAX - n) return EINVAL;",
    "int32_t some = weft__load(&s->waiters); " +
    "for (;;) { if (permits > WEFT_SEMAPHORE_MAX - n) return EINVAL;",
    ["if (weft__load(&s->waiters) > 0)", "if (some > 0)"],
  ],
  [
    "SE2: does not announce itself",
    "WEFT_SEMAPHORE_PATIENCE + weft__add(&s->waiters, 1);",
    "WEFT_SEMAPHORE_PATIENCE;",
    ["weft__add(&s->waiters, -1);", ""],
  ],
  [
    "SE3: wakes one, whatever it releases",
    "weft__notify(&s->permits, n < permits ? n : permits);",
    "weft__notify(&s->permits, 1);",
  ],
  [
    "SE5: who is woken has its permits, it thinks",
    "return weft__semaphore_take(s, n) ? 0 : ETIMEDOUT;",
    "return weft__semaphore_take(s, n) ? 0 : ETIMEDOUT; " +
    "if (outcome == WEFT__OK) return 0;",
  ],
  [
    "SE8: counts itself no more when it is first woken",
    "if (outcome == WEFT__TIMED_OUT) return weft__semaphore_take",
    "weft__add(&s->waiters, -1); " +
    "if (outcome == WEFT__TIMED_OUT) return weft__semaphore_take",
    ["weft__add(&s->waiters, -1); return result;", "return result;"],
  ],
  [
    "releases by a store",
    "int32_t seen = weft__compare_exchange(&s->permits, permits, permits + n);",
    "int32_t seen = permits; weft__store(&s->permits, permits + n);",
  ],
  [
    "releases and wakes nobody",
    "if (weft__load(&s->waiters) > 0) weft__semaphore_wake(s, n, permits + n);",
    "",
  ],
  [
    "wakes only where two wait",
    "if (weft__load(&s->waiters) > 0)",
    "if (weft__load(&s->waiters) > 1)",
  ],
  [
    "counts itself for ever",
    "weft__add(&s->waiters, -1); return result;",
    "return result;",
  ],
  [
    "who wants several is not counted",
    "if (n > 1) weft__add(&s->bulk, 1);",
    "",
    ["if (n > 1) weft__add(&s->bulk, -1);", ""],
  ],
  [
    "who wants several is counted for ever",
    "if (n > 1) weft__add(&s->bulk, -1);",
    "",
  ],
  [
    "the turn does not change",
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__notify(&s->turn, WEFT__ALL);",
  ],
  [
    "the turn changes after the wake",
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__notify(&s->turn, WEFT__ALL); weft__add(&s->turn, 1);",
  ],
  [
    "who wants several is not woken",
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__add(&s->turn, 1);",
  ],
  [
    "two claim at once",
    "weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0",
    "weft__exchange(&s->claimant, weft_agent_id()) >= 0",
  ],
  [
    "claims and takes nothing",
    "weft__add(&s->permits, -n);",
    "",
  ],
  [
    "a claim that times out keeps what it took",
    "if (result != 0) weft__semaphore_give_back(s, n);",
    "",
  ],
  [
    "a claim that is over is still claimed",
    "weft__store(&s->claimant, 0);",
    "",
  ],
  [
    "a timeout is taken for a permit",
    "return weft__semaphore_take(s, n) ? 0 : ETIMEDOUT;",
    "return 0;",
  ],
);

const spsc_queue = mutants(
  "spsc_queue",
  "spsc_queue",
  [
    "SP1: publishes before it writes",
    "*weft__spsc_at(q, tail) = value; /* published by (P) */ " +
    "return weft__spsc_publish(q, tail, 1);",
    "int result = weft__spsc_publish(q, tail, 1); " +
    "*weft__spsc_at(q, tail) = value; return result;",
  ],
  [
    "SP2: full one element too late",
    "return q->capacity - (weft__minus(tail, q->head_cache) >> 2); }",
    "return q->capacity + 1 - (weft__minus(tail, q->head_cache) >> 2); }",
  ],
  [
    "SP3: frees before it reads",
    "*value = *weft__spsc_at(q, head); /* published by (P) */ " +
    "weft__spsc_release(q, head, 1);",
    "weft__spsc_release(q, head, 1); *value = *weft__spsc_at(q, head);",
  ],
  [
    "SP4: the consumer never looks at the producer's index",
    "int32_t tail = weft__load(&q->tail); q->tail_cache",
    "int32_t tail = q->tail_cache; q->tail_cache",
  ],
  [
    "SP4: the producer never looks at the consumer's index",
    "q->head_cache = weft__load(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;",
    "",
  ],
  [
    "SP5: reads the producer's index plainly",
    "int32_t tail = weft__load(&q->tail); q->tail_cache",
    "int32_t tail = *(volatile int32_t *)&q->tail; q->tail_cache",
  ],
  [
    "publishes by a store",
    "int32_t was = weft__compare_exchange(&q->tail, tail, next);",
    "int32_t was = weft__load(&q->tail); " +
    "if (was == tail) weft__store(&q->tail, next);",
  ],
  [
    "publishes and wakes nobody",
    "weft__notify(&q->tail, 1); return 0;",
    "return 0;",
  ],
  [
    "pushes into a closed queue",
    "if (was & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;",
    "",
  ],
  [
    "frees and wakes nobody",
    "if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__notify(&q->head, 1);",
    "",
  ],
  [
    "frees only where nobody sleeps",
    "for (int32_t expected = head; was != expected;) {",
    "for (int32_t expected = head; 0;) {",
  ],
  [
    "sleeps without asking for a wake",
    "int32_t was = weft__compare_exchange(word, idle, value);",
    "int32_t was = idle;",
  ],
  [
    "asks for a wake by a store",
    "int32_t was = weft__compare_exchange(word, idle, value);",
    "int32_t was = weft__exchange(word, value);",
  ],
  [
    "asks for a wake at the wrong index",
    "weft__minus(tail, span)",
    "weft__minus(tail, span - span)",
  ],
  [
    "closes only the producer's end",
    "for (int i = 0; i < 2; i++)",
    "for (int i = 0; i < 1; i++)",
  ],
  [
    "closes and wakes nobody",
    "weft__notify(words[i], WEFT__ALL);",
    "continue;",
  ],
  [
    "does not see that it is closed when empty",
    "return filled == 0 && tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? -1 : filled;",
    "return filled;",
  ],
);

const mpmc_queue = [
  ...mutants(
    "mpmc_queue",
    "mpmc_queue",
    [
      "MQ1: publishes before it writes",
      "weft__mpmc_slot(q, ticket)[1] = value; /* published by (P) */ " +
      "weft__mpmc_publish(q, ticket);",
      "weft__mpmc_publish(q, ticket); weft__mpmc_slot(q, ticket)[1] = value;",
    ],
    [
      "MQ2: frees before it reads",
      "*value = weft__mpmc_slot(q, ticket)[1]; /* published by (P) */ " +
      "weft__mpmc_free(q, ticket);",
      "weft__mpmc_free(q, ticket); *value = weft__mpmc_slot(q, ticket)[1];",
    ],
    [
      "MQ3: claims to pop by a store",
      "int32_t seen = weft__compare_exchange(&q->head, head, next);",
      "int32_t seen = head; weft__store(&q->head, next);",
    ],
    [
      "frees a slot for the same lap",
      "weft__plus(ticket, q->capacity * WEFT_MPMC_QUEUE_ONE)",
      "weft__plus(ticket, 0)",
    ],
    [
      "pushes and wakes nobody",
      "weft__mpmc_publish(q, ticket); weft__event_wake(&q->pop_epoch, 1);",
      "weft__mpmc_publish(q, ticket);",
    ],
    [
      "pops and wakes nobody",
      "weft__mpmc_free(q, ticket); weft__event_wake(&q->push_epoch, 1);",
      "weft__mpmc_free(q, ticket);",
    ],
    [
      "wakes before it publishes",
      "weft__mpmc_publish(q, ticket); weft__event_wake(&q->pop_epoch, 1);",
      "weft__event_wake(&q->pop_epoch, 1); weft__mpmc_publish(q, ticket);",
    ],
    [
      "closes and wakes no consumer",
      "return; weft__event_wake(&q->pop_epoch, WEFT__ALL);",
      "return;",
    ],
    [
      "closes and wakes no producer",
      "weft__event_wake(&q->pop_epoch, WEFT__ALL); " +
      "weft__event_wake(&q->push_epoch, WEFT__ALL); }",
      "weft__event_wake(&q->pop_epoch, WEFT__ALL); }",
    ],
    [
      "says it is closed before it is drained",
      "return weft__load(&q->tail) == drained ? -EPIPE : 0;",
      "(void)drained; return weft_mpmc_queue_closed(q) ? -EPIPE : 0;",
    ],
    [
      "commits and wakes nobody",
      "weft__load((int32_t *)slot - 1)); weft__event_wake(&q->pop_epoch, 1);",
      "weft__load((int32_t *)slot - 1));",
    ],
  ),
  ...mutants(
    "mpmc_queue",
    "event counts",
    [
      "does not change the epoch",
      "weft__add(epoch, 1);",
      "",
    ],
    [
      "changes the epoch after the wake",
      "weft__add(epoch, 1); weft__notify(epoch, n);",
      "weft__notify(epoch, n); weft__add(epoch, 1);",
    ],
    [
      "sleeps without announcing itself",
      "weft__add((epoch) + 1, 1);",
      "",
      ["weft__add((epoch) + 1, -1);", ""],
    ],
    [
      "looks at the epoch after its last attempt",
      "int32_t seen = weft__load(epoch); if ((result = (attempt)) == EBUSY)",
      "if ((result = (attempt)) == EBUSY)",
      ["weft__sleep(epoch, seen,", "weft__sleep(epoch, weft__load(epoch),"],
    ],
    [
      "is counted for ever",
      "weft__add((epoch) + 1, -1);",
      "",
    ],
  ),
];

const event = mutants(
  "event",
  "event",
  [
    "sets by a store",
    "state = weft__compare_exchange(&e->state, expected, next);",
    "weft__store(&e->state, next);",
  ],
  [
    "sets and wakes nobody",
    "} else if (state & WEFT_EVENT_WAITING_BIT) { " +
    "weft__notify(&e->state, WEFT__ALL); }",
    "}",
  ],
  [
    "wakes one of all who wait",
    "weft__notify(&e->state, WEFT__ALL);",
    "weft__notify(&e->state, 1);",
  ],
  [
    "signals and wakes nobody",
    "if (state & WEFT_EVENT_WAITERS_MASK) weft__notify(&e->state, 1);",
    ";",
  ],
  [
    "takes a signal by a store",
    "state = weft__compare_exchange(&e->state, expected, taken);",
    "weft__store(&e->state, taken);",
  ],
  [
    "sleeps without a mark",
    "state |= WEFT_EVENT_WAITING_BIT;",
    "",
  ],
  [
    "does not see a pulse",
    "if (state & WEFT_EVENT_SET_BIT || (state ^ since) & " +
    "WEFT_EVENT_PULSE_MASK)",
    "if (state & WEFT_EVENT_SET_BIT)",
  ],
  [
    "who times out is counted for ever",
    "else if (last) state -= counted;",
    "",
  ],
);

const latch = mutants(
  "latch",
  "latch",
  [
    "counts down by a store",
    "state = weft__compare_exchange(&l->state, expected, next);",
    "weft__store(&l->state, next);",
  ],
  [
    "opens and wakes nobody",
    "weft__notify(&l->state, WEFT__ALL);",
    ";",
  ],
  [
    "opens and wakes one",
    "weft__notify(&l->state, WEFT__ALL);",
    "weft__notify(&l->state, 1);",
  ],
  [
    "sleeps without a mark",
    "state |= WEFT_LATCH_WAITING_BIT;",
    "",
  ],
  [
    "marks by a store",
    "int32_t seen = weft__compare_exchange(&l->state, expected, state);",
    "int32_t seen = expected; weft__store(&l->state, state);",
  ],
  [
    "does not look again after a sleep",
    "WEFT__LOOK); state = weft__load(&l->state);",
    "WEFT__LOOK); if (outcome == WEFT__OK) break;",
  ],
);

const once = mutants(
  "once",
  "once",
  [
    "ends by a store",
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);",
    "int32_t state = weft__load(&o->state); " +
    "weft__store(&o->state, WEFT_ONCE_DONE_BIT);",
  ],
  [
    "ends and wakes nobody",
    "if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL);",
    "(void)state;",
  ],
  [
    "ends and wakes one",
    "weft__notify(&o->state, WEFT__ALL);",
    "weft__notify(&o->state, 1);",
  ],
  [
    "fails and forgets who waits",
    "weft__and(&o->state, WEFT_ONCE_WAITING_BIT);",
    "weft__exchange(&o->state, 0) & 0;",
  ],
  [
    "two run it at once",
    "int32_t state = weft__compare_exchange(&o->state, WEFT_ONCE_NEW, id);",
    "int32_t state = weft__load(&o->state); " +
    "if (state == WEFT_ONCE_NEW) weft__store(&o->state, id);",
  ],
);

const work_counter = mutants(
  "work_counter",
  "work_counter",
  [
    "takes a task by load and store",
    "uint64_t start = (uint32_t)weft__add(&c->next, 1) * chunk;",
    "uint64_t start = (uint32_t)weft__load(&c->next) * chunk; " +
    "weft__store(&c->next, weft__load(&c->next) + 1);",
  ],
  [
    "takes a guided range by a store",
    "next = weft__compare_exchange(&c->next, start, end);",
    "weft__store(&c->next, end);",
  ],
  [
    "counts by a store",
    "int32_t seen = weft__compare_exchange(&c->done, done, done + n);",
    "int32_t seen = done; weft__store(&c->done, done + n);",
  ],
  [
    "ends and wakes nobody",
    "if (was == WEFT_WORK_COUNTER_AWAITED) " +
    "weft__notify(&c->finished, WEFT__ALL);",
    "(void)was;",
  ],
  [
    "wakes one of those who wait",
    "weft__notify(&c->finished, WEFT__ALL);",
    "weft__notify(&c->finished, 1);",
  ],
  [
    "does not look at the target that cancel set",
    "if (done + n >= weft__load(&c->target)) weft__work_counter_finish(c);",
    "if (done + n >= c->total) weft__work_counter_finish(c);",
  ],
  [
    "cancel does not look at what is done",
    "if (weft__load(&c->done) >= target) weft__work_counter_finish(c);",
    "",
  ],
  [
    "cancel looks before it sets the target",
    "weft__store(&c->target, target); /* (C) then look at what is done */ " +
    "if (weft__load(&c->done) >= target) weft__work_counter_finish(c);",
    "if (weft__load(&c->done) >= target) weft__work_counter_finish(c); " +
    "weft__store(&c->target, target);",
  ],
);

const work_deque = mutants(
  "work_deque",
  "work_deque",
  [
    "WD: the owner takes the last item without asking",
    "left < 0 || (left == 0 && weft__compare_exchange( &d->top, top, " +
    "weft__plus(top, 1)) != top)",
    "left < 0",
  ],
  [
    "WD: the owner looks at top before it takes",
    "weft__store(&d->bottom, bottom); int32_t top = weft__load(&d->top);",
    "int32_t top = weft__load(&d->top); weft__store(&d->bottom, bottom);",
  ],
);

/** All of them. */
export const MUTANTS: readonly Mutant[] = [
  ...mutex,
  ...semaphore,
  ...spsc_queue,
  ...mpmc_queue,
  ...event,
  ...latch,
  ...once,
  ...work_counter,
  ...work_deque,
  ...call_ring,
  ...channel,
];
