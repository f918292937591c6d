// Tests messages between agents: channels, order, and what goes along with a
// message.
import threads, { receiveMessageOnPort } from "node:worker_threads";
import * as assert from "uvu/assert";
import { race, Unsupported } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import {
  channel,
  failureOf,
  heard,
  holds,
  memory,
  next,
  sleep,
  words,
} from "./ports.ts";

const test = suite("race messages");

// deno-lint-ignore no-explicit-any
type Any = any;

for (const sample of [undefined, "random"] as const) {
  const how = sample === undefined
    ? { time: 20_000 }
    : { sample, runs: 50 } as const;
  const told = sample === undefined ? "every order" : "samples";

  test(`what was written before a message is ordered, in ${told}`, async () => {
    const result = await (race.agents({ memory }, (m) => {
      words(m)[0] = 7;
      channel.port1.postMessage("ready");
    }, async (m) => {
      await next(channel.port2);
      return words(m)[0];
    }, { ...how }));
    assert.is(result.complete, sample === undefined);
  });

  test(`a message before the write is a data race, in ${told}`, async () => {
    const error = await failureOf(() =>
      race.agents({ memory }, (m) => {
        channel.port1.postMessage("ready");
        words(m)[0] = 7;
      }, async (m) => {
        await next(channel.port2);
        return words(m)[0];
      }, { ...how })
    );
    assert.is(error.kind, "data-race");
  });
}

test("a message is a step of its sender, its arrival one of the receiver", async () => {
  const error = await failureOf(() =>
    race.agents(
      { memory },
      (m) => {
        channel.port1.postMessage({ n: 1 });
        Atomics.store(words(m), 0, 7);
      },
      async (m) => {
        await next(channel.port2);
        return Atomics.load(words(m), 0);
      },
      { after: (_, [, n]) => n === 0 ? "too early" : undefined },
    )
  );
  assert.is(error.kind, "invariant");
  assert.match(error.message, /post \{ n: 1 \} to port2 of channel 0/);
  assert.match(error.message, /\(port2 of channel 0 receives \{ n: 1 \}\)/);
  assert.match(error.schedule, /1a1/);
});

test("a failure is replayed by its schedule", async () => {
  const spec = race.spec({
    async: true,
    memory,
    agent: words,
    ops: {
      post: {
        run: async (w: Int32Array) => {
          channel.port1.postMessage(1);
          await null;
          w[0] = 1;
        },
      },
      read: {
        run: async (w: Int32Array) => {
          await next(channel.port2);
          return w[0];
        },
      },
    },
  });
  const { failure } = await race.check(spec, [["post"]], [["read"]]);
  assert.is(failure?.kind, "data-race");
  const program = [[["post"]], [["read"]]] as const;
  const again = await race.replay(spec, program, failure!.schedule);
  assert.is(again.failure?.kind, "data-race");
});

test("a port keeps its order, and ports interleave", async () => {
  const orders = new Set<string>();
  let other: MessageChannel;
  await holds(() =>
    race.agents(
      {
        memory: () => {
          other = new MessageChannel();
          return memory();
        },
      },
      () => {
        channel.port1.postMessage(1);
        channel.port1.postMessage(2);
        other.port1.postMessage(3);
      },
      async () => {
        const got: number[] = [];
        await new Promise<void>((resolve) => {
          const take = ({ data }: MessageEvent) => {
            if (got.push(data) === 3) resolve();
          };
          channel.port2.onmessage = take;
          other.port2.onmessage = take;
        });
        return got.join();
      },
      {
        after: (_, [, got]) => {
          if (typeof got === "string") orders.add(got);
        },
      },
    )
  );
  assert.equal([...orders].sort(), ["1,2,3", "1,3,2", "3,1,2"]);
});

test("messages of two senders arrive in both orders", async () => {
  const orders = new Set<string>();
  const post = (n: number) => () => channel.port1.postMessage(n);
  await holds(() =>
    race.agents({ memory }, post(1), post(2), async () => {
      const first = await next(channel.port2);
      return `${first},${await next(channel.port2)}`;
    }, {
      after: (_, [, , got]) => {
        if (typeof got === "string") orders.add(got);
      },
    })
  );
  // A message between the two listeners is not heard: see below.
  assert.ok(orders.has("1,2") && orders.has("2,1"));
});

// ---- who waits --------------------------------------------------------------

test("a message before its listener is lost, and the report says who waits", async () => {
  const error = await failureOf(() =>
    race.agents({ memory }, () => channel.port1.postMessage("go"), async () => {
      channel.port2.start();
      await sleep(1); // it may arrive here
      await heard(channel.port2);
    })
  );
  assert.is(error.kind, "deadlock");
  const text = "agent 1 waits for a message in agent1() on port2 of channel 0";
  assert.ok(error.message.includes(text), error.message);
});

