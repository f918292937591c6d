/**
 * The tests of Boost.Lockfree, on the queues of `weft.hpp`, and those of
 * Boost.Thread and Boost.Interprocess, which are made of `weft_pthread.h` then.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { INCLUDE } from "../header.ts";
import { CXX, namesIn, type On, ours, Shared, WORDS } from "./queues.ts";
import {
  type Case,
  compile,
  type Compiled,
  firstError,
  refusal,
  SHIMS,
  type Suite,
} from "./suite.ts";

const LOCKFREE = "libs/lockfree/test";
const THREAD = "libs/thread/test";
const INTERPROCESS = "libs/interprocess/test";

/** The files of Boost.Lockfree that are about a queue, and no stack. */
const QUEUES = [
  "queue_test",
  "queue_bounded_stress_test",
  "queue_fixedsize_stress_test",
  "queue_unbounded_stress_test",
  "spsc_queue_test",
  "spsc_queue_stress_test",
];

/** The files of Boost.Thread that are about a lock, or wait for one. */
const LOCKS =
  /^test_(barrier|completion_latch|condition|generic_locks|latch|mutex|once|shared_mutex|xtime|lock_concept)\w*\.cpp$/;
/** And the folders, and what is of them. */
const FOLDERS = [
  "sync/conditions",
  ...["mutex", "once", "recursive_mutex", "recursive_timed_mutex"],
  ...["shared_mutex", "sync_bounded_queue", "sync_deque", "sync_pq"],
  ...["sync_queue", "timed_mutex"],
].map((name) => name.includes("/") ? name : `sync/mutual_exclusion/${name}`);

/** The files of Boost.Interprocess about a lock, or a queue that waits. */
const SHARED =
  /^((named_)?(condition|condition_any|mutex|recursive_mutex|semaphore|sharable_mutex|upgradable_mutex)|mutex_timeout|message_queue)_test\.cpp$/;

/** Where the headers of Boost are: beside each library, or in one folder. */
const includesOf = (root: string): string[] =>
  [...fs.readdirSync(path.join(root, "libs")), "numeric/conversion"]
    .map((name) => path.join(root, "libs", name, "include"))
    .concat(root)
    .filter((folder) => fs.existsSync(path.join(folder, "boost")))
    .flatMap((folder) => ["-I", folder]);

/** What `boost::thread` is made of; all programs of a suite share it. */
function library(root: string, words: (on: On) => readonly string[]) {
  const built = new Map<string, Promise<Compiled>>();
  const object = (name: string, on: On) => {
    const known = built.get(name + on) ?? compile({
      compiler: CXX,
      words: [...words(on), "-c"],
      files: [path.join(root, `libs/thread/src/${name}.cpp`)],
    });
    built.set(name + on, known);
    return known;
  };
  const names = ["pthread/thread", "pthread/once", "future"];
  return async (on: On): Promise<string[]> => {
    const objects = await Promise.all(names.map((name) => object(name, on)));
    return objects.flatMap(({ program }) => program ?? []);
  };
}

/** Boost.Lockfree's queues. */
function lockfree(root: string, includes: readonly string[]): Case[] {
  const words = [
    ...[...WORDS, "-DBOOST_LOCKFREE_INCLUDE_TESTS", "-DBOOST_ALL_NO_LIB"],
    ...includes,
  ];
  const objects = library(root, () => words);
  return QUEUES.flatMap((file): Case[] => {
    const source = path.join(root, LOCKFREE, `${file}.cpp`);
    if (!fs.existsSync(source)) return [];
    const program = new Shared(async (on) => ({
      compiler: CXX,
      words: [...ours(on), ...words],
      files: [source, ...await objects("theirs")],
    }));
    const found = namesIn(source, /BOOST_AUTO_TEST_CASE\( *(\w+) *\)/g);
    return found.map((name): Case => ({
      name: `${file}/${name}`,
      run: (on) => program.run(on, [`--run_test=${name}`]),
    }));
  });
}

/** Boost.Thread's tests that run, or need only compile. */
function threadFiles(root: string): string[] {
  const of = (folder: string, recursive: boolean): string[] => {
    const place = path.join(root, THREAD, folder);
    if (!fs.existsSync(place)) return [];
    return fs.readdirSync(place, { recursive, encoding: "utf8" }).sort()
      .map((name) => path.join(folder, name));
  };
  return [
    ...of("", false).filter((name) => LOCKS.test(name)),
    ...FOLDERS.flatMap((name) => of(name, true))
      .filter((name) => name.endsWith("_pass.cpp")),
  ];
}

function threads(root: string, includes: readonly string[]): Case[] {
  const words = (on: On) => [
    ...["-std=c++17", "-O1", "-pthread", "-w", "-D_GNU_SOURCE"],
    ...["-DBOOST_THREAD_VERSION=4", "-DBOOST_ALL_NO_LIB"],
    ...["-DBOOST_CHRONO_HEADER_ONLY", ...includes],
    ...(on === "weft" ? ["-include", "weft_pthread.h", "-I", INCLUDE] : []),
  ];
  const objects = library(root, words);
  return threadFiles(root).map((name): Case => {
    const source = path.join(root, THREAD, name);
    const text = fs.readFileSync(source, "utf8");
    // A test may need the framework, of which no library is built.
    const framework = text.includes("boost/test/unit_test.hpp")
      ? [
        "-DBOOST_TEST_MODULE=suite",
        ...["-include", "boost/test/included/unit_test.hpp"],
      ]
      : [];
    const program = new Shared(async (on) => ({
      compiler: CXX,
      words: [...words(on), ...framework],
      files: [source, ...await objects(on)],
    }));
    const compiles = async (on: On) => {
      const said = await refusal({
        compiler: CXX,
        words: words(on),
        files: [source],
      });
      return said === null ? "passed" : `does not compile: ${firstError(said)}`;
    };
    const runs = /\bmain *\(/.test(text) || framework.length > 0;
    return {
      name: `thread/${name}`,
      run: (on) => runs ? program.run(on, []) : compiles(on),
    };
  });
}

/** Locks that lie in memory of several processes, and what is made of them. */
function interprocess(root: string, includes: readonly string[]): Case[] {
  const folder = path.join(root, INTERPROCESS);
  if (!fs.existsSync(folder)) return [];
  const front = [
    ...["-include", "weft_pthread.h", "-DWEFT_PROCESS_SHARED", "-I", INCLUDE],
    ...["-include", path.join(SHIMS, "weft_interprocess.hpp")],
  ];
  return fs.readdirSync(folder).filter((name) => SHARED.test(name)).sort()
    .map((name): Case => {
      const program = new Shared((on) => ({
        compiler: CXX,
        words: [
          ...["-std=c++17", "-O1", "-pthread", "-w", "-D_GNU_SOURCE"],
          ...["-DBOOST_ALL_NO_LIB", ...includes],
          ...(on === "weft" ? front : []),
        ],
        files: [path.join(folder, name), "-lrt"],
      }));
      return {
        name: `interprocess/${name}`,
        run: (on) => program.run(on, []),
      };
    });
}

/** Boost's tests of queues and of locks. */
export const BOOST: Suite = {
  title: "the tests of Boost.Lockfree, Thread and Interprocess",
  mark: LOCKFREE,
  theirs: "Boost's",
  cases: (root) => {
    const includes = includesOf(root);
    return [
      ...lockfree(root, includes),
      ...threads(root, includes),
      ...interprocess(root, includes),
    ];
  },
};
