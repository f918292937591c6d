/**
 * An interleaving as an HTML page to step through. Beside the steps it shows
 * memory and the waiting agents, as they are after the chosen step.
 *
 * @module
 */
import type { Picture } from "./print.ts";
import { escape, svgOf } from "./svg.ts";

const STYLE = `
:root{color-scheme:light dark;--soft:#5a6675;--mark:#2f6fb733;--bad:#c22d2d}
@media(prefers-color-scheme:dark){:root{--soft:#96a2b1;--bad:#ff7b72}}
body{margin:1em;font:13px ui-monospace,Menlo,Consolas,monospace}
h1{font-size:15px;color:var(--bad);white-space:pre-wrap}
main{display:flex;gap:2em;align-items:flex-start}
table{border-collapse:collapse}
td,th{padding:1px 8px;text-align:left;vertical-align:top;white-space:pre}
#steps tr{cursor:pointer}
#steps tr[aria-selected=true]{background:var(--mark)}
.soft{color:var(--soft)}
.changed{background:var(--mark);font-weight:600}
aside{position:sticky;top:1em;min-width:22em}
.steps{min-width:0;overflow-x:auto}
.keys button{min-width:44px;min-height:36px;font:inherit}
@media(max-width:700px){
main{flex-direction:column;gap:0}
aside{order:-1;top:0;min-width:0;width:100%;max-height:55vh;overflow:auto;background:Canvas}
.steps{max-width:100%}
}
`.replace(/\n/g, "");

// The page's script. It reads its data from the element "scenes".
const SCRIPT = `
const scenes = JSON.parse(document.getElementById("scenes").textContent);
const rows = [...document.querySelectorAll("#steps tbody tr")];
const put = (id, lines) => {
  const at = document.getElementById(id);
  at.replaceChildren(...lines);
};
const cell = (text, changed) => {
  const td = document.createElement("td");
  td.textContent = text;
  if (changed) td.className = "changed";
  return td;
};
let at = 0;
function show(step) {
  at = Math.max(0, Math.min(rows.length - 1, step));
  rows.forEach((row, i) => row.setAttribute("aria-selected", i === at));
  rows[at]?.scrollIntoView({ block: "nearest" });
  const { memory, waits, now } = scenes[at] ?? { memory: [], waits: [], now: 0 };
  const before = new Map(scenes[at - 1]?.memory ?? []);
  put("memory", memory.map(([name, value]) => {
    const tr = document.createElement("tr");
    const old = before.get(name) ?? (at === 0 ? value : 0);
    tr.append(cell(name), cell(value, old !== value));
    return tr;
  }));
  put("waits", (waits.length ? waits : ["nobody"]).map((text) => {
    const li = document.createElement("li");
    li.textContent = text;
    return li;
  }));
  document.getElementById("where").textContent =
    "after step " + (at + 1) + " of " + rows.length + ", at " + now + " ms";
}
rows.forEach((row, i) => row.addEventListener("click", () => show(i)));
const KEYS = { ArrowDown: 1, j: 1, " ": 1, ArrowUp: -1, k: -1, PageDown: 10,
  PageUp: -10, Home: -1e9, End: 1e9 };
for (const button of document.querySelectorAll("button")) {
  button.addEventListener("click", () => show(at + KEYS[button.value]));
}
addEventListener("keydown", (event) => {
  const by = KEYS[event.key];
  const pressed = event.key === " " && event.target.closest("button, summary");
  if (by === undefined || pressed) return;
  event.preventDefault();
  show(at + by);
});
show(rows.length - 1);
`;

/** What a finger presses instead of the key that is its value. */
const BUTTONS = [
  ["Home", "First step", "|◀"],
  ["ArrowUp", "Step back", "◀"],
  ["ArrowDown", "Next step", "▶"],
  ["End", "Last step", "▶|"],
].map(([key, label, sign]) =>
  `<button type="button" value="${key}" aria-label="${label}">${sign}</button>`
).join(" ");

/** The page. It needs no other file. */
export function pageOf(picture: Picture): string {
  const { title, agents, rows, scenes, endings, footer } = picture;
  const head = agents.map((name) => `<th>${escape(name)}</th>`).join("");
  const body = rows.map(({ agent, type, text, site }) => {
    const said = type === "begin"
      ? `${text} {`
      : type === "end"
      ? `} = ${text}`
      : `  ${text}`;
    const where = site === ""
      ? ""
      : `  <span class="soft">${escape(site)}</span>`;
    const cells = agents.map((_, id) =>
      id === agent ? `<td>${escape(said)}${where}</td>` : "<td></td>"
    );
    return `<tr>${cells.join("")}</tr>`;
  });
  const ends = endings.flatMap((text, id) =>
    text === undefined ? [] : [`<li>agent ${id}: ${escape(text)}</li>`]
  );
  const data = JSON.stringify(scenes).replaceAll("<", "\\u003c");
  return `<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>${escape(title)}</title>
<style>${STYLE}</style>
<h1>${escape(title)}</h1>
<p class="soft">Arrow keys step through it, Home and End go to its ends.</p>
<main>
<div class="steps"><table id="steps"><thead><tr>${head}</tr></thead>
<tbody>${body.join("\n")}</tbody></table></div>
<aside><p class="keys">${BUTTONS}</p><p id="where"></p><table><tbody id="memory"></tbody></table>
<p>who waits:</p><ul id="waits"></ul>
<p>at the end:</p><ul>${ends.join("") || "<li>all are done</li>"}</ul></aside>
</main>
<p class="soft">${escape(footer)}</p>
<details><summary>as a picture</summary>${svgOf(picture)}</details>
<script type="application/json" id="scenes">${data}</script>
<script>${SCRIPT}</script></html>
`;
}
