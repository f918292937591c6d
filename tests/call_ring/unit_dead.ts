// also: node, browsers
// Agents that died, damage, and callers that give way to others.
import * as assert from "uvu/assert";
import {
  agentId,
  CallRing,
  DamagedError,
  type PendingCall,
  type TakenCall,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { preempted, preemptedAnywhere, turns, wordsOf } from "../_run/model.ts";
import {
  DEAD,
  end,
  failed,
  FIRST,
  lost,
  message,
  pauses,
  ringOf,
  SERVER,
  slot_epoch,
} from "./rings.ts";

const test = suite("CallRing and agents that died");

// ---- agents that died -------------------------------------------------------

test("abandon() frees the slots of a caller that died at any step", () => {
  const ops: Record<string, (ring: CallRing, server: CallRing) => void> = {
    withdrawn: (ring) => ring.tryPost(message(1, 5))?.cancel(),
    received: (ring, server) => {
      const pending = ring.tryPost(message(1, 5))!;
      server.tryTake()!.reply(message(2, 5));
      pending.tryReceive();
    },
    dropped: (ring, server) => {
      const pending = ring.tryPost(message(1, 5))!;
      const taken = server.tryTake()!;
      pending.cancel();
      taken.reply();
    },
    "timed out": (ring) => void ring.tryCall(message(1, 5), 0),
  };
  const death = new Error("terminated");
  for (const [name, op] of Object.entries(ops)) {
    for (let at = 0, over = false; !over; at++) {
      const { caller, server, dead } = ringOf(1);
      try {
        over = at >= preempted(() => op(dead, server), at, () => {
          throw death;
        });
      } catch (error) {
        if (error !== death) throw error;
      }
      const path = `${name}, died at ${at}`;
      // The server may have died instead, in their common thread of events.
      caller.abandon(SERVER);
      caller.abandon(DEAD);
      assert.is(caller.abandon(DEAD), 0, path);
      assert.is(caller.pending, 0, path);
      assert.is(server.tryTake(), undefined, path);
      const pending = caller.tryPost(message(3, 3))!;
      assert.ok(server.tryServeOne((request) => request), path);
      assert.equal([...pending.tryReceive()!], [...message(3, 3)], path);
    }
  }
});

test("abandon() answers the callers of a server that died at any step", () => {
  const ops: Record<string, (ring: CallRing) => void> = {
    replies: (ring) => void ring.tryTake()?.reply(message(2, 5)),
    fails: (ring) => void ring.tryTake()?.fail("no"),
  };
  const death = new Error("terminated");
  for (const [name, op] of Object.entries(ops)) {
    for (const gone of [false, true]) { // the caller gave up meanwhile
      for (let at = 0, over = false; !over; at++) {
        const { caller, server, dead } = ringOf(1);
        const pending = caller.tryPost(message(1, 5))!;
        try {
          over = at >= preempted(() => op(dead), at, () => {
            throw death;
          });
        } catch (error) {
          if (error !== death) throw error;
        }
        const path = `${name}, died at ${at}, ${gone}`;
        if (gone) pending.cancel();
        caller.abandon(DEAD);
        assert.is(caller.abandon(DEAD), 0, path);
        // If the call was not taken, another server takes it.
        const served = server.tryServeOne((request) => request);
        if (gone) assert.not.ok(served, path);
        else if (served) {
          assert.equal([...pending.tryReceive()!], [...message(1, 5)], path);
        } else if (name === "fails") {
          const error = end(() => pending.tryReceive());
          assert.ok(lost(error) || failed("no")(error), path);
        } else {
          const reply = end(() => pending.tryReceive());
          if (!lost(reply)) {
            assert.equal([...reply as Uint8Array], [...message(2, 5)], path);
          }
        }
        assert.is(caller.pending, 0, path);
      }
    }
  }
});

test("a server that was taken for dead answers no later call", async () => {
  const answers: ((ring: CallRing, later: () => void) => unknown)[] = [
    (ring, later) => {
      const taken = ring.tryTake()!;
      later();
      return taken.reply(message(2, 5));
    },
    (ring, later) => {
      const taken = ring.tryTake()!;
      later();
      return taken.fail("no");
    },
    (ring, later) => ring.tryServeOne(() => (later(), message(2, 5))),
    (ring, later) =>
      ring.tryServeOne(() => {
        later();
        throw new Error("no");
      }),
    async (ring, later) => {
      const serving = ring.serveAsync(async () => {
        await turns();
        later();
        return message(2, 5);
      });
      await turns(20);
      ring.close();
      await serving;
    },
  ];
  for (const [i, answer] of answers.entries()) {
    const { caller, server, dead } = ringOf(1);
    const first = caller.tryPost(message(1, 5))!;
    let next: PendingCall | undefined;
    let taken: TakenCall | undefined;
    let before: Int32Array | undefined;
    await answer(dead, () => { // Deno lets it go on
      caller.abandon(DEAD);
      assert.throws(() => first.tryReceive(), lost);
      next = caller.tryPost(message(3, 3))!;
      taken = server.tryTake()!;
      before = wordsOf(caller).slice(FIRST);
    });
    assert.equal(wordsOf(caller).slice(FIRST), before, `${i}`);
    assert.ok(taken!.reply(message(4, 4)));
    assert.equal([...next!.tryReceive()!], [...message(4, 4)], `${i}`);
  }
});

test("a caller that waits for a dead server is woken by abandon()", async () => {
  const { caller, dead } = ringOf(2);
  const calls = [1, 2].map((i) => caller.callAsync(message(i, 1)));
  const third = caller.postAsync(message(3, 1));
  const ends = Promise.allSettled(calls);
  await turns();
  const taken = [dead.tryTake()!, dead.tryTake()!];
  assert.is(taken.length, 2);
  assert.is(caller.abandon(DEAD), 2);
  for (const end of await ends) {
    assert.ok(end.status === "rejected" && lost(end.reason));
  }
  assert.ok(await third);
});

test("abandon() and a server's answer at any step free the slot", () => {
  preemptedAnywhere(
    () => {
      const ring = ringOf(1);
      ring.dead.tryPost(message(1, 1));
      return { ...ring, taken: ring.server.tryTake()! };
    },
    ({ taken }) => taken.reply(message(2, 2)),
    ({ caller }) => caller.abandon(DEAD),
    ({ caller, server }, at) => {
      assert.is(caller.pending, 0, `abandoned at ${at}`);
      const pending = caller.tryPost(message(3, 3))!;
      server.tryServeOne((request) => request);
      assert.equal([...pending.tryReceive()!], [...message(3, 3)]);
    },
  );
});

test("a caller pauses at times if others found no free slot", () => {
  const { caller } = ringOf(1);
  const words = wordsOf(caller);
  const call = (ring: CallRing): number => {
    const begin = performance.now();
    ring.post(message(1, 1)).cancel();
    return performance.now() - begin;
  };
  call(caller);
  assert.is(words[pauses], 0, "it noted a pause that nobody made");
  words[pauses] = 2; // an agent did so, and was terminated
  for (const left of [1, 0]) {
    const took = call(new CallRing(caller.buffer));
    assert.ok(took >= 1, "it did not pause");
    assert.is(words[pauses], left, "a pause does not count");
  }
  for (const damaged of [2 ** 31 - 1, -(2 ** 31)]) {
    words[pauses] = damaged;
    call(new CallRing(caller.buffer));
    assert.is(words[pauses], damaged > 0 ? 31 : damaged);
  }
});

const isDamaged = (error: unknown) => error instanceof DamagedError;

test("a damaged length of a request or a reply is refused", () => {
  for (const damaged of [9, 1 << 20, 2 ** 31 - 1, -1, -(2 ** 31)]) {
    const ring = CallRing.create({ slots: 1, request: 8, reply: 8 });
    const words = wordsOf(ring);
    const slot = LAYOUT.call_ring.length;
    const post = () => ring.tryPost(message(1, 4))!;
    const receivers = [
      (call: PendingCall) => call.tryReceive(),
      (call: PendingCall) => call.tryReceiveInto(new Uint8Array(8)),
    ];
    for (const receive of receivers) {
      for (const answer of ["reply", "fail"] as const) {
        const call = post();
        ring.tryTake()![answer](message(2, 3) as never);
        words[slot + 3] = damaged;
        assert.throws(() => receive(call), isDamaged);
        assert.is(ring.pending, 0);
      }
    }
    let call = post();
    words[slot + 2] = damaged;
    assert.throws(() => ring.tryTake(), isDamaged);
    assert.throws(() => call.tryReceive(), /The ring/);
    call = post();
    words[slot + 2] = damaged;
    let served = 0;
    assert.ok(ring.tryServeOne(() => served++));
    assert.throws(() => call.tryReceive(), /The ring/);
    assert.is(served, 0);
    assert.is(ring.pending, 0);
  }
});

test("a caller pauses once in 50 ms at most", () => {
  const { caller } = ringOf(1);
  const words = wordsOf(caller);
  for (let took = Infinity; took > 40;) { // another process may have the core
    const view = new CallRing(caller.buffer);
    words[pauses] = 9;
    const begin = performance.now();
    for (let i = 0; i < 3; i++) view.post(message(1, 1)).cancel();
    took = performance.now() - begin;
  }
  assert.is(words[pauses], 8);
});

test("a caller that was woken and found no slot asks for pauses", async () => {
  const { caller } = ringOf(1);
  const words = wordsOf(caller);
  const first = caller.post(message(1, 1));
  const second = caller.postAsync(message(2, 2));
  assert.is(words[pauses], 0);
  while (words[pauses] === 0) { // it may not sleep yet
    Atomics.notify(words, slot_epoch);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.is(words[pauses], 32);
  first.cancel();
  (await second).cancel();
});

test("abandon() of one leaves the calls of others alone", () => {
  const { caller, server, dead } = ringOf(4);
  const mine = caller.tryPost(message(1, 1))!;
  const taken = server.tryTake()!;
  const posted = caller.tryPost(message(2, 2))!;
  dead.tryPost(message(3, 3));
  assert.is(caller.abandon(0), 0);
  assert.is(caller.abandon(agentId()), 0);
  assert.is(caller.abandon(DEAD), 1);
  assert.is(caller.pending, 2);
  assert.ok(taken.reply(message(4, 4)));
  assert.ok(server.tryServeOne((request) => request));
  assert.equal([...mine.receive()!], [...message(4, 4)]);
  assert.equal([...posted.receive()!], [...message(2, 2)]);
});
