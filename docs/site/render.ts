/**
 * Makes HTML of documents in Markdown, and finds what they link to.
 *
 * @module
 */
import MarkdownIt from "markdown-it";
import * as fs from "node:fs";
import * as path from "node:path";
import { colour } from "./colour.ts";
import { PARTED, placeOf, placeOfPart, PROJECT } from "./contents.ts";
import { escape } from "./html.ts";

/** A part of a document with a heading, for the search. */
export interface Section {
  readonly anchor: string;
  readonly title: string;
  readonly text: string;
}

/** A document as HTML. */
export interface Rendered {
  readonly html: string;
  readonly sections: readonly Section[];
  /** Files of the project that it links to. */
  readonly links: readonly string[];
}

/** What GitHub makes of a heading. */
export const anchorOf = (heading: string): string =>
  heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-");

/** A token of markdown-it: the part that is used here. */
interface Token {
  readonly type: string;
  readonly tag: string;
  readonly content: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/**
 * The file of the project that `link` in `document` means, if it is one: with a
 * folder's page instead of the folder.
 */
function fileOf(document: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link) || link.startsWith("#")) return undefined;
  const [name] = link.split("#");
  const file = path.posix.join(path.posix.dirname(document), name!);
  const isFolder = fs.statSync(path.join(PROJECT, file)).isDirectory();
  return isFolder ? path.posix.join(file, "README.md") : file;
}

/**
 * Renders a document for the page at `here`; `document` is its path from the
 * project's folder.
 */
export function render(
  document: string,
  text: string,
  here: string = placeOf(document),
): Rendered {
  const markdown = new MarkdownIt({ html: true, highlight: colour });
  const tokens = markdown.parse(text, {}) as Token[];
  const times = new Map<string, number>();
  const sections: { anchor: string; title: string; text: string }[] = [];
  const parts: string[] = [];
  const links: string[] = [];
  const follow = (token: Token, name: string) => {
    const link = token.attrGet(name)!;
    const [, anchor] = link.split("#");
    const isHere = link.startsWith("#");
    const file = isHere ? document : fileOf(document, link);
    if (file === undefined) return;
    const part = file === PARTED ? placeOfPart(anchor) : undefined;
    if (isHere && part === undefined) return;
    links.push(file);
    const place = part ?? placeOf(file);
    const to = path.posix.relative(path.posix.dirname(here), place);
    const isWhole = anchor === undefined || part !== undefined;
    token.attrSet(name, isWhole ? to : `${to}#${anchor}`);
  };
  // Pictures in HTML, for light and dark.
  const pictures = (html: string) => {
    for (const [, link] of html.matchAll(/\b(?:src|srcset)="([^"]+)"/g)) {
      const file = fileOf(document, link!);
      if (file !== undefined) links.push(file);
    }
  };
  for (const [i, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const title = tokens[i + 1]!.content.replaceAll("`", "");
      const first = anchorOf(tokens[i + 1]!.content);
      const before = times.get(first) ?? 0;
      times.set(first, before + 1);
      // GitHub numbers the headings that say the same.
      const anchor = before === 0 ? first : `${first}-${before}`;
      token.attrSet("id", anchor);
      sections.push({ anchor, title, text: "" });
      if (token.tag === "h2") {
        parts.push(`<li><a href="#${anchor}">${escape(title)}</a></li>`);
      }
    }
    if (token.type === "inline" && sections.length > 0) {
      sections.at(-1)!.text += `${token.content} `;
    }
    for (const child of [token, ...token.children ?? []]) {
      if (child.type.startsWith("html_")) pictures(child.content);
      if (child.type === "link_open") follow(child, "href");
      if (child.type === "image") follow(child, "src");
    }
  }
  const { renderer, options } = markdown;
  const parsed = tokens as Parameters<typeof renderer.render>[0];
  const html = renderer.render(parsed, options, {})
    .replaceAll("<pre>", '<pre tabindex="0">')
    .replaceAll("<table>", '<div class="table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>");
  return { html: withParts(html, parts), sections, links };
}

/** How many parts a page has before it begins with a list of them. */
const MANY = 6;

/** A long page, with a list of its parts. */
function withParts(html: string, parts: readonly string[]): string {
  if (parts.length < MANY) return html;
  const list = `<nav class="parts" aria-label="On this page"><ul>` +
    `${parts.join("")}</ul></nav>`;
  return html.replace("<h2", () => `${list}\n<h2`);
}
