// it is long
// `deno task conformance`, on small suites of ours in the form of others'.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { need, run } from "../_run/native.ts";

const TASK = fileURLToPath(new URL("../_run/conformance.ts", import.meta.url));
const THREAD = "libcxx/test/std/thread/";

const test = suite("suites of others");
let folder = "";

test.before(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-conformance-"));
});
test.after(() => fs.rmSync(folder, { recursive: true }));
test.beforeEach(() => {
  for (const name of fs.readdirSync(folder)) {
    fs.rmSync(path.join(folder, name), { recursive: true });
  }
});

/** Writes the files of a suite. */
function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
}

const conformance = (...words: string[]) =>
  run(process.execPath, ["run", "-A", "-q", TASK, ...words], 280);

test("a folder that is no suite: one word says what would be one", async () => {
  const { code, output } = await conformance(folder);
  assert.is(code, 2);
  assert.match(output, `${folder} is no suite that is known`);
  assert.match(output, "libcxx/test/std/thread: the tests of libc++");
  assert.match(output, "docs/conformance.md says how to get them");
  const none = await conformance(path.join(folder, "none"));
  assert.is(none.code, 2);
  assert.match(none.output, "no folder");
  const nothing = await conformance();
  assert.is(nothing.code, 2);
  assert.match(nothing.output, "usage: deno task conformance FOLDER");
});

const MUTEX = `#include <cassert>
#include <mutex>
#include <type_traits>
int main(int, char **) {
  std::mutex m;
  std::lock_guard<std::mutex> held(m);
  assert(!m.try_lock());
#ifdef WEFT_HPP
  static_assert(std::is_same<std::mutex, weft::mutex>::value, "");
#endif
}
`;

test("libc++: what passes, must not compile, or cannot be said", async () => {
  await need("g++");
  write({
    [`${THREAD}thread.mutex/lock.pass.cpp`]: MUTEX,
    [`${THREAD}thread.mutex/old.pass.cpp`]:
      "// UNSUPPORTED: c++17, c++20, c++23, c++26\nno C++",
    [`${THREAD}thread.mutex/copy.fail.cpp`]: `#include <mutex>
int main() {
  std::mutex one;
  std::mutex two(one); // expected-error {{deleted}}
}
`,
    [`${THREAD}thread.condition/notify_all_at_thread_exit.pass.cpp`]:
      `#include <condition_variable>
int main() {
  std::mutex m;
  std::condition_variable c;
  std::notify_all_at_thread_exit(c, std::unique_lock<std::mutex>(m));
}
`,
  });
  const { code, output } = await conformance(folder);
  assert.match(output, "lock.pass.cpp: passed; the C++ library: passed");
  assert.match(output, "copy.fail.cpp: passed; the C++ library: passed");
  assert.match(output, "old.pass.cpp: not run: it is for an older C++");
  assert.match(output, /exit.pass.cpp: cannot be said: .*library: passed/);
  assert.match(output, "passed: 2; the C++ library: 3");
  assert.is(code, 0, output);
}, 300_000);

test("an error if Weft fails what passes without it", async () => {
  await need("g++");
  const ends = `#include <mutex>
int main() {
#ifdef WEFT_HPP
  return 1;
#endif
}
`;
  const name = "thread.mutex/ends.pass.cpp";
  write({
    [THREAD + name]: ends,
    [`${THREAD}thread.mutex/lacks.pass.cpp`]: `#include <mutex>
int main() { (void)std::mutex().native_handle()->__data; }
`,
    [`${THREAD}thread.mutex/copy.fail.cpp`]: `#include <mutex>
int main() {
#ifndef WEFT_HPP
  std::mutex m = none; // expected-error {{declared}}
#endif
}
`,
    [`${THREAD}thread.mutex/wrong.pass.cpp`]: "int main() { return 1; }\n",
  });
  const { code, output } = await conformance(folder);
  assert.match(output, `fails: ${name}: failed: exit code 1`);
  assert.match(output, /^fails: .*lacks.*: does not compile: error: /m);
  assert.match(output, /^fails: .*copy.*: failed: it compiles$/m);
  assert.not.match(output, /^fails: .*wrong/m); // it fails without Weft, too
  assert.is(code, 1, output);
  const none = await conformance(folder, "semaphore");
  assert.is(none.code, 2);
  assert.match(none.output, 'has "semaphore" in its name');
}, 300_000);

