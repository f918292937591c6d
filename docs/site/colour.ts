/**
 * Colours code: comments, strings, numbers and keywords, each in a span.
 *
 * @module
 */
import { escape } from "./html.ts";

const KEYWORDS: Readonly<Record<"script" | "c" | "shell", string>> = {
  script: "abstract as async await break case catch class const continue " +
    "default delete do else export extends false finally for from function " +
    "get if implements import in instanceof interface let new null of " +
    "override private public readonly return set static super switch this " +
    "throw true try type typeof undefined using var void while yield",
  c: "auto break case catch char class const constexpr continue default do " +
    "double else enum extern false float for goto if inline int int32_t " +
    "int64_t long namespace nullptr private public return short signed " +
    "size_t sizeof static struct switch template this throw true try " +
    "typedef uint32_t uint64_t unsigned using void volatile while",
  shell: "cd cp deno docker git node npm npx",
};

/** The languages that documents name, and files end in. */
const LANGUAGES: Readonly<Record<string, keyof typeof KEYWORDS>> = {
  js: "script",
  mjs: "script",
  ts: "script",
  jsx: "script",
  tsx: "script",
  json: "script",
  c: "c",
  h: "c",
  cpp: "c",
  hpp: "c",
  sh: "shell",
};

/** What may stand at one place, in the order in which it is tried. */
const patternOf = (language: keyof typeof KEYWORDS) =>
  new RegExp(
    [
      language === "shell"
        ? "(?<comment>(?<=^|\\s)#[^\\n]*)"
        : "(?<comment>//[^\\n]*|/\\*[^]*?\\*/)",
      language === "c"
        ? "(?<string>\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*')"
        : "(?<string>\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*'|" +
          "`(?:\\\\.|[^`\\\\])*`)",
      "(?<number>\\b(?:0x[\\da-fA-F]+|\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)n?\\b)",
      ...language === "c" ? ["(?<keyword>^ *#\\w+)"] : [],
      `(?<word>(?<![.])\\b(?:${KEYWORDS[language].replaceAll(" ", "|")})\\b)`,
      "[\\w$]+", // any other word, as a whole
    ].join("|"),
    "gm",
  );

/** `code` as HTML; `language` is a name as in documents, or an ending. */
export function colour(code: string, language: string): string {
  const known = LANGUAGES[language];
  if (known === undefined) return escape(code);
  let html = "";
  let at = 0;
  for (const { 0: text, index, groups } of code.matchAll(patternOf(known))) {
    const found = Object.entries(groups!).find(([, part]) => part);
    if (found === undefined) continue;
    const name = found[0] === "word" ? "keyword" : found[0];
    html += escape(code.slice(at, index)) +
      `<span class="${name}">${escape(text)}</span>`;
    at = index + text.length;
  }
  return html + escape(code.slice(at));
}

/** The colours; light and dark. They need no other style. */
export const COLOURS = `pre .comment {
  color: light-dark(#57606a, #96a2b1);
}

pre .string {
  color: light-dark(#0a6630, #7ee2a0);
}

pre .number {
  color: light-dark(#8a3ffc, #c4a7ff);
}

pre .keyword {
  color: light-dark(#b3261e, #ff9b93);
}
`;
