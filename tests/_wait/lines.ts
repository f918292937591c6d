/**
 * What tests of waits send numbers through.
 *
 * @module
 */

import {
  Broadcast,
  Channel,
  codec,
  LockFreeQueue,
  MpmcQueue,
  oneToOne,
  RecordRing,
  SpscQueue,
} from "../../mod.ts";

/** One end of something that has room for one number after another. */
export interface Line {
  /** Sends, and awaits that there is room. */
  send(
    n: number,
    options?: { signal?: AbortSignal },
  ): Promise<unknown>;
  /** The same, for so many ms. */
  trySend(n: number, timeout: number): Promise<boolean>;
  /** Takes what was sent first, if it is there. */
  take(): number | undefined;
  receive(): Promise<number>;
  /** What comes, one by one: numbers, or bytes that are all the number. */
  values(options?: { signal?: AbortSignal }): AsyncGenerator<unknown>;
  close(): void;
  /** How many numbers there is room for. */
  room: number;
}

type IntQueue = MpmcQueue | SpscQueue | LockFreeQueue;

const ofQueue = (queue: IntQueue): Line => ({
  send: (n, options) => queue.pushIntAsync(n, options),
  trySend: (n, timeout) => queue.tryPushIntAsync(n, { timeout }),
  take: () => queue.tryPopInt(),
  receive: () => queue.popIntAsync(),
  values: (options) => queue.values(options),
  close: () => queue.close(),
  room: queue.capacity,
});

/** A channel of numbers that has room for some. */
export const ofChannel = (channel: Channel<number>, room: number): Line => ({
  send: (n, options) => channel.sendAsync(n, options),
  trySend: (n, timeout) => channel.trySendAsync(n, { timeout }),
  take: () => channel.tryReceive(),
  receive: () => channel.receiveAsync(),
  values: (options) => channel.values(options),
  close: () => channel.close(),
  room,
});

function ofRing(ring: RecordRing): Line {
  const bytes = (n: number) => new Uint8Array(48).fill(n);
  let room = 0;
  while (ring.tryPush(bytes(0))) room++;
  while (ring.tryPop() !== undefined);
  return {
    send: (n, options) => ring.pushAsync(bytes(n), options),
    trySend: (n, timeout) => ring.tryPushAsync(bytes(n), { timeout }),
    take: () => ring.tryPop()?.[0],
    receive: async () => (await ring.popAsync())[0]!,
    values: (options) => ring.values(options),
    close: () => ring.close(),
    room,
  };
}

function ofBroadcast(broadcast: Broadcast): Line {
  const subscription = broadcast.subscribe();
  return {
    send: (n, options) => broadcast.pushIntAsync(n, options),
    trySend: (n, timeout) => broadcast.tryPushIntAsync(n, { timeout }),
    take: () => subscription.tryPopInt(),
    receive: () => subscription.popIntAsync(),
    values: (options) => subscription.values(options),
    close: () => broadcast.close(),
    room: broadcast.capacity,
  };
}

/** The configuration of a channel of numbers. */
export const i32 = { codec: codec.i32, capacity: 2 } as const;

/** Each kind that keeps the order of those that await. */
export const LINES: Record<string, () => Line> = {
  MpmcQueue: () => ofQueue(MpmcQueue.create({ capacity: 2 })),
  SpscQueue: () => ofQueue(SpscQueue.create({ capacity: 2 })),
  LockFreeQueue: () => ofQueue(LockFreeQueue.create({ capacity: 2 })),
  RecordRing: () => ofRing(RecordRing.create({ capacity: 128 })),
  Broadcast: () =>
    ofBroadcast(Broadcast.create({ capacity: 2, subscribers: 1 })),
  "Channel of numbers": () => ofChannel(Channel.create(i32), 2),
  "Channel from one to one": () =>
    ofChannel(Channel.create({ ...i32, carrier: oneToOne }), 2),
};
