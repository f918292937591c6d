// limit: 900 s
// it is long
// Kills of agents that share a map with long keys must find mistakes, which are
// made in each language. Without a mistake they find nothing.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { bundle, bundled } from "../_run/bundle.ts";
import { edited, editedSource, fileOf } from "../_run/edits.ts";
import { suite } from "../_run/harness.ts";
import { build, run } from "../_run/native.ts";
import { MAP_MISTAKES, type MapMistake } from "./_mistakes_maps.ts";

const test = suite("kills");

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const SUPERVISOR = file("supervisor.ts");
const WASM = file("../../wasm/");
const BROKEN = file("../../.weft/torture/maps/");

/** The kind of map that is shared. */
const KIND = "HashMap, long keys";

/** How long agents are killed before the map is checked, in seconds. */
const SECONDS = 8;
/** How often that is done until a mistake is found. */
const ROUNDS = 8;

/** Kills threads of JavaScript; what they say. */
async function threads(name: string, mistake?: MapMistake) {
  const outdir = path.join(BROKEN, name);
  const changed = new Map<string, string>();
  if (mistake !== undefined) {
    const [source, edit] = mistake.ts;
    changed.set(fileOf(source), editedSource(source, edit));
  }
  await bundle([SUPERVISOR], outdir, { changed });
  const program = bundled(SUPERVISOR, outdir);
  return async (seed: number) => {
    const words = [program, "kills", `${SECONDS * 1000}`, `${seed}`, KIND];
    return (await run("node", words, 60 + SECONDS)).output;
  };
}

/** Kills processes of C. */
async function processes(name: string, mistake?: MapMistake) {
  // A program is built anew if its words change.
  const stamp = createHash("sha256").update(`${mistake?.c}`).digest("hex");
  const folder = path.join(BROKEN, stamp.slice(0, 16), "wasm");
  fs.cpSync(WASM, folder, { recursive: true });
  if (mistake !== undefined) {
    const [header, edit] = mistake.c;
    const changed = path.join(folder, "weft", `${header}.h`);
    const text = fs.readFileSync(changed, "utf8");
    fs.writeFileSync(changed, edited(header, text, edit));
  }
  const program = await build({
    name: `kills-${name}`,
    compiler: "gcc",
    words: ["-std=gnu11", "-O2", "-pthread", `-I${folder}`],
    sources: [file("kills.c")],
  });
  return async (seed: number) => {
    const words = ["hash_map_long_keys", `${SECONDS}`, `${seed}`];
    return (await run(program, words, 120 + SECONDS)).output;
  };
}

for (const [made, who] of [[threads, "threads"], [processes, "C"]] as const) {
  for (const [i, mistake] of MAP_MISTAKES.entries()) {
    test(`${who}: ${mistake.what}`, async () => {
      const play = await made(`${i}`, mistake);
      let said = "";
      for (let seed = 1; seed <= ROUNDS && !mistake.says.test(said); seed++) {
        said = await play(seed);
      }
      assert.match(said, mistake.says);
    });
  }
  test(`${who}: without a mistake`, async () => {
    const play = await made("none");
    for (let seed = 1; seed <= 2; seed++) {
      assert.not.match(await play(seed), /problem:|"problems":\["/);
    }
  });
}
