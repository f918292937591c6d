// also: node, browsers
// A pool with one task, whose worker serves the default export of a module.
import * as assert from "uvu/assert";
import { Pool, task, type TaskFunctions } from "../../primitives/pool.ts";
import { servedBy } from "../../primitives/_pool/worker/serve.ts";
import { specsOf } from "../../primitives/_pool/task.ts";
import { suite } from "../_run/harness.ts";
import { start } from "../_run/workers.ts";
import { tasks } from "./tasks.ts";

const test = suite("Pool of a module");

const WORKER = new URL("./worker.ts", import.meta.url);

const one = { sum: tasks.sum };
const sum = ({ a, b }: { a: number; b: number }) => a + b;
const other = () => 0;

/** The functions by their tasks. */
const served = (declared: typeof one, functions: object) =>
  [...servedBy(specsOf(declared), functions as Record<string, unknown>)]
    .map(([name, { run }]) => [name, run]);

for (const blocking of [false, true]) {
  test(`a worker serves a default export as the only task: blocking ${blocking}`, async () => {
    const orders = { instead: "module", blocking };
    const make = () => start(WORKER, orders);
    const pool = new Pool({ tasks: one, workers: 1, make });
    try {
      assert.is(await pool.run("sum", { a: 1, b: 2 }), 3);
      const results: number[] = [];
      for await (const it of pool.map("sum", [{ a: 3, b: 4 }])) {
        results.push(it);
      }
      assert.equal(results, [7]);
      await pool.close();
    } finally {
      pool.terminate();
    }
  });
}

test("a worker with functions for none of the pool's tasks says so", async () => {
  const make = () => start(WORKER, { instead: "module" });
  const pool = new Pool({ tasks: { mine: task() }, workers: 1, make });
  const error = await pool.run("mine").catch((error) => error);
  assert.match(error.message, /no function for task "mine": it has none$/);
  pool.terminate();
});

test("a default stands for the only task, whatever other names it has", () => {
  assert.equal(served(one, { default: sum }), [["sum", sum]]);
  assert.equal(served(one, { sum, default: sum }), [["sum", sum]]);
  const exported = { "module.exports": sum, default: sum };
  assert.equal(served(one, exported), [["sum", sum]]);
  assert.equal(served(one, { sum, default: undefined }), [["sum", sum]]);
});

test("a default that is not the only task is refused", () => {
  const fails = (declared: typeof one, functions: object, why: string) =>
    assert.throws(
      () => served(declared, functions),
      (it: Error) => it instanceof TypeError && it.message.includes(why),
    );
  const two = { ...one, echo: tasks.echo };
  fails(two, { sum, default: sum }, 'no task "default": there are sum, echo');
  const twice = "Task sum has two functions: one is `default`";
  fails(one, { sum, default: other }, twice);
  fails(one, { default: other, sum }, twice);
  fails(one, { default: 7 }, "Task sum needs a function: received 7");
  fails(one, { default: sum, other }, 'no task "other": there are sum');
});

test("a task may be named default", () => {
  const named = { default: task<number, number>(), twice: task() };
  const specs = specsOf(named);
  const functions: TaskFunctions<typeof named> = {
    default: (it) => it + 1,
    twice: (it) => it,
  };
  assert.equal([...servedBy(specs, functions).keys()], ["default", "twice"]);
});

test("a default has the types of the only task", () => {
  const good: TaskFunctions<typeof one>[] = [
    { default: sum },
    { default: ({ a }) => Promise.resolve(a) },
    { sum },
    // @ts-expect-error: a text is no result of the task
    { default: () => "3" },
    // @ts-expect-error: the request is no text
    { default: (it: string) => it.length },
  ];
  assert.is(good.length, 5);
  const two: TaskFunctions<typeof tasks>[] = [
    // @ts-expect-error: there are several tasks
    { default: sum },
  ];
  assert.is(two.length, 1);
});
