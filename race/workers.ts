// deno-lint-ignore-file no-explicit-any
/**
 * Workers of a program: agents that begin when another one makes a `Worker`.
 *
 * @module
 */
import { pack } from "./engine/platform/copies.ts";
import { Port, portOf } from "./engine/platform/ports.ts";
import { getHost } from "./engine/platform/views.ts";
import { show } from "./engine/values.ts";

/** What is global in a worker, or its `parentPort` in Node. */
export interface WorkerScope {
  /** Is called with each message. */
  onmessage: ((event: { readonly data: any }) => unknown) | null;
  /** Posts a message to the agent that made the worker. */
  postMessage(
    value: unknown,
    options?: any[] | { readonly transfer?: any[] },
  ): void;
  /** Adds a listener of messages. */
  addEventListener(
    type: "message",
    listener: (event: { readonly data: any }) => unknown,
    options?: { readonly once?: boolean },
  ): void;
  /** Removes a listener. */
  removeEventListener(type: "message", listener: any): void;
  /** Adds a listener that is given the data, as in Node. */
  on(type: "message", listener: (data: any) => unknown): unknown;
  /** The same, for one message. */
  once(type: "message", listener: (data: any) => unknown): unknown;
  /** Removes such a listener. */
  off(type: "message", listener: any): unknown;
  /** Lets no more messages arrive. */
  close(): void;
}

/** A worker, as the agent that made it sees it. */
class Hired extends Port {
  terminate(): never {
    return getHost()!.refuse(
      "Cannot explore Worker.terminate(): the option kill terminates agents",
    );
  }
}

/** The two channels between a worker and the agent that made it. */
interface Channels {
  readonly start: any;
  readonly talk: any;
}

/** The agents of a program that are workers. */
export class Workers {
  readonly #roles: Readonly<Record<string, number>>;
  #channels: Record<string, Channels> = {};

  /** `roles` says which agent an address with this ending stands for. */
  constructor(roles: Readonly<Record<string, number>>, count: number) {
    this.#roles = roles;
    const agents = Object.values(roles);
    const right =
      agents.every((id) => Number.isInteger(id) && id > 0 && id < count) &&
      new Set(agents).size === agents.length;
    if (right) return;
    throw new TypeError(
      `workers must name an agent from 1 to ${count - 1} for each address, ` +
        `and none twice: received ${show(roles)}`,
    );
  }

  /** Makes the channels each time, before `memory` is called. */
  before<M>(memory: () => M): () => M {
    return () => {
      this.#prepare();
      return memory();
    };
  }

  #prepare(): void {
    const host = getHost()!;
    const channel = (name: string): any => {
      const first = 2 * host.newChannel();
      host.namePort(first, `the worker "${name}"`);
      host.namePort(first + 1, `the scope of the worker "${name}"`);
      return { port1: portOf(first, pack), port2: portOf(first + 1, pack) };
    };
    for (const name of Object.keys(this.#roles)) {
      const start = channel(name);
      host.namePort(start.port2.number, `the start of the worker "${name}"`);
      this.#channels[name] = { start, talk: channel(name) };
    }
  }

  /** Starts the agent that `url` stands for; undefined if none does. */
  hire(url: string): any {
    // The longest of those that fit: "worker.js" also ends "my_worker.js".
    const name = Object.keys(this.#roles).filter((end) => url.endsWith(end))
      .sort((a, b) => b.length - a.length)[0];
    if (name === undefined) return undefined;
    const { start, talk } = this.#channels[name]!;
    start.port1.postMessage(null);
    const hired = new Hired(talk.port1.number, pack);
    hired.start();
    return hired;
  }

  /** The agents' bodies. The body of a worker first waits for its start. */
  bodies(given: readonly any[]): any[] {
    return given.map((run, id) => this.#body(run, id));
  }

  #body(run: any, id: number): any {
    const roles = this.#roles;
    const name = Object.keys(roles).find((name) => roles[name] === id);
    if (name === undefined) return run;
    return async (memory: any) => {
      const { start, talk } = this.#channels[name]!;
      await new Promise((resolve) => {
        let begun = false;
        start.port2.onmessage = () => {
          if (begun) {
            getHost()!.refuse(
              `Cannot explore a second Worker of "${name}": an agent is one ` +
                `worker. Name another agent for it`,
            );
          }
          begun = true;
          resolve(undefined);
        };
      });
      const scope = talk.port2;
      const result = run(memory, id, scope);
      // From now on messages arrive, even if the code listens to none.
      scope.start();
      return await result;
    };
  }
}
