/** The object that the storm on calls serves. */
import process from "node:process";

/** Whether an agent can end at once: a thread of Node. */
export const CAN_DIE: boolean = !("Deno" in globalThis);

const pause = <T>(ms: number, value: T) =>
  new Promise<T>((resolve) => setTimeout(resolve, ms, value));

/**
 * The methods. Those of a server that blocks return no promises. `begun` counts
 * how often each call was begun.
 */
export function apiOf(begun: Int32Array, blocks: boolean) {
  const begin = (at: number) => void Atomics.add(begun, at, 1);
  return {
    /** Returns the text twice. */
    echo(at: number, text: string): string {
      begin(at);
      return text + text;
    },
    nap(at: number, ms: number): number | Promise<number> {
      begin(at);
      if (!blocks) return pause(ms, ms);
      for (const end = performance.now() + ms; performance.now() < end;);
      return ms;
    },
    fail(at: number, text: string): never {
      begin(at);
      throw new RangeError(text);
    },
    /** Returns when its caller gives up. */
    wait(at: number, signal: AbortSignal): null | Promise<null> {
      begin(at);
      if (blocks) {
        while (!signal.aborted);
        return null;
      }
      return new Promise((resolve) => {
        if (signal.aborted) resolve(null);
        signal.addEventListener("abort", () => resolve(null));
      });
    },
    /** Ends its server. */
    die(at: number): null {
      begin(at);
      process.exit(3);
    },
  };
}

/** What is served. */
export type Api = ReturnType<typeof apiOf>;
