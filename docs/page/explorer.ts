/**
 * The worker that runs the race tester on a visitor's lines.
 *
 * @module
 */
import { race, RaceError } from "@weft/sync/race";

/** What the worker answers: what was found, or why it could not look. */
export type Verdict =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly message: string; readonly page: string }
  | { readonly error: string };

globalThis.onmessage = ({ data, ports }: MessageEvent<string>) => {
  // Not by postMessage: the visitor's lines can call that, too.
  ports[0]!.postMessage(explore(data));
};

function explore(code: string): Verdict {
  try {
    const lines = new Function("words", "me", code);
    const agent = (me: number) => (memory: SharedArrayBuffer) => {
      lines(new Int32Array(memory), me);
    };
    const after = (memory: SharedArrayBuffer) => {
      const [sum] = new Int32Array(memory);
      if (sum !== 2) return `words[0] is ${sum}, and should be 2`;
    };
    const words = {
      "words[0]": 0,
      "words[1]": 4,
      "words[2]": 8,
      "words[3]": 12,
    };
    const memory = () => new SharedArrayBuffer(16);
    const { summary } = race.agents({ memory, words }, agent(0), agent(1), {
      after,
      lines: false,
      time: 8000,
    });
    return { ok: true, summary };
  } catch (error) {
    if (!(error instanceof RaceError)) return { error: `${error}` };
    const { kind, failure } = error;
    const message = `${kind}: ${failure.message}`;
    return { ok: false, message, page: failure.page() };
  }
}
