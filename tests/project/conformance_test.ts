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
std::mutex::native_handle_type none;
int main() {}
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
