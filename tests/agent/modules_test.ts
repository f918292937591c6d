// A thread is one agent in a program and in the libraries that it loads.
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { build, run, WARNINGS } from "../_run/native.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

const test = suite("agents in shared libraries");

/** Builds one of the two sources with nothing visible that is not marked. */
const make = (name: string, source: string, ...words: string[]) =>
  build({
    name,
    compiler: "gcc",
    words: ["-std=gnu11", "-O2", "-pthread", "-fvisibility=hidden", ...WARNINGS]
      // Old C libraries have dlopen in one of its own.
      .concat(words, "-Wl,--no-as-needed", "-ldl"),
    sources: [path.join(HERE, source)],
  });

const plugin = make("plugin.so", "plugin.c", "-fPIC", "-shared");

for (
  const [title, words, args] of [
    ["a program that exports its symbols shares its agents", ["-rdynamic"], []],
    ["another program tells a library the id of a thread", [], ["tells"]],
  ] as const
) {
  test(title, async () => {
    const name = `modules${words.join("")}`;
    const file = await make(name, "modules.c", ...words);
    const { code, output } = await run(file, [await plugin, ...args], 60);
    assert.is(code, 0, output);
    assert.match(output, /^done$/m);
  });
}