test("libstdc++: what its directives say of a test", async () => {
  await need("g++");
  const tests = "libstdc++-v3/testsuite/30_threads/";
  write({
    "libstdc++-v3/testsuite/util/testsuite_hooks.h":
      "#include <cassert>\n#define VERIFY(is_true) assert(is_true)\n",
    [`${tests}mutex/lock.cc`]: `// { dg-do run }
// { dg-require-effective-target c++11 }
#include <mutex>
#include <testsuite_hooks.h>
int main() {
  std::mutex m;
  VERIFY(m.try_lock());
#ifdef WEFT_HPP
  static_assert(std::is_same<std::mutex, weft::mutex>::value);
#endif
}
`,
    [`${tests}latch/newer.cc`]: `// { dg-options "-std=gnu++2a" }
// { dg-do compile { target c++2a } }
#include <latch>
static_assert(__cplusplus > 201703L);
std::latch of(1);
`,
    [`${tests}mutex/copy.cc`]: `// { dg-do compile { target c++11 } }
#include <mutex>
std::mutex one;
std::mutex two(one); // { dg-error "deleted" }
`,
    [`${tests}mutex/clock_neg.cc`]: `// { dg-do compile { target c++20 } }
#include <mutex>
#ifndef WEFT_HPP
#error none
#endif
// { dg-error "none" "" { target *-*-* } 0 }
`,
    [`${tests}future/get.cc`]: "no C++",
  });
  const { code, output } = await conformance(folder);
  assert.match(output, "latch/newer.cc: passed; libstdc++: passed");
  assert.match(output, "mutex/lock.cc: passed; libstdc++: passed");
  assert.match(output, "mutex/copy.cc: passed; libstdc++: passed");
  assert.match(output, /clock_neg.cc: cannot be said: .*libstdc.*: passed/);
  assert.match(output, "in the sources of gcc: 4 tests");
  assert.is(code, 0, output);
}, 300_000);

/** A test of threads, whose skeleton has its main function. */
const OF_THREADS = `#include <pthread.h>
#include <support/check.h>
static pthread_barrier_t b;
static int do_test(void) {
  return pthread_barrier_init(&b, 0, 1) + mistakes(BODY);
}
#include "../test-skeleton.c"
`;

test("glibc: its tests, with a library of what they share", async () => {
  await need("gcc");
  const of = (body: string) => OF_THREADS.replace("BODY", body);
  const ours = "sizeof b > sizeof(weft_barrier)";
  write({
    "include/array_length.h": "",
    "include/intprops.h": "",
    "include/libc-diag.h": "",
    "support/check.h": "int mistakes(int are);\n",
    "support/check.c": "#include <support/check.h>\n#include <config.h>\n" +
      "int mistakes(int are) { return are; }\n",
    "support/tst-own.c": "no C",
    "support/odd.c": "#include <none.h>\n",
    "test-skeleton.c": "int main(void) { return do_test(); }\n",
    "nptl/tst-rwlock6.c": of("0"),
    "nptl/tst-rwlock6-static.c": "no C",
    "nptl/tst-attr1.c": "no C",
    "sysdeps/pthread/tst-barrier1.c": `#ifndef WEFT_PTHREAD_H
typedef int weft_barrier;
#endif
${of(`!(${ours})`)}`,
    "sysdeps/pthread/tst-barrier2.c": of("77"),
    "sysdeps/pthread/tst-spin2.c": `#ifdef WEFT_PTHREAD_H
#define BODY 1
#else
#define BODY 0
#endif
${OF_THREADS}`,
    "sysdeps/pthread/tst-cond7.c": of("pthread_cancel(pthread_self())"),
  });
  const { code, output } = await conformance(folder);
  assert.match(output, "rwlock6.c: passed; the C library: passed");
  assert.match(output, "barrier1.c: passed; the C library: passed");
  assert.match(output, "barrier2.c: unsupported; the C library: unsupported");
  assert.match(output, /spin2.c: cannot be said: a .*the C library: passed/);
  assert.match(output, /cond7.c: cannot be said: weft_pthread_has_no_cancel/);
  assert.match(output, "in its sources: 5 tests");
  assert.is(code, 0, output);
}, 300_000);

/** A queue of theirs that says whether it is ours. */
const THEIRS = `#include <cstddef>
template <class T> struct ring {
  T at[8]; size_t head = 0, tail = 0;
  explicit ring(size_t) {}
  bool try_push(T v) { return tail - head < 8 && (at[tail++ % 8] = v, true); }
  T *front() { return head == tail ? nullptr : &at[head % 8]; }
  void pop() { head++; }
};
`;

