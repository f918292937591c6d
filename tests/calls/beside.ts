// The scenarios of values that go beside the ring, by a port.
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { race } from "../../race/mod.ts";
import { itsOwn, type Scenario, type Weft } from "../_run/scenario.ts";

const { length } = LAYOUT.call_ring;

/** The channel of the program that is explored. */
let channel: MessageChannel;

/** A caller moves a buffer to a server, which moves it back. */
function moving(weft: Weft) {
  const { CallRing } = weft.mod;
  const config = { slots: 1, request: 64, reply: 64 };
  return race.spec({
    memory: () => {
      channel = new MessageChannel();
      const memory = new SharedArrayBuffer(CallRing.byteLength(config));
      CallRing.init(memory, 0, config);
      return memory;
    },
    async: true,
    ...itsOwn(weft, ({ mod }, memory) => ({
      mod,
      ring: new mod.CallRing(memory),
    })),
    hints: [[length * 4, length * 4 + 4]],
    ops: {
      call: {
        run: async ({ mod, ring }, n: number) => {
          const { connect, transfer } = mod;
          const port = channel.port1;
          const remote = connect<{ fill(bytes: Uint8Array): Uint8Array }>(
            ring,
            { port },
          );
          const bytes = Uint8Array.of(n, 0);
          const got = await remote.fill(transfer(bytes, [bytes.buffer]));
          if (bytes.length !== 0) throw new Error("it was copied");
          ring.close();
          return [...got];
        },
      },
      serve: {
        run: async ({ mod, ring }) => {
          const { serve, transfer } = mod;
          const api = {
            fill(bytes: Uint8Array) {
              bytes[1] = bytes[0]! + 1;
              return transfer(bytes, [bytes.buffer]);
            },
          };
          await serve(ring, api, { port: channel.port2 });
        },
      },
    },
    final: (_, [results = []]) => {
      const [got] = results as [number[] | undefined];
      if (`${got}` !== "7,8") return `it got ${got}`;
    },
  });
}

/** The race scenarios of what goes by a port. */
export function besideScenarios(weft: Weft): Scenario[] {
  return [{
    name: "a buffer is moved to the server and back",
    notInC: "C has no ports",
    spec: moving(weft),
    agents: [[["call", 7]], [["serve"]]],
    options: { states: 200, runs: 20 },
    sampled: true,
  }];
}
