/// <reference lib="dom" />
/**
 * The search of the site. It loads its index when somebody begins to type.
 *
 * @module
 */
import MiniSearch, { type SearchResult } from "minisearch";
import { OPTIONS } from "./search_options.ts";

const input = document.getElementById("search") as HTMLInputElement;
const list = document.getElementById("found")!;
const root = input.dataset.root!;

let index: Promise<MiniSearch> | undefined;

async function load(): Promise<MiniSearch> {
  const text = await (await fetch(`${root}search.json`)).text();
  return MiniSearch.loadJSON(text, OPTIONS);
}

function item({ url, page, title }: SearchResult): HTMLElement {
  const link = document.createElement("a");
  link.href = root + url;
  const name = document.createElement("b");
  name.textContent = page;
  link.append(name, title === page ? "" : ` ${title}`);
  const element = document.createElement("li");
  element.append(link);
  return element;
}

async function search() {
  index ??= load();
  const found = (await index).search(input.value).slice(0, 8);
  if (found.length > 0) list.replaceChildren(...found.map(item));
  else list.textContent = "Nothing was found.";
  list.hidden = input.value.trim() === "";
}

/** Moves among the results by the arrow keys; Escape leaves them. */
function move(event: KeyboardEvent) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") {
    list.hidden = true;
    input.focus();
  }
  if (by === undefined || list.hidden) return;
  event.preventDefault();
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  (at + by < 0 ? input : links[Math.min(at + by, links.length - 1)])?.focus();
}

// The navigation shows where the reader is, without moving the page.
const nav = document.getElementById("all-pages")!;
const here = nav.querySelector<HTMLElement>("[aria-current]");
if (here !== null && here.offsetTop > nav.clientHeight) {
  nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
}

input.addEventListener("input", search);
input.parentElement!.parentElement!.addEventListener("keydown", move);
