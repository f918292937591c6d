import type { Finding } from "../../mod.ts";
import { headerFiles } from "../_run/header.ts";
import type { Twin } from "../_run/mixed/twin.ts";

/** The kinds that zeroed memory does not tell. */
const PARTS: Readonly<Record<string, number>> = {
  once: 256,
  rw_lock: 257,
  mutex: 258,
};

/** What C calls a finding, by its number, in the words of TypeScript. */
const WHAT = whatIn(headerFiles()["weft/recover.h"]!);

function whatIn(header: string): readonly string[] {
  const [list] = /^ {2}WEFT_LOCK_ABANDONED = 1,[^]*?^\};/m.exec(header)!;
  const names = list.matchAll(/^ {2}WEFT_(\w+)/gm);
  const words = [...names].map(([, name]) => name!.toLowerCase());
  return ["", ...words.map((word) => word.replaceAll("_", " "))];
}

/** Where the ids, the parts and the findings lie, in words. */
const IDS = 0;
const AT_PARTS = 8;
const FOUND = 16;
const MOST = 12;

/** `recover` of one agent that is C. */
function recover(
  twin: Twin,
  ids: readonly number[],
  views: Twin | readonly Twin[],
): Finding[] {
  const { c, scratch: { at, words } } = twin;
  const all = [views].flat() as Twin[];
  words.set(ids, IDS);
  all.forEach((view, i) => {
    words.set([PARTS[view.kind] ?? 0, view.at], AT_PARTS + 2 * i);
  });
  const count = c.weft_recover!(
    at + IDS * 4,
    ids.length,
    at + AT_PARTS * 4,
    all.length,
    at + FOUND * 4,
    MOST,
  );
  if (count < 0) throw new RangeError(`errno ${-count}`);
  return Array.from({ length: Math.min(count, MOST) }, (_, i) => {
    const from = FOUND + 4 * i;
    const [part, what, id, count] = words.subarray(from, from + 4);
    const primitive = all[part!]!;
    const told = WHAT[what!] as Finding["what"];
    return {
      primitive,
      kind: primitive.kind,
      what: told,
      id: id!,
      count: count!,
    };
  });
}

/** By the names of the functions that they stand for. */
export const functions = { recover };
