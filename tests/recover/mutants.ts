import { mutants } from "../_run/mutant.ts";

/** Mutants of `recover`, and of what it asks of a queue. */
export const MUTANTS = mutants({
  source: "tools/recover",
  scenarios: ["recover"],
}, {
  what: "recovers locks before what they protect",
  by: "a lock and a record of a dead agent are recovered",
  ts: "[-.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))-];",
  c: "if ([-weft__recover_turn(kind) != turn-]{+turn != 0+}) continue;",
}, {
  what: "gives up an agent that another dead one keeps it from",
  by: "two producers of a ring are dead, and a third is terminated",
  ts: "holder = -count; {+left.delete(id); +}continue;",
  c: "ids[j], count); }[- i--;-]",
}, {
  what: "recovers one of the dead",
  by: "the owner of a mutex is terminated",
  ts: "new Set(dead{+.slice(0, 1)+});",
  c: "for (int32_t i = 0; what != 0 && i < [-n-]{+1+}; i++) {",
}, {
  what: "does not look at the slots of a queue",
  by: "the producer of a queue is terminated",
  ts: '[-if (blocked > 0) tell("queue blocked", 0, blocked);-]',
  c: "[-if (blocked > 0) weft__recover_tell(&f, i, WEFT_QUEUE_BLOCKED, 0, " +
    "blocked);-]",
}, {
  what: "leaves the tasks of a tracked counter",
  by: "an agent with tasks is dead, and a worker is terminated",
  ts: '[-work_counter: "tasks returned",-]',
  c: "case WEFT_KIND_work_counter: return [-WEFT_TASKS_RETURNED-]{+0+};",
}, {
  what: "takes a claim of an agent that hands on for one that is held",
  ts: "[-slots = slots.filter(({ index, turn }) => Atomics.load(words, " +
    "index) === turn );-]{+break;+}",
  equivalent: "an agent may stand still for all looks: the page says so",
}).concat(
  mutants({
    source: "_queue/mpmc/slots",
    header: "mpmc_queue",
    scenarios: ["recover"],
  }, {
    what: "takes a filled slot for one that a consumer holds",
    by: "the producer of a queue is terminated",
    ts: '[-if (popped) -]tell("pop", slot, index, turn);',
    c: "popped ? WEFT__MPMC_POP : [-WEFT__MPMC_FINE-]{+WEFT__MPMC_POP+}",
  }, {
    what: "takes a slot that a producer holds for a free one",
    by: "the producer of a queue is terminated",
    ts: 'if (turn === ticket) [-tell("push", slot, index, turn);-]{+{}+}',
    c: "look.doing = [-WEFT__MPMC_PUSH-]{+WEFT__MPMC_FINE+};",
  }),
);
