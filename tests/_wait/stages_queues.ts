/**
 * Waits of queues and channels: see `stages.ts`.
 *
 * @module
 */

import {
  Broadcast,
  Channel,
  codec,
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  SpscQueue,
  struct,
} from "../../mod.ts";
import { asAgent } from "../_run/model.ts";
import { OTHER, type Row, type Scene, wrongIf } from "./scene.ts";

// ---- queues -----------------------------------------------------------------

const ELEMENT = Uint32Array.of(1);
const Element = struct({ id: "u32" });

/** The arguments of each method of a queue, but for the options. */
const argumentsOf = (method: string, element: unknown = ELEMENT) =>
  method.startsWith("pushInt")
    ? [1]
    : method.startsWith("push")
    ? [element]
    : /Into/.test(method)
    ? [new Uint32Array(4)]
    : [];

interface AnyQueue {
  readonly size: number;
  close(): void;
  tryPush(element: never): boolean;
  tryPop(): unknown;
}

/** A full queue that another agent pops from, or an empty one it pushes to. */
function queueScene(
  make: () => AnyQueue,
  element: unknown,
  end: "serve" | "close",
) {
  return (method: string): Scene => {
    const queue = make();
    const pushes = method.startsWith("push");
    while (pushes && queue.tryPush(element as never));
    const { size } = queue;
    const serves = () =>
      pushes ? queue.tryPop() : queue.tryPush(element as never);
    let served = false;
    return {
      on: queue,
      with: argumentsOf(method, element),
      steps: [end === "serve" ? serves : () => queue.close()],
      release: () => served = true,
      check: () => {
        const left = pushes ? size - 1 + (served ? 1 : 0) : served ? 0 : 1;
        const wanted = end === "close" ? size : left;
        return wrongIf(queue.size !== wanted, `${queue.size} for ${wanted}`);
      },
    };
  };
}

const INTS = ["pushInt", "popInt"];
const BYTES = ["push", "pop", "popInto"];

const queueRows = (
  name: string,
  operations: readonly string[],
  make: () => unknown,
  element: unknown = ELEMENT,
): Row[] =>
  (["serve", "close"] as const).map((end) => ({
    waits: operations.map((operation) => `${name}.${operation}Async`),
    what: end,
    scene: queueScene(make as () => AnyQueue, element, end),
  }));

const broadcastScene = (end: "serve" | "close") => (method: string): Scene => {
  const broadcast = Broadcast.create({ capacity: 2 });
  const one = broadcast.subscribe();
  while (broadcast.tryPush(ELEMENT));
  return {
    on: broadcast,
    with: argumentsOf(method),
    steps: [() => end === "serve" ? one.tryPop() : broadcast.close()],
    check: () => one.leave(),
  };
};

const subscriptionScene =
  (end: "serve" | "close") => (method: string): Scene => {
    const broadcast = Broadcast.create({ capacity: 2 });
    const one = broadcast.subscribe();
    return {
      on: one,
      with: argumentsOf(method),
      steps: [
        () => end === "serve" ? broadcast.tryPush(ELEMENT) : broadcast.close(),
      ],
      check: () => one.leave(),
    };
  };

const CHANNELS: Record<string, () => unknown> = {
  "a number": () => Channel.create({ codec: codec.i32, capacity: 2 }),
  "a record": () =>
    Channel.create({ codec: codec.record(Element), capacity: 2 }),
  JSON: () => Channel.create({ codec: codec.json, capacity: 2 }),
};

const channelScene =
  (make: () => unknown, end: "serve" | "close") => (method: string): Scene => {
    const channel = make() as Channel<unknown>;
    const value = channel.codec === codec.i32 ? 1 : { id: 1 };
    const sends = method === "sendAsync";
    const send = () => channel.trySend(value);
    while (sends && send());
    return {
      on: channel,
      with: sends ? [value] : [],
      steps: [
        () =>
          end === "close"
            ? channel.close()
            : sends
            ? channel.tryReceive()
            : send(),
      ],
    };
  };

const BINARY: Row[] = (["serve", "close"] as const).flatMap((end) => {
  const make = () => Channel.create({ codec: codec.binary, capacity: 2 });
  const message = Uint8Array.of(1);
  return [{
    waits: ["Channel.receiveIntoAsync", "Channel.peekAsync"],
    what: `bytes, ${end}`,
    scene: (method) => {
      const channel = make();
      return {
        on: channel,
        with: method === "receiveIntoAsync" ? [new Uint8Array(4)] : [],
        steps: [
          () => end === "serve" ? channel.trySend(message) : channel.close(),
        ],
        release: (got) => (got as { release?(): void })?.release?.(),
      };
    },
  }, {
    waits: ["Channel.reserveAsync"],
    what: `bytes, ${end}`,
    scene: () => {
      const channel = make();
      while (channel.trySend(message));
      const other = asAgent(
        OTHER,
        () => Channel.from(channel.handle, { codec: codec.binary }),
      );
      return {
        on: channel,
        with: [1],
        steps: [() => {
          if (end === "close") return channel.close();
          while (other.tryReceive());
        }],
        release: (got) => (got as { cancel(): void }).cancel(),
      };
    },
  }] satisfies Row[];
});

const config = { capacity: 2 };
export const QUEUES: Row[] = [
  ...queueRows(
    "SpscQueue",
    [...INTS, ...BYTES],
    () => SpscQueue.create(config),
  ),
  ...queueRows(
    "MpmcQueue",
    [...INTS, ...BYTES],
    () => MpmcQueue.create(config),
  ),
  ...queueRows(
    "LockFreeQueue",
    [...INTS, ...BYTES],
    () => LockFreeQueue.create(config),
  ),
  ...queueRows(
    "TypedQueue",
    ["push", "pop"],
    () => MpmcQueue.create({ capacity: 2, element: Element }),
    { id: 1 },
  ),
  ...queueRows("RecordRing", BYTES, () => RecordRing.create({ capacity: 64 })),
  ...(["serve", "close"] as const).flatMap((end): Row[] => [
    {
      waits: ["Broadcast.pushAsync", "Broadcast.pushIntAsync"],
      what: end,
      scene: broadcastScene(end),
    },
    {
      waits: [...INTS, ...BYTES].filter((name) => name.startsWith("pop"))
        .map((name) => `Subscription.${name}Async`),
      what: end,
      scene: subscriptionScene(end),
    },
    ...Object.entries(CHANNELS).map(([name, make]): Row => ({
      waits: ["Channel.sendAsync", "Channel.receiveAsync"],
      what: `${name}, ${end}`,
      scene: channelScene(make, end),
    })),
  ]),
  ...BINARY,
];
