// Tests workers that code under test makes, and their messages.
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { channel, failureOf, holds, memory, sleep, words } from "./ports.ts";

const test = suite("race workers");

// deno-lint-ignore no-explicit-any
type Any = any;

const alone = () => new SharedArrayBuffer(16);
const start = () => new Worker(new URL("./worker.js", import.meta.url));
const workers = { "worker.js": 1 };

test("a worker begins when it is made, and knows what was written before", async () => {
  await holds(() =>
    race.agents(
      { memory: alone, workers },
      async (m) => {
        words(m)[1] = 4;
        const worker = start();
        worker.postMessage(m);
        return await new Promise((resolve) =>
          worker.onmessage = ({ data }) => resolve(data)
        );
      },
      (m, _, scope) => {
        const before = words(m)[1]!;
        scope.onmessage = ({ data }) =>
          scope.postMessage(words(data)[1]! * 10 + before);
      },
      { after: (_, [got]) => assert.is(got, 44) },
    )
  );
});

test("an address stands for the worker of the longest ending", async () => {
  const workers = { "worker.js": 1, "my_worker.js": 2 };
  const says = (what: number) => (m: SharedArrayBuffer) => {
    Atomics.store(words(m), what, 1);
  };
  await holds(() =>
    race.agents(
      { memory: alone, workers },
      () => {
        new Worker(new URL("./my_worker.js", import.meta.url));
        start();
      },
      says(1),
      async (m) => {
        await sleep(1);
        says(2)(m);
      },
      { after: (m) => assert.equal([...words(m).slice(1, 3)], [1, 1]) },
    )
  );
});

test("a worker that listens too late loses a message", async () => {
  const error = await failureOf(() =>
    race.agents({ memory: alone, workers }, async () => {
      const worker = start();
      worker.postMessage("work");
      await new Promise((resolve) => worker.onmessage = resolve);
    }, async (_, __, scope) => {
      await sleep(1); // such as to load a module
      scope.onmessage = () => scope.postMessage("done");
    })
  );
  assert.is(error.kind, "deadlock");
  const text = 'agent 0 waits for a message in agent0() on the worker "worker';
  assert.ok(error.message.includes(text), error.message);
});

test("a worker that nobody makes waits for its start", async () => {
  const error = await failureOf(() =>
    race.agents({ memory: alone, workers }, () => {}, () => {})
  );
  assert.is(error.kind, "deadlock");
  assert.match(error.message, /agent 1 waits .* the start of the worker/);
});

test("wrong uses of workers are refused by name", async () => {
  const refused = async (run: () => unknown, text: RegExp) => {
    let message = "";
    try {
      await run();
    } catch (error) {
      message = String(error);
    }
    assert.match(message, text);
  };
  const ends = (_: Any, __: number, scope: Any) => {
    scope.onmessage = () => {};
  };
  await refused(
    () => race.agents({ memory: alone, workers: { a: 2 } }, ends, ends),
    /TypeError: workers must name an agent from 1 to 1/,
  );
  await refused(
    () =>
      race.agents(
        { memory: alone, workers },
        () => void new Worker("other"),
        ends,
      ),
    /Cannot explore Worker/,
  );
  await refused(
    () =>
      race.agents({ memory: alone, workers }, () => start().terminate(), ends),
    /terminate/,
  );
  await refused(
    () =>
      race.agents({ memory: alone, workers }, () => {
        start();
        start();
      }, ends),
    /a second Worker of "worker.js"/,
  );
  await refused(
    () =>
      race.agents({ memory }, () => {
        channel.port1.onmessage = () => {};
      }, async () => {
        await null;
        channel.port1.onmessage = () => {};
      }),
    /agents \d and \d both listen to it/,
  );
});
