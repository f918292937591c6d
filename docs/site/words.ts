/**
 * Pictures of the words of a primitive, from `primitives/_memory/layout/`.
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import * as ROWS from "../../primitives/_memory/layout.ts";
import { PROJECT } from "./contents.ts";
import { escape } from "./html.ts";

/** Words to a line of the picture: 128 bytes, which agents do not share. */
const LINE = 32;
const HIGH = 30;
const WIDE = 560;

/** What lies behind the words of `stem`, as docs/layouts.md says it. */
function behind(stem: string): string {
  const layouts = path.join(PROJECT, "docs", "layouts.md");
  const [, section] = fs.readFileSync(layouts, "utf8")
    .split(new RegExp(`^## ${stem}$`, "m"));
  const [, text] = /^Behind them: ([^]*?)(?:\n\n|(?![^]))/m
    .exec(section!.split(/^## /m)[0]!) ?? [];
  if (text === undefined) return "";
  return ` Behind them: ${
    escape(text.trim()).replace(/`([^`]+)`/g, "<code>$1</code>")
  }`;
}

/** The words of the primitive `stem` as an SVG; "" if it has none. */
export function picture(stem: string): string {
  const row = (ROWS as Record<string, unknown>)[stem.toUpperCase()];
  if (typeof row !== "object" || row === null) return "";
  const words = Object.entries(row as Record<string, unknown>)
    .filter((entry): entry is [string, number] => typeof entry[1] === "number");
  const length = words.find(([name]) => name === "length")?.[1];
  if (length === undefined) return "";
  const lines = Map.groupBy(
    words.filter(([name, at]) => name !== "length" && at < length),
    ([, at]) => Math.floor(at / LINE),
  );
  if (lines.size === 0) return "";
  const parts: string[] = [];
  let y = 1; // room for the line around the first box
  for (const [line, named] of [...lines].sort(([a], [b]) => a - b)) {
    named.sort(([, a], [, b]) => a - b);
    const wide = WIDE / Math.max(named.length, 3);
    parts.push(
      `<text class="at" x="58" y="${y + 20}">word ${line * LINE}</text>`,
    );
    for (const [i, [name, at]] of named.entries()) {
      const x = 70 + i * wide;
      parts.push(
        `<rect x="${x}" y="${y}" width="${wide - 4}" height="${HIGH}" rx="4">` +
          `<title>word ${at}: ${escape(name)}</title></rect>` +
          `<text x="${x + wide / 2 - 2}" y="${y + 20}">${escape(name)}</text>`,
      );
    }
    y += HIGH + 8;
  }
  const label = `The words of ${stem}, 128 bytes to a line`;
  return `<figure class="words"><svg viewBox="0 0 ${WIDE + 70} ${y}" ` +
    `role="img" aria-label="${label}">${parts.join("")}</svg>` +
    `<figcaption>Its words in memory. Each line has 128 bytes of its own; ` +
    `<a href="../layouts.html#${stem}">layouts</a> say what each word means.${
      behind(stem)
    }` +
    `</figcaption></figure>`;
}
