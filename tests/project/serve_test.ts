// `deno task page` and `deno task site` beside each other, or beside another
// program at their port: each takes one that is free.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { serveAt } from "../../docs/page/serve.ts";
import { suite } from "../_run/harness.ts";

const test = suite("serving pages");

test("two servers that are told no port take two", async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-serve-"));
  fs.writeFileSync(path.join(folder, "index.html"), "here");
  const first = await serveAt(undefined, folder);
  const second = await serveAt(undefined, folder);
  try {
    assert.is.not(first.url, second.url);
    for (const { url } of [first, second]) {
      assert.is(await (await fetch(url)).text(), "here");
    }
    // A port that was named is that port, or an error.
    const { port } = new URL(first.url);
    const refused = await serveAt(port, folder).catch(({ code }) => code);
    assert.is(refused, "EADDRINUSE");
  } finally {
    first.server.close();
    second.server.close();
    fs.rmSync(folder, { recursive: true });
  }
});
