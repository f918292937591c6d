/**
 * The text of the page about the figures: what the studies claimed, what was
 * found here, and which targets are reached.
 *
 * @module
 */

import { show } from "../contest.ts";
import { figureOf, type Results } from "./workload.ts";

/** A figure with a target: it must be at least this much. */
interface Target {
  readonly what: string;
  readonly figure: number;
  readonly least?: number;
  readonly most?: number;
}

/** Looks figures up. */
class Figures {
  readonly #results: Results;

  constructor(results: Results) {
    this.#results = results;
  }

  /** When it was measured. */
  get date(): string {
    return this.#results.date;
  }

  /** The machine's cores. */
  get cores(): number {
    return parseInt(this.#results.machine);
  }

  /** A table's figure. */
  of(id: string, one: string, at: string | number): number {
    const table = this.#results.tables.find((table) => table.id === id);
    const figure = table && figureOf(table, one, at);
    if (figure === undefined) {
      throw new Error(`no figure: ${id}, ${one}, ${at}`);
    }
    return figure;
  }

  /** Whether there is a figure; not all packages can do all tasks. */
  has(id: string, one: string, at: string | number): boolean {
    const table = this.#results.tables.find((table) => table.id === id);
    return table !== undefined && figureOf(table, one, at) !== undefined;
  }

  /** Whether there is such a table. */
  hasTable(id: string): boolean {
    return this.#results.tables.some((table) => table.id === id);
  }

  /** Another figure of the finding that a figure is in. */
  detail(id: string, one: string, at: string | number, key: string): number {
    const table = this.#results.tables.find((table) => table.id === id)!;
    const found = table.findings.find((finding) =>
      finding[table.of] === one && finding[table.by] === at
    );
    const value = found?.[key];
    if (value === undefined) throw new Error(`no ${key}: ${id}, ${one}, ${at}`);
    return Number(value);
  }

  /** The first figure divided by the other. */
  ratio(id: string, one: string, other: string, at: string | number): number {
    return this.of(id, one, at) / this.of(id, other, at);
  }
}

function tableOf(targets: readonly Target[]): string {
  const rows = targets.map(({ what, figure, least, most }) => {
    const wanted = least === undefined
      ? `at most ${most}`
      : `at least ${least}`;
    const met = least === undefined ? figure <= most! : figure >= least;
    return `| ${what} | ${show(figure)} | ${wanted} | ${met ? "yes" : "no"} |`;
  });
  return [
    "| target | figure | wanted | reached |",
    "| --- | ---: | --- | --- |",
    ...rows,
  ].join("\n");
}

const PEERS = ["piscina", "tinypool", "workerpool", "poolifier"];

/** The text about each workload. */
const STORIES: Readonly<Record<string, (f: Figures) => string>> = {
  hash_pool(f) {
    const t = "hash_node";
    const limit = f.of(t, "no workers", 1) / f.cores;
    const copied = f.of(t, "no workers, data copied", 1) / f.cores;
    const over = PEERS.filter((peer) => f.has(t, peer, 2))
      .map((peer) => f.ratio(t, peer, "pool", 2));
    const targets = [{
      what: "the pool, 2 workers: time / one thread's, over the cores",
      figure: f.of(t, "pool", 2) / limit,
      most: 1.05,
    }, {
      what: "the same, with the time to copy the data in both",
      figure: f.of(t, "pool", 2) / copied,
      most: 1.05,
    }, {
      what: "the same, over two processes that share nothing",
      figure: f.ratio(t, "pool", "two processes, nothing shared", 2),
      most: 1.05,
    }];
    return `The study hands out tasks in two ways. The first is a shared counter, with all
data in place before the start. The second is a slot for each worker, with a lock
word on which the worker sleeps and which the main thread awaits. These slots can
hang: the worker announces the answer before it gives the slot back, so a late
wake-up counts for the next task. This page does not say how often that happens.
It measures a port of the program, ends a run that takes long, and shows the
figures of the others. The row "slots, 1 in flight" is the same
method without this flaw: it has two events for each slot. The author proposed
several tasks in flight for each worker, but did not measure it: the rows of slots
and of \`CallRing\` with more in flight measure it here.

The limit is one thread's time divided by the number of cores. Nobody can reach
it if the data must be copied first, because the same cores copy them to memory
that workers see. With these copies, one thread takes ${
      show(copied / limit)
    } times as long. Two processes that share nothing and copy nothing take ${
      show(f.of(t, "two processes, nothing shared", 2) / limit)
    } times the limit. A worker is slower than
the main thread for two reasons: the data it reads are in another core's cache,
and each task that it sleeps for costs two wake-ups. Three things help: many
tasks in flight, one wake-up for many results, and slots at multiples of eight
bytes. V8 copies to and from shared memory by words of eight bytes, but byte by
byte if the two sides have different offsets within a word.

- Copies take ${
      show(f.ratio(t, "shared counter, copies", "shared counter, views", 1))
    } times the time of views with one worker, and ${
      show(f.ratio(t, "shared counter, copies", "shared counter, views", 2))
    } times with two (cited: up to 1.35).
- With four tasks in flight instead of one, slots are ${
      show(f.ratio(t, "slots, 1 in flight", "slots, 4 in flight", 1))
    } times as fast with one worker, and ${
      show(f.ratio(t, "slots, 1 in flight", "slots, 4 in flight", 2))
    } times with two; \`CallRing\` ${
      show(f.ratio(t, "CallRing, 1 in flight", "CallRing, 4 in flight", 1))
    } and ${
      show(f.ratio(t, "CallRing, 1 in flight", "CallRing, 4 in flight", 2))
    } times.
- The pools from npm take ${show(Math.min(...over))} to ${
      show(Math.max(...over))
    } times as long as the pool, with two workers. A package that
  is missing in the table did not finish the tasks.${
      f.date > "2026-11-21"
        ? " The pool is the package's [`Pool`](primitives/pool.md)."
        : ` When this was measured, the pool was an example of 120 lines. Today
  the same program uses the package's [\`Pool\`](primitives/pool.md).`
    }
- The event loop's utilisation does not measure a worker, as the study found.
  With one task in flight, the utilisation of slots is ${
      show(f.detail(t, "slots, 1 in flight", 2, "utilization"))
    } %, but the threads run only ${
      show(f.detail(t, "slots, 1 in flight", 2, "awake"))
    } % of the time.
- More workers than cores cost processor time and gain nothing: with 16
  workers the pool takes ${
      show(f.of(t, "pool", 16) / f.of(t, "pool", 2))
    } times the time that it takes with 2, and ${
      show(f.detail(t, "pool", 16, "cpu") / f.detail(t, "pool", 2, "cpu"))
    } times the processor time.
- The last four charts follow one way of each kind from 1 to 16 workers: the
  time, the processor time of all threads, that of one worker, and how much of
  the time a worker runs. The rest of the time it sleeps, or waits for a core.
- C hashes without the processor's instructions for hashing, which JavaScript's
  runtime uses. The pool whose workers are half C shows that one pool can serve
  both languages, not that C is faster.

${tableOf(targets)}`;
  },

  dispatch(f) {
    const targets = [1, 2].map((workers) => ({
      what: `the pool, tasks of a microsecond, ${workers} worker${
        workers > 1 ? "s" : ""
      }: tasks a second / piscina's`,
      figure: f.ratio("small_node", "piscina", "pool", workers),
      least: 5,
    }));
    return `If tasks are small, handing them out takes most of the time. To do a task of a
microsecond takes less time than to hand it to a worker. The pool and npm's pools
return a promise for each task, which costs time. A counter from which workers
take numbers needs no promises, but all data must be in place.

- A task of a microsecond, with 2 workers, takes ${
      show(f.of("small_node", "WorkCounter, guided", 2))
    } µs by a guided \`WorkCounter\`, ${
      show(f.of("small_node", "WorkCounter, single", 2))
    } by a single one, ${
      show(f.of("small_node", "MpmcQueue of slots", 2))
    } by a queue of slots, ${
      show(f.of("small_node", "pool", 2))
    } by the pool, ${
      show(f.of("small_node", "messages, round robin", 2))
    } by messages, ${show(f.of("small_node", "piscina", 2))} by piscina.
- Tasks of 50 µs are done ${
      show(f.ratio("medium_node", "no workers", "pool", 1))
    } times as fast by one worker of the pool as without workers, ${
      show(
        f.of("medium_node", "no workers", 1) / f.of("medium_node", "pool", 2),
      )
    } times as fast by two, and ${
      show(
        f.of("medium_node", "no workers", 1) /
          f.of("medium_node", "piscina", 2),
      )
    } times as fast by two workers of piscina.
- If each 64th task takes a hundred times as long as the others, two workers
  of the pool are ${
      show(
        f.of("skewed_node", "no workers", 1) / f.of("skewed_node", "pool", 2),
      )
    } times as fast as no workers, a guided counter is ${
      show(
        f.of("skewed_node", "no workers", 1) /
          f.of("skewed_node", "WorkCounter, guided", 2),
      )
    } times as fast, and messages to each worker in turn are ${
      show(
        f.of("skewed_node", "no workers", 1) /
          f.of("skewed_node", "messages, round robin", 2),
      )
    } times as fast.

${tableOf(targets)}`;
  },

  deno_pool() {
    return `These are the same programs under Deno, whose workers are web workers. The pools
from npm are for Node, and do not finish these tasks here.`;
  },

  allocators(f) {
    const of = (table: string, way: string, threads: number) =>
      show(f.of(`${table}_node`, way, threads));
    const module = (malloc: string) => show(f.of("modules", malloc, "module"));
    const sums = !f.has("sums_node", "all threads", 1)
      ? ""
      : `- Sums: one thread ${of("sums", "all threads", 1)} ms, two ${
        of("sums", "all threads", 2)
      } ms, four ${of("sums", "all threads", 4)} ms.\n`;
    return `In the study, threads of C scale if they compute. If they allocate, they scale
only with mimalloc, because dlmalloc and emmalloc have one lock for all threads.
The measurements here agree, with one exception: on one thread, mimalloc is not
twice as fast as dlmalloc (cited: 1466 against 2660 ms). Blocks have 1000 to 2023
bytes, and each thread keeps 1024 of them. The figures are from Node:

${sums}- Blocks that the same thread frees, one thread: dlmalloc ${
      of("churn", "dlmalloc", 1)
    } ms, emmalloc ${of("churn", "emmalloc", 1)}, mimalloc ${
      of("churn", "mimalloc", 1)
    }, \`SlabPool\` ${of("churn", "SlabPool", 1)}; four threads: ${
      of("churn", "dlmalloc", 4)
    }, ${of("churn", "emmalloc", 4)}, ${of("churn", "mimalloc", 4)} and ${
      of("churn", "SlabPool", 4)
    }.
- Blocks that another thread frees, which neither study measured, two threads:
  dlmalloc ${of("exchange", "dlmalloc", 2)} ms, emmalloc ${
      of("exchange", "emmalloc", 2)
    }, mimalloc ${of("exchange", "mimalloc", 2)}, \`SlabPool\` ${
      of("exchange", "SlabPool", 2)
    }; with JavaScript on the freeing side ${
      of("exchange", "SlabPool, JS frees", 2)
    }, on the allocating side ${of("exchange", "SlabPool, JS takes", 2)}.

${
      !f.has("modules", "mimalloc", "module")
        ? ""
        : `- The program's module has ${
          module("dlmalloc")
        } KiB with dlmalloc, ${module("emmalloc")} with emmalloc and ${
          module("mimalloc")
        } with mimalloc. After the blocks of eight threads, the heap has ${
          of("heap", "dlmalloc", 8)
        }, ${of("heap", "emmalloc", 8)} and ${
          of("heap", "mimalloc", 8)
        } MiB. A heap never shrinks: one process ran with 1 to 8 threads.