test("a port that is opened with its listener loses no message", async () => {
  await holds(() =>
    race.agents({ memory }, () => channel.port1.postMessage("go"), async () => {
      await sleep(1);
      await next(channel.port2);
    })
  );
});

test("a port that is never started receives nothing, and is named", async () => {
  const error = await failureOf(() =>
    race.agents({ memory }, () => channel.port1.postMessage("go"), async () => {
      await heard(channel.port2);
    })
  );
  assert.is(error.kind, "deadlock");
  const text = "a message lies at port2 of channel 0, which nobody has opened";
  assert.ok(error.message.includes(text), error.message);
});

test("two agents that each wait for the other's message first", async () => {
  const error = await failureOf(() =>
    race.agents({ memory }, async () => {
      await next(channel.port1);
      channel.port1.postMessage(1);
    }, async () => {
      await next(channel.port2);
      channel.port2.postMessage(2);
    })
  );
  assert.is(error.kind, "deadlock");
  assert.match(error.message, /agent 0 waits for a message .* on port1/);
  assert.match(error.message, /agent 1 waits for a message .* on port2/);
});

test("a call that is over still receives messages", async () => {
  const seen = new Set<unknown>();
  await holds(() =>
    race.agents({ memory }, async (m) => {
      await Promise.resolve();
      channel.port2.onmessage = ({ data }) => {
        Atomics.add(words(m), 0, data);
      };
    }, () => {
      channel.port1.postMessage(5);
      channel.port1.postMessage(2);
    }, { after: (m) => void seen.add(words(m)[0]) })
  );
  assert.ok(seen.has(7));
});

/** The data of the next message, if there is one. */
const taken = (port: MessagePort): Any =>
  threads.receiveMessageOnPort(port as Any)?.message;

test("receiveMessageOnPort takes what was posted before it, in order", async () => {
  const seen = new Set<string>();
  await holds(() =>
    race.agents(
      { memory },
      () => {
        channel.port1.postMessage(1);
        channel.port1.postMessage(2);
      },
      () => [taken(channel.port2), taken(channel.port2)].join(),
      { after: (_, [, got]) => void seen.add(got as string) },
    )
  );
  assert.equal([...seen].sort(), [",", ",1", "1,", "1,2"]);
});

test("an agent that was woken for a message finds it, and what was written", async () => {
  const result = await holds(() =>
    race.agents(
      { memory },
      (m) => {
        const w = words(m);
        w[1] = 7;
        channel.port1.postMessage({ n: 1 });
        Atomics.store(w, 0, 1);
        Atomics.notify(w, 0, 1);
      },
      (m) => {
        const w = words(m);
        Atomics.wait(w, 0, 0);
        return taken(channel.port2).n + w[1]!;
      },
      { after: (_, [, sum]) => assert.is(sum, 8) },
    )
  );
  assert.ok(result.states > 3);
});

test("a message that is looked for too early is told, and replayed", async () => {
  const spec = race.spec({
    async: true,
    memory,
    agent: words,
    ops: {
      post: {
        run: async () => {
          await null;
          channel.port1.postMessage("go");
        },
      },
      take: {
        run: async () => {
          await null;
          if (taken(channel.port2) === undefined) throw new Error("too early");
        },
      },
    },
  });
  const program = [[["post"]], [["take"]]] as const;
  const { failure } = await race.check(spec, ...program);
  assert.is(failure?.kind, "exception");
  const text = "receiveMessageOnPort port2 of channel 0 -> nothing";
  assert.ok(failure!.table.includes(text), failure!.table);
  const again = await race.replay(spec, program, failure!.schedule);
  assert.is(again.failure?.kind, "exception");
});

test("a port that comes with a message is one that can be used", async () => {
  await holds(() =>
    race.agents(
      { memory },
      (m) => {
        const { port1, port2 } = new MessageChannel();
        channel.port1.postMessage({ port2 }, [port2]);
        Atomics.store(words(m), 0, 1);
        Atomics.notify(words(m), 0, 1);
        Atomics.wait(words(m), 1, 0);
        return taken(port1);
      },
      (m) => {
        Atomics.wait(words(m), 0, 0);
        taken(channel.port2).port2.postMessage("up");
        Atomics.store(words(m), 1, 1);
        Atomics.notify(words(m), 1, 1);
      },
      { after: (_, [got]) => assert.is(got, "up") },
    )
  );
});

test("a closed port has no message", async () => {
  await holds(() =>
    race.agents({ memory }, () => channel.port1.postMessage(1), () => {
      channel.port2.close();
      return taken(channel.port2);
    }, { after: (_, [, got]) => assert.is(got, undefined) })
  );
});