test("rigtorp's and moodycamel's: their tests, on our queues", async () => {
  await need("g++");
  write({
    "include/rigtorp/SPSCQueue.h":
      `${THEIRS}namespace rigtorp { template <class T> using SPSCQueue = ring<T>; }`,
    "src/SPSCQueueTest.cpp": `#include <cassert>
#include <rigtorp/SPSCQueue.h>
int main() {
  rigtorp::SPSCQueue<int> q(8);
  for (int n = 0; n < 8; n++) assert(q.try_push(n));
  assert(!q.try_push(8) && *q.front() == 0);
  q.pop();
  assert(*q.front() == 1);
}
`,
  });
  const one = await conformance(folder);
  assert.match(one.output, "SPSCQueueTest: passed; rigtorp's: passed");
  assert.is(one.code, 0, one.output);
  fs.rmSync(path.join(folder, "src"), { recursive: true });
  write({
    "atomicops.h": "",
    "readerwriterqueue.h": `#include <cstddef>
namespace moodycamel {
template <class T> struct ReaderWriterQueue {
  T at[8]; size_t head = 0, tail = 0;
  bool enqueue(T v) { return at[tail++ % 8] = v, true; }
  bool try_dequeue(T &v) { return head < tail && (v = at[head++ % 8], true); }
};
}
`,
    "tests/common/simplethread.h": "",
    "tests/common/simplethread.cpp": "",
    "tests/unittests/minitest.h": "#define REGISTER_TEST(name)\n",
    "tests/unittests/unittests.cpp": `#include <string>
#include "minitest.h"
#include "../../readerwriterqueue.h"
REGISTER_TEST(in_and_out)
REGISTER_TEST(max_capacity)
int main(int, char **words) {
  moodycamel::ReaderWriterQueue<int> q;
  int got = 0;
#ifdef WEFT_HPP
  if (words[3] == std::string("max_capacity")) return 1;
#endif
  if (words[3] == std::string("in_and_out")) q.enqueue(7);
  else got = 7;
  return (q.try_dequeue(got), got) == 7 ? 0 : 2;
}
`,
  });
  const two = await conformance(folder);
  assert.match(two.output, "in_and_out: passed; moodycamel's: passed");
  assert.match(two.output, /max_capacity: cannot be said: .*'s: passed/);
  assert.is(two.code, 0, two.output);
}, 300_000);

test("Boost.Thread: the library and its tests are made of ours", async () => {
  await need("g++");
  const made = (name: string) =>
    `#include <boost/word.hpp>
#include <pthread.h>
int ${name}() {
#ifdef WEFT_PTHREAD_H
  return BOOST_WORD;
#else
  return 0;
#endif
}
`;
  const uses = `#include <pthread.h>
int thread();
int once();
int future();
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
`;
  write({
    "libs/lockfree/test/stack_test.cpp": "no C++",
    "libs/config/include/boost/word.hpp": "#define BOOST_WORD 1\n",
    "libs/thread/src/pthread/thread.cpp": made("thread"),
    "libs/thread/src/pthread/once.cpp": made("once"),
    "libs/thread/src/future.cpp": made("future"),
    "libs/thread/test/test_mutex.cpp": `${uses}
int main() {
  const bool ours = sizeof lock == 4 * sizeof(int);
  return thread() + once() + future() == 3 * ours ? 0 : 1;
}
`,
    "libs/thread/test/test_once.cpp": `${uses}
int main() { return thread(); }
`,
    "libs/thread/test/test_tss.cpp": "no C++",
    "libs/thread/test/sync/mutual_exclusion/mutex/lock_compile_pass.cpp":
      `${uses}
void only_compiled() { pthread_mutex_lock(&lock); }
`,
    "libs/thread/test/sync/mutual_exclusion/mutex/copy_fail.cpp": "no C++",
  });
  const { code, output } = await conformance(folder);
  assert.match(output, "thread/test_mutex.cpp: passed; Boost's: passed");
  assert.match(output, /lock_compile_pass.cpp: passed; Boost's: passed/);
  assert.match(output, "fails: thread/test_once.cpp: failed: exit code 1");
  assert.match(output, ": 3 tests");
  assert.is(code, 1, output);
}, 300_000);

test("Boost.Interprocess: its locks are made of ours", async () => {
  await need("g++");
  write({
    "libs/lockfree/test/stack_test.cpp": "no C++",
    "libs/interprocess/include/boost/interprocess/detail/workaround.hpp":
      `#pragma once
#define BOOST_INTERPROCESS_POSIX_PROCESS_SHARED
#define BOOST_INTERPROCESS_POSIX_ROBUST_MUTEXES
#define BOOST_INTERPROCESS_POSIX_NAMED_SEMAPHORES
`,
    "libs/interprocess/test/named_semaphore_test.cpp":
      `#include <boost/interprocess/detail/workaround.hpp>
#include <pthread.h>
#include <semaphore.h>
int main() {
#ifdef BOOST_INTERPROCESS_POSIX_NAMED_SEMAPHORES
  (void)sem_open("/weft-none", 0);
#endif
#ifdef BOOST_INTERPROCESS_POSIX_ROBUST_MUTEXES
  pthread_mutexattr_t robust;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
#endif
#ifdef WEFT_PTHREAD_H
  return sizeof(pthread_mutex_t) == 4 * sizeof(int) ? 0 : 1;
#endif
}
`,
    "libs/interprocess/test/mutex_test.cpp":
      "#include <pthread.h>\nint main() { return sizeof(pthread_mutex_t) == 16; }\n",
    "libs/interprocess/test/deque_test.cpp": "no C++",
  });
  const { code, output } = await conformance(folder);
  assert.match(output, "named_semaphore_test.cpp: passed; Boost's: passed");
  assert.match(output, "fails: interprocess/mutex_test.cpp: failed");
  assert.match(output, ": 2 tests");
  assert.is(code, 1, output);
}, 300_000);
