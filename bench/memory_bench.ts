// Is the memory of very many async waits with a timeout freed when they are
// woken before their time is over? Floor: a native waitAsync for each.
import { fileURLToPath } from "node:url";
import process from "node:process";
import {
  contest,
  medians,
  plain,
  program,
  programWords,
  type Row,
} from "./contest.ts";

const PROGRAM = fileURLToPath(new URL("./_awaited.ts", import.meta.url));

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const run = (name: "weft" | "bare") =>
    program(name, process.execPath, [
      ...programWords(PROGRAM, ["--expose-gc"]),
      name,
    ]);
  // The machine's load makes no difference here.
  const steady = (name: "weft" | "bare") => {
    const { turn } = run(name);
    return { name, turn: async () => ({ ...await turn(), disturbed: 0 }) };
  };
  const results = await contest([steady("weft"), steady("bare")], 3);
  const from = (key: string) => medians(results, ["weft", "bare"], key, "MB");
  return [{
    name: "100,000 acquireAsync with a timeout, woken: JS memory left after gc",
    ...plain(results, "weft", "heap", "MB"),
    target: { most: 5 },
    from: from("heap"),
  }, {
    name: "100,000 acquireAsync with a timeout, woken: process memory left",
    ...plain(results, "weft", "rss", "MB"),
    target: { most: 5 },
    from: from("rss"),
  }];
}