test("receiveMessageOnPort by its own name is refused, in each form", async () => {
  const take = (port: MessagePort) => receiveMessageOnPort(port as Any);
  const forms: Record<string, () => unknown> = {
    called: () => take(channel.port2),
    awaited: async () => {
      await null;
      take(channel.port2);
    },
    "in a listener": async () => {
      await new Promise((resolve) => {
        channel.port2.onmessage = () => {
          take(channel.port2);
          resolve(undefined);
        };
      });
    },
  };
  for (const [form, take] of Object.entries(forms)) {
    let thrown: unknown;
    try {
      await race.agents({ memory }, () => channel.port1.postMessage(1), take);
    } catch (error) {
      thrown = error;
    }
    assert.instance(thrown, Unsupported, `${form}: ${thrown}`);
    assert.match((thrown as Error).message, /explore receiveMessageOnPort\(\)/);
  }
});

test("a port that is closed tells nobody", async () => {
  let told = 0;
  const result = await holds(() =>
    race.agents({ memory }, async () => {
      await null;
      channel.port1.addEventListener("close", () => told++);
      channel.port1.close();
    }, async () => {
      channel.port2.addEventListener("close", () => told++);
      channel.port2.start();
      await null;
    })
  );
  assert.ok(result.ok);
  assert.is(told, 0);
});

// ---- what is posted ---------------------------------------------------------

test("data is copied when it is posted, and again for each receiver", async () => {
  await holds(() =>
    race.agents(
      { memory },
      () => {
        const list = [1, 2];
        channel.port1.postMessage(new Map([["list", list]]));
        list.push(3);
        channel.port1.postMessage(list);
      },
      async () => {
        const got: Any[] = [];
        await new Promise<void>((resolve) => {
          channel.port2.onmessage = ({ data }) => {
            got.push(data);
            if (got.length === 2) resolve();
            else data.get("list").push(9);
          };
        });
        const [first, second] = got;
        return [first.get("list").join(), second.join()];
      },
      {
        after: (_, [, got]) => {
          if (got !== undefined) assert.equal(got, ["1,2,9", "1,2,3"]);
        },
      },
    )
  );
});

test("messages with other content lead to other states", async () => {
  const seen = new Set<unknown>();
  await holds(() =>
    race.agents({ memory }, (m) => {
      const n = Atomics.load(words(m), 0);
      channel.port1.postMessage(new Uint8Array([n, 1]).buffer);
    }, async () => {
      const data = await next(channel.port2);
      return new Uint8Array(data)[0];
    }, (m) =>
      Atomics.store(words(m), 0, 6), {
      after: (_, [, n]) =>
        void seen.add(n),
    })
  );
  assert.ok(seen.has(0) && seen.has(6));
});

test("shared memory is the same memory, through a message", async () => {
  await holds(() =>
    race.agents(
      { memory },
      (m) => channel.port1.postMessage({ at: words(m).subarray(1, 2) }),
      async () => {
        const { at } = await next(channel.port2);
        Atomics.add(at, 0, 5);
      },
      (m) => Atomics.add(words(m), 1, 1),
      {
        after: (m, [, done]) => {
          void done;
          assert.ok([6, 0, 1, 5].includes(words(m)[1]!));
        },
      },
    )
  );
});

test("throws what the platform throws for what cannot be posted", async () => {
  const real = new MessageChannel();
  const nameOf = (post: () => void): string => {
    try {
      post();
    } catch (error) {
      return (error as Error).name;
    }
    return "none";
  };
  const attempts = (
    { port1 }: MessageChannel,
    spare: MessagePort,
  ): string[] => {
    const gone = new ArrayBuffer(4);
    structuredClone(gone, { transfer: [gone] });
    return [
      nameOf(() => port1.postMessage(() => {})),
      nameOf(() => port1.postMessage(Symbol("s"))),
      nameOf(() => port1.postMessage({ spare })),
      nameOf(() => port1.postMessage(0, [spare, spare])),
      nameOf(() => port1.postMessage(0, [port1])),
      nameOf(() => port1.postMessage(0, [gone])),
      nameOf(() => port1.postMessage(0, [{} as Any])),
    ];
  };
  const spare = new MessageChannel();
  const expected = attempts(real, spare.port1);
  for (const { port1, port2 } of [real, spare]) {
    port1.close();
    port2.close();
  }
  assert.is(expected[0], "DataCloneError");
  await holds(() =>
    race.agents({ memory }, async () => {
      await null;
      return attempts(channel, new MessageChannel().port1);
    }, { after: (_, [got]) => assert.equal(got, expected) })
  );
});

test("what is transferred is the sender's no longer", async () => {
  await holds(() =>
    race.agents(
      { memory },
      async () => {
        const { port1, port2 } = new MessageChannel();
        const bytes = new Uint8Array([1, 2, 3]);
        channel.port1.postMessage({ port2, bytes }, [port2, bytes.buffer]);
        port2.postMessage("nobody hears that");
        return [bytes.length, await next(port1)].join();
      },
      async () => {
        const { port2, bytes } = await next(channel.port2);
        port2.postMessage(bytes[2]);
      },
      { after: (_, [got]) => assert.is(got, "0,3") },
    )
  );
});