`
    }
So use mimalloc if C allocates blocks of any size on several threads; it costs a
larger module and heap. Use a pool if blocks of one size pass between threads, or
between languages: a worker of JavaScript that has not loaded the module cannot
free a block of any malloc.`;
  },

  file_io(f) {
    const ring = "RecordRing, host's files";
    const gathered = "RecordRing, 64 lines a record";
    const forms = [[ring, "a record a line"], [gathered, "a record for 64"]];
    const places = ["node", "deno"].flatMap((host) =>
      forms.flatMap((form) => [1, 2, 4].map((at) => [host, form, at] as const))
    );
    const targets = places.flatMap(([host, [own, how], threads]) => {
      const where = `${host === "node" ? "Node" : "Deno"}, ${threads} thread${
        threads > 1 ? "s" : ""
      }, ${how}: lines a second / `;
      const ratio = (other: string) =>
        f.ratio(`lines_${host}`, other, own!, threads);
      return [
        {
          what: `${where}JS FS, proxied`,
          figure: ratio("JS FS, write"),
          least: 200,
        },
        {
          what: `${where}WasmFS onto the host's files`,
          figure: ratio("WasmFS, host's files, write"),
          least: 3,
        },
      ];
    });
    const pieces = (way: string, at: string | number) =>
      f.of("pieces_node", way, at);
    return `With Emscripten's old file system, the main thread makes each call in place of
the thread that asked for it. WasmFS needs no such detour: in the study it is 32
times as fast on a thread, and twice as fast on the main thread (cited). Here it
is ${show(pieces("JS FS", 1) / pieces("WasmFS", 1))} and ${
      show(pieces("JS FS", "main thread") / pieces("WasmFS", "main thread"))
    } times as fast with pieces of a file under Node.

With this library, threads push lines into a \`RecordRing\`, and a worker of
JavaScript writes them to the file, many at a time. A thread pushes each line at
once, or gathers several lines first, as \`fwrite\` does. A flush is a record, too:
its answer says that all lines before it are in the file, or names the first
error. All other operations are calls through a \`CallRing\`. Such a call costs two
wake-ups if both sides sleep: ${
      show(pieces("CallRing, host's files", 1))
    } µs a step under Node. WasmFS onto
the host's files takes ${
      show(pieces("WasmFS, host's files", 1))
    } µs, and proxied calls take ${show(pieces("host's files, proxied", 1))} µs.

With one thread, a buffered \`fwrite\` through WasmFS takes ${
      show(f.ratio("lines_node", "WasmFS, host's files, fwrite", ring, 1))
    } times as long as the ring, and ${
      show(
        f.ratio("lines_node", "WasmFS, host's files, fwrite", gathered, 1),
      )
    } times as long as the ring with gathered lines. It also needs a file for each
thread. The ring gives one file in one order from many threads, without I/O on
the threads that log, and it can write to any sink that JavaScript can reach. The
benchmark reads all lines again, and compares them byte for byte.

A main thread that blocks cannot make the calls of other threads. So if it waits
in JavaScript for a thread whose calls it must make, both wait for ever: with the
file systems that proxy, a thread cannot write one line. In Node and in Deno, the
two ways that proxy had not ended after 3 seconds; the five others had written
all lines.${
      f.hasTable("blocked_node")
        ? ` The last table shows that. WasmFS and the ring do not need the main
thread, so there it may block.`
        : ""
    }

${tableOf(targets)}`;
  },

  page_files(f) {
    const of = (way: string, step: string) =>
      show(f.of("pieces_page", way, step));
    return `A page's main thread must not block, and its own file system has only calls
that it awaits; a file that is written a piece at a time is copied for each piece.
A worker of the page can keep the file open and read and write it at once. The
main thread asks the worker by messages, or through a \`CallRing\`, which also
serves threads of C. Each step is awaited and checked.

- To read 64 bytes takes ${
      of("the page's own calls", "read")
    } µs by the page's own calls, ${
      of("messages to a worker", "read")
    } by messages and ${
      of("CallRing", "read")
    } by \`CallRing\`. With 16 steps in
  flight, it takes ${of("messages, 16 in flight", "read")} and ${
      of("CallRing, 16 in flight", "read")
    } µs. The worker alone takes ${of("the worker alone", "read")}.
- To write them takes ${of("the page's own calls", "write")}, ${
      of("messages to a worker", "write")
    } and ${of("CallRing", "write")} µs; with 16 in flight ${
      of("messages, 16 in flight", "write")
    } and ${of("CallRing, 16 in flight", "write")}; the worker alone ${
      of("the worker alone", "write")
    }.`;
  },
};

/** The text about the results. */
export function story(results: Results): string {
  return STORIES[results.name]!(new Figures(results));
}
