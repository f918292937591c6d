// `deno task page` and `deno task site` beside each other, or beside another
// program at their port: each takes one that is free.
import * as fs from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as assert from "uvu/assert";
import { serve, serveAt } from "../../docs/page/serve.ts";
import { suite } from "../_run/harness.ts";

const test = suite("serving pages");

/** The status and the body that a server answers to `address` as it is. */
function ask(server: string, address: string): Promise<[number, string]> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port: new URL(server).port, path: address })
      .on("error", reject)
      .on("response", (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (part) => body += part)
          .on("end", () => resolve([response.statusCode!, body]));
      });
  });
}

test("a server shows no file outside of its folder", async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-serve-"));
  const root = path.join(folder, "site");
  fs.mkdirSync(root);
  fs.writeFileSync(path.join(folder, "secret"), "secret");
  fs.writeFileSync(path.join(root, "a b.html"), "page");
  const { server, url } = await serve(root);
  try {
    for (
      const address of [
        ...["/..%2fsecret", "/..%5csecret", "/x%2f..%2f..%2fsecret"],
        ...["/%00", "/%E0%A4%A", "//"],
      ]
    ) {
      assert.equal(await ask(url, address), [404, "not found"], address);
    }
    assert.equal(await ask(url, "/a%20b.html?x"), [200, "page"]);
  } finally {
    server.close();
    fs.rmSync(folder, { recursive: true });
  }
});

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
    for (const said of ["", "0", "65536", "8e3", "http"]) {
      const wrong = await serveAt(said, folder).catch(({ message }) => message);
      assert.match(wrong, "must be 1 to 65535", said);
    }
  } finally {
    first.server.close();
    second.server.close();
    fs.rmSync(folder, { recursive: true });
  }
});
