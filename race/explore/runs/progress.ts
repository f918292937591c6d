/**
 * Shows on a terminal how far a long search has come, and estimates what is
 * left.
 *
 * @module
 */
import { realNow } from "../../engine/platform/native.ts";

/** Milliseconds before anything is shown, and between two lines. */
const FIRST = 2000;
const BETWEEN = 500;

/**
 * How far a search has come. The estimate is Knuth's (1975), as in GenMC: the
 * root of the tree of states has the share 1, and each state divides its share
 * among its successors. The share of the states that are done says how much of
 * the tree is done, as far as the rest is like it.
 */
export class Progress {
  readonly #write: (text: string) => void;
  readonly #began: number;
  #next: number;
  #shown = false;

  /** Shows lines by `write`; the search began at `began`. */
  constructor(write: (text: string) => void, began: number = realNow()) {
    this.#write = write;
    this.#began = began;
    this.#next = began + FIRST;
  }

  /** Shows, at the time `now`, how many states there are, and the share. */
  tell(now: number, states: number, share: number): void {
    if (now < this.#next) return;
    this.#next = now + BETWEEN;
    this.#shown = true;
    const past = (now - this.#began) / 1000;
    const left = share > 0 ? past * (1 - share) / share : Infinity;
    const rest = left < 86_400 ? `${Math.ceil(left)} s` : "more than a day";
    this.#write(
      `\r\x1b[Krace: ${states.toLocaleString("en")} states in ` +
        `${Math.round(past)} s, about ${(100 * share).toFixed(1)} % done, ` +
        `${rest} left`,
    );
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#shown) this.#write("\r\x1b[K");
    this.#shown = false;
  }
}

/** Shows progress where the standard error is a terminal. */
export function onTerminal(): Progress | null {
  const write = terminal();
  if (write === null) return null;
  return new Progress((text) => {
    try {
      write(text);
    } catch {
      // The terminal is gone, or cannot take more now.
    }
  });
}

/** What Deno, Node and Bun have to write to a terminal at once. */
interface Platform {
  Deno?: {
    stderr?: { isTerminal(): boolean; writeSync(bytes: Uint8Array): number };
  };
  process?: {
    stderr?: { isTTY?: boolean };
    getBuiltinModule?(name: "node:fs"): {
      writeSync(file: number, text: string): number;
    };
  };
}

/** Writes to the standard error at once, if that is a terminal. */
function terminal(): ((text: string) => void) | null {
  const { Deno, process } = globalThis as Platform;
  const stderr = Deno?.stderr;
  if (stderr !== undefined) {
    const encoder = new TextEncoder();
    return stderr.isTerminal()
      ? (text) => void stderr.writeSync(encoder.encode(text))
      : null;
  }
  const files = process?.stderr?.isTTY === true
    ? process.getBuiltinModule?.("node:fs")
    : undefined;
  return files === undefined ? null : (text) => void files.writeSync(2, text);
}
