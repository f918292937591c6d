// Is the memory of very many async waits with a timeout freed when they are
// woken before their time is over? Floor: a native waitAsync for each.
import { fileURLToPath } from "node:url";
import process from "node:process";
import { contest, medians, program, type Row } from "./contest.ts";

const PROGRAM = fileURLToPath(new URL("./_awaited.ts", import.meta.url));

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const run = (name: "weft" | "bare") =>
    program(name, process.execPath, [
      "run",
      "-A",
      "--v8-flags=--expose-gc",
      PROGRAM,
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
    figure: results.weft.medians.heap!,
    unit: "MB",
    target: { most: 5 },
    from: from("heap"),
  }, {
    name: "100,000 acquireAsync with a timeout, woken: process memory left",
    figure: results.weft.medians.rss!,
    unit: "MB",
    target: { most: 5 },
    from: from("rss"),
  }];
}
