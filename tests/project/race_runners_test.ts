// it is long
// The tests of docs/guides/race_tests.md, in the runners that it names: they
// pass, and a wrong program fails there with its table, once.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { newProject } from "../_run/npm_project.ts";

const GUIDE = fileURLToPath(
  new URL("../../docs/guides/race_tests.md", import.meta.url),
);

const test = suite("race tests in test runners", 180_000);

/** The files that the guide shows, by name. */
const files = new Map(
  [
    ...fs.readFileSync(GUIDE, "utf8")
      .matchAll(/^```js ignore\n\/\/ (\w+(?:\.test)?\.js)\n([^]*?)^```$/gm),
  ]
    .map(([, name, text]) => [name!, text!]),
);

/** The runners: a file of the guide, and the command that runs it. */
const RUNNERS: Record<string, [file: string, command: readonly string[]]> = {
  Vitest: ["counter.test.js", ["npx", "vitest", "run", "--reporter=dot"]],
  Jest: [
    "counter_jest.js",
    [
      ...["node", "--experimental-vm-modules", "node_modules/jest/bin/jest.js"],
      "--testMatch=**/counter_jest.js",
    ],
  ],
  Mocha: ["counter_mocha.js", ["npx", "mocha", "counter_mocha.js"]],
  "node:test": ["counter_node.js", ["node", "--test", "counter_node.js"]],
  uvu: ["counter_uvu.js", ["node", "counter_uvu.js"]],
  "Deno.test": [
    "counter_deno.js",
    [process.execPath, "test", "-A", "counter_deno.js"],
  ],
};

const SPEC = "counter_spec.js";
const RIGHT = "Atomics.add(w, 0, 1)";
const WRONG = "Atomics.store(w, 0, Atomics.load(w, 0) + 1) - 1";

let folder = "";

test.before(async () => {
  const runners = ["vitest@3", "jest@30", "mocha@11", "uvu@0.5"];
  folder = await newProject("fast-check@4", ...runners);
  for (const [name, text] of files) {
    fs.writeFileSync(path.join(folder, name), text);
  }
});
test.after(() => {
  if (folder !== "") fs.rmSync(folder, { recursive: true });
});

/** Runs a command with the specification as it is, or with the mistake. */
function run([program, ...words]: readonly string[], wrong: boolean) {
  const text = files.get(SPEC)!;
  assert.ok(text.includes(RIGHT));
  const spec = wrong ? text.replace(RIGHT, WRONG) : text;
  fs.writeFileSync(path.join(folder, SPEC), spec);
  const env = { ...process.env, NO_COLOR: "1", CI: "true" };
  const { status, stdout, stderr, error } = spawnSync(program!, words, {
    cwd: folder,
    encoding: "utf8",
    env,
    timeout: 120_000,
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") {
    throw new Missing(program!);
  }
  return { status, text: `${stdout}${stderr}` };
}

test("the guide names a command for each file", () => {
  const shown = Object.values(RUNNERS).map(([file]) => file);
  assert.equal([...files.keys()].sort(), [SPEC, ...shown].sort());
  const page = fs.readFileSync(GUIDE, "utf8");
  for (const [, command] of Object.values(RUNNERS)) {
    const words = command.join(" ").replace(process.execPath, "deno");
    assert.ok(page.includes(`\`${words}\``), words);
  }
});

test("Node: receiveMessageOnPort is simulated, imported by its name", () => {
  const text = `
    import { receiveMessageOnPort } from "node:worker_threads";
    import { race } from "@weft/sync/race";
    let channel;
    const seen = new Set();
    const memory = () => {
      channel = new MessageChannel();
      return new SharedArrayBuffer(4);
    };
    const { summary } = await race.agents(
      { memory },
      () => channel.port1.postMessage(1),
      () => receiveMessageOnPort(channel.port2)?.message,
      { after: (_, [, got]) => void seen.add(got) },
    );
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(2);
    const real = receiveMessageOnPort(port2).message;
    port1.close();
    console.log([...seen].sort().join(), real, summary);`;
  fs.writeFileSync(path.join(folder, "ports.js"), text);
  const { text: said } = run(["node", "ports.js"], false);
  assert.match(said, /^1, 2 complete: \d+ states/);
});

for (const [name, [, command]] of Object.entries(RUNNERS)) {
  test(`${name}: the test passes, and a mistake shows its table once`, () => {
    const right = run(command, false);
    assert.is(right.status, 0, right.text);
    const wrong = run(command, true);
    assert.is.not(wrong.status, 0);
    const { length } = wrong.text.match(/\| agent 0 +\| agent 1 +\|/g) ?? [];
    assert.is(length, 1, wrong.text);
    assert.match(wrong.text, "not-linearizable");
  });
}
