/**
 * The pages of the site, in the order of the indexes that users read.
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the project. */
export const PROJECT: string = fileURLToPath(
  new URL("../../", import.meta.url),
);

/** A part of the navigation. */
export interface Part {
  readonly title: string;
  /** Documents, as paths from the project's folder. */
  readonly documents: readonly string[];
}

const read = (file: string) =>
  fs.readFileSync(path.join(PROJECT, file), "utf8");

/** The documents that rows of the tables in `text` link to. */
function inTables(text: string, folder: string): string[] {
  const links = text.matchAll(/^\|.*?\]\((\w+\.md)\)/gm);
  return [...links].map(([, link]) => `${folder}/${link}`);
}

/** The navigation: start, guides, primitives in their groups, and the rest. */
export function contents(): Part[] {
  const guides = "docs/guides";
  const primitives = "docs/primitives";
  const groups = read(`${primitives}/README.md`).split(/^## /m).slice(1)
    .map((text) => ({
      title: text.slice(0, text.indexOf("\n")),
      documents: inTables(text, primitives),
    }))
    .filter(({ documents }) => documents.length > 0);
  const known = new Set([
    "README.md",
    `${guides}/README.md`,
    `${primitives}/README.md`,
    "docs/examples/README.md",
  ]);
  const start = { title: "Start", documents: [...known] };
  const listed = inTables(read(`${guides}/README.md`), guides);
  listed.concat(groups.flatMap(({ documents }) => documents))
    .forEach((document) => known.add(document));
  const rest = fs.readdirSync(path.join(PROJECT, "docs"))
    .filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)
    .filter((name) => !known.has(name)).sort();
  return [
    start,
    { title: "Guides", documents: listed },
    ...groups,
    { title: "More", documents: [...rest, "CHANGELOG.md"] },
  ];
}

/** The title of a document: its first heading, without marks. */
export function titleOf(document: string): string {
  const [, title] = /^# (.*)$/m.exec(read(document))!;
  return title!.replaceAll("`", "");
}

/** The document of which the site shows each part as a page of its own. */
export const PARTED = "docs/benchmarks.md";

/** A part of {@linkcode PARTED}: its title, and its text as a document. */
export interface PartPage {
  readonly title: string;
  readonly place: string;
  readonly text: string;
}

/**
 * What the page of {@linkcode PARTED} keeps, and the pages of its other parts.
 * The first part says what the others come to, and stays.
 */
export function parted(text: string): { text: string; pages: PartPage[] } {
  const [head, first, ...others] = text.split(/^## /m);
  const pages = others.map((part) => {
    const [title] = part.split("\n", 1);
    const place = placeOf(PARTED).replace(".html", `/${title}.html`);
    return { title: title!, place, text: `# ${part}` };
  });
  const list = pages.map(({ title }) => `- [${title}](#${title})\n`).join("");
  return { text: `${head}## Groups\n\n${list}\n## ${first}`, pages };
}

let partPlaces: Map<string, string> | undefined;

/** Where the part of {@linkcode PARTED} with that anchor is, if it is one. */
export function placeOfPart(anchor: string | undefined): string | undefined {
  partPlaces ??= new Map(
    parted(read(PARTED)).pages.map(({ title, place }) => [title, place]),
  );
  return partPlaces.get(anchor ?? "");
}

/** Where the site has what lies at `file` in the project. */
export function placeOf(file: string): string {
  const place = file.replace(/^\.github/, "github");
  if (/(^|\/)README\.md$/.test(place)) {
    return place.replace(/README\.md$/, "index.html");
  }
  if (place.endsWith(".md")) return place.replace(/\.md$/, ".html");
  return isCode(place) ? `${place}.html` : place;
}

/** Whether the site shows a file as a page with its text. */
export const isCode = (file: string): boolean =>
  /(\.(ts|mjs|js|c|h|hpp|py|json)|\/LICENSE|^LICENSE|\/frame\.html)$/.test(
    file,
  );
