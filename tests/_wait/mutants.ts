import { mutants, none, type Row } from "../_run/mutant.ts";

const NO_ASYNC = none("C has no async forms, so no event loop keeps its waits");

const WAIT: Row[] = [{
  what: "takes the look of each second for the timeout",
  ts: 'return woken[- === "timed-out" && left >= atMost ? "looked" : woken-];',
  c: "if ([-last-]{+true+}) {",
  by: "lock, tryLock",
}, {
  what: "blocks without ending its native waits",
  ts: "[-withdrawAll(); -]const woken",
  c: NO_ASYNC,
  by: "an agent that awaits blocks",
}, {
  what: "a waiter that is aborted while it is served loses its wake",
  ts: "if (!waiter.aborted[- || served-]) deliver(resolve, value);",
  c: NO_ASYNC,
  by: "aborted while served",
}];

const LINE: Row[] = [{
  what: "a wake for all wakes only one waiter of the agent",
  ts: "line.left = true; Atomics.notify(line.words, line.index{+, 1+});",
  c: NO_ASYNC,
  by: "an agent that awaits blocks, behind another one",
}, {
  what: "forgets to end its native waits",
  ts: "line.left = true;[- Atomics.notify(line.words, line.index);-]",
  c: NO_ASYNC,
  by: "an agent that awaits blocks",
}, {
  what: "keeps the native wait of an empty line",
  ts: "if ({+!+}line.armed)[- withdraw(line); else-] forget(line);",
  c: NO_ASYNC,
  by: "a wait is aborted, its agent computes, another one blocks",
}, {
  what: "treats a native wait that did not begin as pending",
  by: "an agent awaits twice",
  ts: "if (!wait.async) return [-false-]{+true+};",
  c: NO_ASYNC,
}, {
  what: "begins no native wait",
  by: "an agent awaits twice",
  ts: '[-if (!line.serving && !line.armed) serve(line, "not-equal");-]',
  c: NO_ASYNC,
}, {
  what: "does not serve the waiters behind the first",
  by: "an agent awaits twice",
  ts: "[-if (waiter.line === line && !waiter.sleep.all) -]break;",
  c: NO_ASYNC,
}, {
  what: "a wait that begins while the last one is resumed is not armed",
  by: "a select begins while a wait is resumed",
  ts: "[-!(came && behind === end)-]{+behind !== waiter+}",
  c: NO_ASYNC,
}, {
  what: "a wake for all serves only the first waiter in line",
  ts: "waiter.line === line[- && !waiter.sleep.all-]",
  c: NO_ASYNC,
  by: "a release serves the second in line",
}, {
  what: "a native wait that has ended counts as pending",
  by: "an agent awaits twice",
  ts: "[-line.armed = -]line.left = false;",
  c: NO_ASYNC,
}, {
  what: "begins no native wait for the new first waiter in line",
  by: "an agent awaits twice",
  ts: "[-if (armed) -]return true;",
  c: NO_ASYNC,
}, {
  what: "an aborted waiter stays in line",
  by: "a wait is aborted, another one blocks",
  ts: "[-before.behind = behind; behind.before = before;-]",
  c: NO_ASYNC,
}, {
  what: "does not serve the line when its native wait has ended",
  by: "an agent awaits twice",
  ts: '[-else serve(line, left ? "not-equal" : "ok");-]',
  c: NO_ASYNC,
}];

/** Mutants of the two ways to wait. */
export const MUTANTS = [
  ...mutants({ source: "_wait/wait", scenarios: ["_wait", "mutex"] }, ...WAIT),
  ...mutants({
    source: "_wait/turns",
    header: "_wait",
    scenarios: ["_wait"],
  }, {
    what: "cancels a promise, and not its wait",
    ts: "[-abort(waiter);-]{+waiter.reject(reason);+}",
    c: NO_ASYNC,
    by: "a wait is cancelled, another one blocks",
  }),
  ...mutants({
    source: "_wait/pending",
    header: "_wait",
    scenarios: ["_wait"],
  }, {
    what: "a push passes one of the same agent that awaits",
    ts: "return[- isBehind ? behindOthers(it, place) :-] waitOn(it);",
    c: NO_ASYNC,
    by: "two pushes of an agent keep their order",
  }),
  ...mutants({ source: "_wait/wait", scenarios: ["rw_lock"] }, {
    what: "gives up while its native wait still takes wakes",
    by: "in line: a writer that awaits gives up",
    ts: '[-if (woken === "timed-out") leave(waiter);-]',
    c: NO_ASYNC,
  }),
  ...["mpmc_queue", "spsc_queue", "record_ring"].flatMap((queue) =>
    mutants({ source: "_wait/wait", scenarios: [queue] }, {
      what: `${queue}: an abort settles a promise, and not its wait`,
      by: "closed, and freed when an aborted pop has returned",
      ts: "onAbort(signal, waiter, [-abort-]{+(waiter) => " +
        "waiter.reject(waiter.signal!.reason)+});",
      c: NO_ASYNC,
    })
  ),
  ...mutants({
    source: "_wait/line",
    header: "_wait",
    scenarios: ["_wait", "mutex"],
  }, ...LINE),
  ...mutants({
    source: "_lock/mutex",
    header: "_wait",
    scenarios: ["_wait"],
  }, {
    what: "awaits the end of the lock, and keeps it",
    ts: "[-else unlock(words, id); -]return true;",
    c: NO_ASYNC,
    by: "one awaits the end of the lock, one blocks",
  }, {
    what: "awaits the end of the lock only if it is free",
    ts: "[-if (ownerOf(words) === 0) -]return true;",
    c: NO_ASYNC,
    by: "one awaits the end of the lock",
  }),
  ...mutants({
    source: "_lock/semaphore",
    header: "_wait",
    scenarios: ["_wait"],
  }, {
    what: "one of a higher priority keeps a claimant of its agent asleep",
    ts: "n > 1[- || Atomics.load(words, BULK) > 0-]",
    c: NO_ASYNC,
    by: "a release serves the claimant behind another one",
  }),
  ...mutants({ source: "_wait/life", header: "_wait", scenarios: ["_wait"] }, {
    what: "does not look each second",
    ts: "[-if (look(true)) -]return;",
    c: NO_ASYNC,
    by: "an agent is terminated",
  }),
  ...mutants({ source: "_wait/turn", header: "_wait", scenarios: ["_wait"] }, {
    what: "loses results that are kept for the next turn",
    ts: "next = undefined;[- begin?.();-]",
    c: NO_ASYNC,
    by: "ready results are spread over turns",
  }, {
    what: "posts no macrotask",
    ts: "[-post(onTurn); -]return true;",
    c: NO_ASYNC,
    by: "ready results are spread over turns",
  }),
];
