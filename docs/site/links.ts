/**
 * `deno task links ADDRESS TAG`: gives the README absolute links before it is
 * published. On a registry's page of the package, relative links lead nowhere.
 *
 * @module
 */
import * as fs from "node:fs";
import { complain, wordsOf } from "../../tests/_run/usage.ts";

const USAGE = `usage: deno task links ADDRESS TAG
Changes the README: its relative links lead to the repository at ADDRESS, to the
commit that TAG names, and its last line names the repository and the site. The
workflow that publishes calls it.

  deno task links https://github.com/OWNER/NAME v1.0.0`;

const README = new URL("../../README.md", import.meta.url);
/** A link or a picture of Markdown whose address is relative. */
const RELATIVE = /(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)/g;

/** The text, whose relative links lead to files of a commit. */
export function withAbsoluteLinks(
  text: string,
  address: string,
  tag: string,
): string {
  return text.replace(RELATIVE, (_all, picture, title, file) => {
    // A page of a file is no picture, and its bytes are no page.
    const kind = picture === "" ? "blob" : "raw";
    return `${picture}[${title}](${address}/${kind}/${tag}/${file})`;
  });
}

/**
 * The README as a registry shows it: with absolute links, and with a line that
 * names the repository and, if GitHub serves one, its site.
 */
export function published(text: string, address: string, tag: string): string {
  const places = [`the [repository](${address})`];
  const [, owner, name] = /^https:\/\/github\.com\/([^/]+)\/([^/]+)$/
    .exec(address) ?? [];
  if (owner !== undefined) {
    const site = `https://${owner.toLowerCase()}.github.io/${name}`;
    places.unshift(
      `these [documents with a search](${site}/)`,
      `the [live page](${site}/page/)`,
    );
  }
  return `${withAbsoluteLinks(text, address, tag).trimEnd()}

Online: ${places.join(", ")}.
`;
}

/** Ends this process unless the address is one of a repository. */
export function assertAddress(address: string): void {
  if (!/^https:\/\/\S*[^/\s]$/.test(address)) {
    complain(`the address is ${address}, but it must be https://…/OWNER/NAME`);
  }
}

if (import.meta.main) {
  const { positionals } = wordsOf(USAGE);
  const [address, tag] = positionals;
  if (address === undefined || tag === undefined || positionals.length > 2) {
    complain("deno task links takes an address and a tag; see --help");
  }
  assertAddress(address);
  if (!/^[\w.-]+$/.test(tag)) {
    complain(
      `the tag is ${tag}, but a tag is letters, digits, dots and dashes`,
    );
  }
  const text = fs.readFileSync(README, "utf8");
  fs.writeFileSync(README, published(text, address, tag));
}
