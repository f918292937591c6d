import type { Handle } from "../../mod.ts";

/** What the threads of these tests serve and call. */
export const api = {
  add: (a: number, b: number): number => a + b,
  later: async (text: string): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve));
    return text;
  },
  repeat: (text: string, n: number): string => text.repeat(n),
  fail(message: string): never {
    const cause = Object.assign(new Error("no such file"), { code: "ENOENT" });
    throw new RangeError(message, { cause });
  },
  /** Ends when its caller has given up. */
  spin(signal: AbortSignal): number {
    let looks = 0;
    while (!signal.aborted) looks++;
    reason = signal.reason;
    return looks;
  },
  /** Why its caller had given up. */
  reason(): unknown {
    if (!(reason instanceof DOMException)) return reason;
    return [reason.name, reason.message];
  },
};

let reason: unknown;

/** Its type, as callers give it. */
export type Api = typeof api;

/** How a thread serves, and what. */
export interface ServeJob {
  ring: Handle<"call_ring">;
  blocking: boolean;
}

/** What a thread of C does: it serves the ring, or calls methods there. */
export interface GuestJob {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  /** The address of the ring. */
  at: number;
  /** Methods, and their arguments in JSON. */
  calls?: [method: string, args: string][];
}
