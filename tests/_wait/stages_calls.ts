/**
 * Waits of calls: see `stages.ts`.
 *
 * @module
 */

import { CallRing, connect, serve } from "../../mod.ts";
import { asAgent } from "../_run/model.ts";
import { fails, OTHER, type Row, type Scene, wrongIf } from "./scene.ts";

// ---- calls ------------------------------------------------------------------

const REQUEST = Uint8Array.of(1, 2, 3);

/** Calls of 1 slot, which another agent uses at first. */
function calls(request = 8, reply = 8) {
  const ring = CallRing.create({ slots: 1, request, reply });
  const other = asAgent(OTHER, () => new CallRing(ring.buffer));
  return { ring, other, posted: other.tryPost(REQUEST)! };
}

const freed = (ring: CallRing) =>
  wrongIf(ring.pending !== 0, `${ring.pending} slots stay taken`);

/** It waits for a slot, for a server, and for its answer. */
const callScene =
  (end: "reply" | "fail" | "abandon") => (method: string): Scene => {
    const { ring, other, posted } = calls();
    let taken: ReturnType<CallRing["tryTake"]>;
    return {
      on: ring,
      with: method.startsWith("callInto")
        ? [REQUEST, new Uint8Array(8)]
        : [REQUEST],
      steps: [
        () => posted.cancel(),
        () => taken = other.tryTake(),
        () =>
          end === "reply"
            ? taken?.reply(REQUEST)
            : end === "fail"
            ? taken?.fail(new Error("no"))
            : ring.abandon(OTHER),
      ],
      check: () => freed(ring),
    };
  };

const postScene = (end: "free" | "close") => (): Scene => {
  const { ring, posted } = calls();
  return {
    on: ring,
    with: [REQUEST],
    steps: [() => end === "free" ? posted.cancel() : ring.close()],
    release: (call) => (call as { cancel(): void }).cancel(),
    check: () => {
      posted.cancel();
      return freed(ring);
    },
  };
};

const takeScene = (end: "post" | "close") => (method: string): Scene => {
  const { ring, other, posted } = calls();
  posted.cancel();
  return {
    on: ring,
    with: method === "serveAsync" ? [() => {}] : [],
    // A server that was not aborted serves until the end.
    steps: [
      () => end === "post" ? other.tryPost(REQUEST) : ring.close(),
      () => ring.close(),
    ].slice(0, method === "serveAsync" && end === "post" ? 2 : 1),
    release: (call) => (call as { reply?(): void }).reply?.(),
    check: () => {
      ring.abandon(OTHER);
      return freed(ring);
    },
  };
};

const pendingScene = (end: "reply" | "cancel") => (method: string): Scene => {
  const { ring, other, posted: call } = calls();
  const taken = other.tryTake()!;
  return {
    on: call,
    with: method === "receiveIntoAsync" ? [new Uint8Array(8)] : [],
    steps: [() => end === "reply" ? taken.reply(REQUEST) : call.cancel()],
    check: () => {
      call.cancel();
      if (end === "cancel") taken.reply(REQUEST);
      return freed(ring);
    },
  };
};

/** A method that is served, whose request and result may have pieces. */
const remoteScene = (letters: number) => (): Scene => {
  const { ring, posted } = calls(64, 64);
  let answer: (text: string) => void = fails;
  const answered = new Promise<string>((resolve) => answer = resolve);
  let served: Promise<unknown> | undefined;
  const api = { wait: (_text: string, _signal?: AbortSignal) => answered };
  return {
    on: ring,
    begin: ({ signal, timeout = Infinity }) =>
      connect<typeof api>(ring, { timeout })
        .wait("x".repeat(letters), ...signal ? [signal] : []),
    steps: [
      () => posted.cancel(),
      () => void (served = serve(ring, api)),
      () => answer("y".repeat(letters)),
    ],
    check: async () => {
      ring.close();
      await served;
      return freed(ring);
    },
  };
};

export const CALLS: Row[] = [
  ...(["reply", "fail", "abandon"] as const).map((end): Row => ({
    waits: ["CallRing.callAsync", "CallRing.callIntoAsync"],
    what: end,
    scene: callScene(end),
  })),
  ...(["free", "close"] as const).map((end): Row => ({
    waits: ["CallRing.postAsync"],
    what: end,
    scene: postScene(end),
  })),
  ...(["post", "close"] as const).map((end): Row => ({
    waits: ["CallRing.takeAsync", "CallRing.serveAsync"],
    what: end,
    scene: takeScene(end),
  })),
  ...(["reply", "cancel"] as const).map((end): Row => ({
    waits: ["PendingCall.receiveAsync", "PendingCall.receiveIntoAsync"],
    what: end,
    scene: pendingScene(end),
  })),
  ...[3, 200].map((letters): Row => ({
    waits: ["connect"],
    what: `${letters} letters`,
    scene: remoteScene(letters),
  })),
];
