/**
 * Code without what does not decide what it does: comments, types and white
 * space.
 *
 * @module
 */
import * as esbuild from "esbuild";

/** Code that was made bare, by its text. */
const made = new Map<string, Promise<string>>();

/**
 * TypeScript or JavaScript as JavaScript without comments and white space. The
 * bundler keeps some comments: those within expressions.
 */
export function bareCode(text: string): Promise<string> {
  let bare = made.get(text);
  if (bare === undefined) {
    bare = esbuild.transform(text, {
      loader: "ts",
      minifyWhitespace: true,
      legalComments: "none",
      target: "esnext",
    }).then(({ code }) => code);
    made.set(text, bare);
  }
  return bare;
}

/** A comment of C, or a text in which none begins. */
const COMMENT =
  /"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|\/\*[^]*?\*\/|\/\/.*/g;

/** C without comments, each of which is one space to a compiler. */
export const bareC = (text: string): string =>
  text.replace(COMMENT, (found) => found.startsWith("/") ? " " : found)
    .replace(/[ \t]+/g, " ");
