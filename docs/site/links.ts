/**
 * `deno task links ADDRESS TAG`: gives the README absolute links before it is
 * published. On a registry's page of the package, relative links lead nowhere.
 * In the other pages, links to files that are not published lead nowhere.
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { complain, wordsOf } from "../../tests/_run/usage.ts";

const USAGE = `usage: deno task links ADDRESS TAG
Changes the README: its relative links lead to the repository at ADDRESS, to the
commit that TAG names, and its last line names the repository and the site. In
the other pages that are published, links to files that are not lead there, too.
The workflow that publishes calls it.

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

/** Whether a file is a page, other than the README. */
export const isPage = (file: string): boolean =>
  file.endsWith(".md") && file !== "README.md";

/** A block of code in a page. */
const CODE = /^( *)```[^]*?^\1```$/gm;
/** A picture of HTML whose address is relative. */
const SOURCE = /^( *<(?:img|source) [^>]*\bsrc(?:set)?=")(?![a-z]+:)([^"]+)/gm;

/**
 * The text of a page. Its links to files that are not `published` lead to files
 * of a commit; `page` is where it lies in the project.
 */
export function withLinksOut(
  text: string,
  page: string,
  published: readonly string[],
  address: string,
  tag: string,
): string {
  const folder = path.posix.dirname(page);
  const isPublished = (file: string) =>
    published.some((name) => name === file || name.startsWith(`${file}/`));
  /** Where a link leads instead; undefined if it leads to what is published. */
  const out = (kind: string, link: string) => {
    const [place, heading = ""] = link.split(/(?=#)/, 2) as [string, string?];
    const file = path.posix.join(folder, place).replace(/\/$/, "");
    return isPublished(file)
      ? undefined
      : `${address}/${kind}/${tag}/${file}${heading}`;
  };
  const changed = (part: string) =>
    part.replace(RELATIVE, (all, picture, title, link) => {
      const to = out(picture === "" ? "blob" : "raw", link);
      return to === undefined ? all : `${picture}[${title}](${to})`;
    }).replace(SOURCE, (all, tag, link) => {
      const to = out("raw", link);
      return to === undefined ? all : `${tag}${to}`;
    });
  let made = "";
  let at = 0;
  for (const { 0: code, index } of text.matchAll(CODE)) {
    made += changed(text.slice(at, index)) + code;
    at = index + code.length;
  }
  return made + changed(text.slice(at));
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
  // Not above: that module imports this one.
  const { PUBLISHED } = await import("../../tests/_run/package.ts");
  for (const page of PUBLISHED.filter(isPage)) {
    const file = new URL(`../../${page}`, import.meta.url);
    const text = fs.readFileSync(file, "utf8");
    const made = withLinksOut(text, page, PUBLISHED, address, tag);
    if (made !== text) fs.writeFileSync(file, made);
  }
}
