/**
 * Results as JUnit XML, which servers of continuous integration read.
 *
 * @module
 */
import { RaceError } from "./error.ts";
import { escape } from "./svg.ts";

/** What a test of the tester came to: a result, or what was thrown. */
export type Outcome =
  | {
    readonly summary: string;
    readonly failure?:
      | {
        readonly kind: string;
        readonly message: string;
        readonly table: string;
      }
      | undefined;
  }
  | Error;

/** Text as XML has it, with the ends of lines and the tabs of an attribute. */
const inXml = (text: string): string =>
  escape(text).replace(/[\t\n\r]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The lines of one test. */
function lineOf(suite: string, name: string, outcome: Outcome): string {
  const begin = `<testcase classname="${inXml(suite)}" name="${inXml(name)}"`;
  const { kind, message, table } = outcome instanceof Error &&
      !(outcome instanceof RaceError)
    ? {
      kind: String(outcome.name) || "Error",
      message: String(outcome.message),
      table: "",
    }
    : outcome.failure ?? { kind: "", message: "", table: "" };
  if (kind === "") {
    const { summary } = outcome as { summary: string };
    return `${begin}><system-out>${inXml(summary)}</system-out></testcase>`;
  }
  return `${begin}><failure type="${inXml(kind)}" ` +
    `message="${inXml(message)}">${inXml(table)}</failure></testcase>`;
}

/** The suite as a document of JUnit XML. */
export function junitOf(
  suite: string,
  outcomes: Readonly<Record<string, Outcome>>,
): string {
  const all = Object.entries(outcomes);
  const failed = all.filter(([, outcome]) =>
    outcome instanceof Error || outcome.failure !== undefined
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="${inXml(suite)}" tests="${all.length}" ` +
    `failures="${failed.length}">`,
    ...all.map(([name, outcome]) => lineOf(suite, name, outcome)),
    "</testsuite>",
    "",
  ].join("\n");
}
