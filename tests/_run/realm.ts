/**
 * Modules that can be instantiated again and again. The race tester runs all
 * agents in one realm, and runs an agent's code again whenever the agent goes
 * on. So the state that a module keeps for its realm (queues of pending waits,
 * timers) must be made anew each time, in `agent()`.
 *
 * @module
 */
import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";

/** Makes a fresh instance of a module, and of all it imports. */
export type Realm<T> = () => T;

/** A source, and the text that is to stand in its place. */
export interface Edited {
  readonly file: URL;
  readonly text: string;
}

/** Bundles the modules that `entries` name by what they are to be called. */
export async function realmOf<T>(
  entries: Record<string, URL>,
  edited?: Edited,
): Promise<Realm<T>> {
  const contents = Object.entries(entries)
    .map(([name, url]) =>
      `export * as ${name} from ${JSON.stringify(fileURLToPath(url))};`
    ).join("\n");
  const { outputFiles } = await esbuild.build({
    stdin: {
      contents,
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    write: false,
    format: "iife",
    globalName: "exports",
    target: "esnext",
    plugins: edited === undefined ? [] : [{
      name: "edited",
      setup: ({ onLoad }) =>
        onLoad(
          { filter: /\.ts$/ },
          ({ path }) =>
            path === fileURLToPath(edited.file)
              ? { contents: edited.text, loader: "ts" }
              : undefined,
        ),
    }],
  });
  await esbuild.stop();
  const text = outputFiles[0]!.text;
  return new Function(
    `${text}\nreturn exports;\n//# sourceURL=realm.js`,
  ) as Realm<T>;
}
