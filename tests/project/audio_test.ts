// The program of the guide about audio, bundled, plays in Chromium: it begins
// without an underrun, goes on by its timer, and ends without an error.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import * as realtime from "../../primitives/realtime.ts";
import { ALIAS } from "../../docs/page/build.ts";
import { ISOLATED } from "../../docs/page/serve.ts";
import { visit } from "../_run/browser/visit.ts";
import { blocksOf } from "../_run/examples.ts";
import { suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const test = suite("the guide about audio");

// `queued` is what the queue holds when the processor is made.
const PAGE = `<!doctype html><title>Audio</title>
<link rel="icon" href="data:,">
<script type="module">
import { play } from "./page.js";
globalThis.errors = [];
addEventListener("error", ({ message }) => errors.push(message));
const Node = AudioWorkletNode;
globalThis.AudioWorkletNode = function (context, name, options) {
  const { blocks } = options.processorOptions;
  globalThis.queued = queueOf(blocks).size;
  globalThis.blocks = queueOf(blocks);
  return globalThis.node = new Node(context, name, options);
};
import { queueOf } from "./queue.js";
document.querySelector("button").onclick = async () => {
  globalThis.playing = await play();
};
</script>
<button>Play</button>
`;

/** Writes the files of the guide, bundled, and a page that plays. */
async function write(folder: string) {
  const names = ["page.js", "producer.js", "processor.js"];
  const source = path.join(folder, "source");
  fs.mkdirSync(source);
  for (const { text } of blocksOf("docs/guides/audio.md")) {
    const [, name] = /^\/\/ (\w+\.js)\n/.exec(text) ?? [];
    if (name) fs.writeFileSync(path.join(source, name), text);
  }
  fs.writeFileSync(
    path.join(source, "queue.js"),
    'import { SpscQueue } from "@weft/sync";\n' +
      "export const queueOf = (handle) => SpscQueue.from(handle);\n",
  );
  await esbuild.build({
    absWorkingDir: PROJECT,
    entryPoints: [...names, "queue.js"].map((name) => path.join(source, name)),
    outdir: folder,
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    external: ["node:*"],
    alias: ALIAS,
    logLevel: "error",
  });
  await esbuild.stop();
  fs.writeFileSync(path.join(folder, "index.html"), PAGE);
}

/** How often it plays at most: a busy machine may hold up any of them. */
const TURNS = 5;

test("it fills the queue before it plays, refills it, and closes", async () => {
  const page = {
    write,
    headers: ISOLATED,
    ready: "typeof errors === 'object'",
  };
  await visit(page, async (page) => {
    let underruns = Infinity;
    for (let turn = 0; turn < TURNS && underruns > 0; turn++) {
      await page.value("void (globalThis.playing = undefined)");
      await page.click("button");
      await page.until("globalThis.playing !== undefined");
      assert.is(await page.value("queued"), 32);
      // Longer than the queue lasts: the timer has refilled it.
      await page.until("playing.context.currentTime > 0.5");
      underruns = Number(await page.value("Number(playing.underruns.sum())"));
      console.log(`${underruns} underruns of about 172 blocks`);
      await page.value("void playing.stop()");
      await page.until("blocks.size === 0"); // the rest is played
      await page.value("new Promise((done) => setTimeout(done, 100))");
      await page.value("playing.context.close()");
    }
    assert.is(underruns, 0);
    assert.equal(await page.value("errors"), []);
  });
});

test("a last block that comes while the queue is found empty is played", () => {
  const text = blocksOf("docs/guides/audio.md")
    .map(({ text }) => text)
    .find((text) => text.startsWith("// processor.js"))!
    .replace(/^import .*$/m, "");
  const scope = { ...realtime, AudioWorkletProcessor: class {} };
  let Player!: new (options: unknown) => {
    process(inputs: unknown, outputs: Float32Array[][]): boolean;
    blocks: Pick<realtime.SpscQueue, "closed" | "tryPopInto">;
  };
  const register = (_: string, Made: typeof Player) => Player = Made;
  new Function(...Object.keys(scope), "registerProcessor", text)(
    ...Object.values(scope),
    register,
  );
  const blocks = realtime.SpscQueue.create({ capacity: 4, elementSize: 512 });
  const underruns = realtime.StripedCounter.create();
  const player = new Player({
    processorOptions: { blocks: blocks.handle, underruns: underruns.handle },
  });
  const theirs = player.blocks;
  player.blocks = {
    get closed() {
      return theirs.closed;
    },
    tryPopInto(samples) {
      const found = theirs.tryPopInto(samples);
      if (!found && !blocks.closed) { // now the producer comes to its end
        blocks.tryPush(new Float32Array(128).fill(0.5));
        blocks.close();
      }
      return found;
    },
  };
  const samples = new Float32Array(128);
  const played: number[] = [];
  while (player.process([], [[samples]])) played.push(samples[0]!);
  assert.equal(played, [0, 0.5]);
});
