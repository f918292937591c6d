/**
 * HTML of a page: the frame around each, and text made safe.
 *
 * @module
 */
import * as path from "node:path";
import { type Part, placeOf, titleOf } from "./contents.ts";

/** `text` with the marks of HTML written out. */
export const escape = (text: string): string =>
  text.replace(
    /[&<>"]/g,
    (mark) =>
      ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[mark]!,
  );

/** The way from the page at `from` to the file at `to`. */
export const way = (from: string, to: string): string =>
  path.posix.relative(path.posix.dirname(from), to) || path.posix.basename(to);

/** The page at `place`, with its title and its content. */
export function frame(
  parts: readonly Part[],
  place: string,
  title: string,
  content: string,
): string {
  const nav = parts.map(({ title, documents }) => {
    const items = documents.map((document) => {
      const to = placeOf(document);
      const here = to === place ? ' aria-current="page"' : "";
      const name = escape(titleOf(document));
      return `<li><a href="${way(place, to)}"${here}>${name}</a></li>`;
    });
    return `<h2>${escape(title)}</h2><ul>${items.join("")}</ul>`;
  });
  const root = way(place, "index.html").replace(/index\.html$/, "");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}${place === "index.html" ? "" : " - Weft"}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}site.css">
<script type="module" src="${root}search.js"></script>
<script type="module" src="${root}copy.js"></script>
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header>
<a class="name" href="${root}index.html">Weft</a>
<search><label><span class="skip">Search</span>
<input id="search" type="search" placeholder="Search" autocomplete="off"
 data-root="${root}" aria-controls="found"></label>
<ul id="found" hidden></ul></search>
<a class="to-pages" href="#all-pages">Pages</a>
<a href="${root}page/index.html">Live</a>
<a href="${root}api/index.html">API</a>
</header>
<nav id="all-pages" aria-label="Pages">${nav.join("")}</nav>
<main id="main">
${content}
</main>
</body>
</html>
`;
}
