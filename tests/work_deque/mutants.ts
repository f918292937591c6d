import { mutants, none } from "../_run/mutant.ts";

const NO_VIEW = none("C has no view that could remember an old value");

/** Mutants of `WorkDeque`. */
export const MUTANTS = mutants("work_deque", {
  what: "(P): publishes before it writes",
  by: "a place used again under a late thief",
  ts: "{+Atomics.store(words, BOTTOM, bottom + 1 | 0); " +
    "+}Atomics.store(words, ITEMS + (bottom & this.#mask), item);[- " +
    "Atomics.store(words, BOTTOM, bottom + 1 | 0); // (P)-]",
  c: "[-weft__store(weft__deque_item(d, bottom), item); " +
    "-]weft__store(&d->bottom, weft__plus(bottom, 1)); [-/* (P) " +
    "*/-]{+weft__store(weft__deque_item(d, bottom), item);+}",
}, {
  what: "notices one item too late that it is full",
  by: "a place used again under a late thief",
  ts: "if ((bottom - this.#top | 0) >[-=-] this.capacity) { this.#top",
  c: "weft__load(&d->top)) >[-=-] d->capacity) return EBUSY;",
}, {
  what: "notices one item too late that it is full, at the second look",
  by: "a place used again under a late thief",
  ts: "if ((bottom - this.#top | 0) >[-=-] this.capacity) return false;",
  c: NO_VIEW,
}, {
  what: "believes an old top that it is full",
  by: "a place used again under a late thief",
  ts: "[-this.#top = Atomics.load(words, TOP); -]if",
  c: NO_VIEW,
}, {
  what: "compares positions that wrap, to see if it is full",
  by: "full where a position wraps",
  ts: "if [-(-](bottom - this.#top[- | 0)-] >= this.capacity) { this.#top",
  c: "if ([-weft__minus(bottom,-]{+(int64_t)bottom -+} " +
    "weft__load(&d->top[-)-]) >= d->capacity) return EBUSY;",
}, {
  what: "pushes plainly",
  ts: "[-Atomics.store(words, -]{+words[+}ITEMS + (bottom & this.#mask)[-, " +
    "item)-]{+] = item+};",
  c: "[-weft__store(-]{+*+}weft__deque_item(d, bottom)[-, item)-]{+ = item+};",
  by: "a place used again under a late thief",
}, {
  what: "(B): looks at top before it takes the item away",
  by: "push and pop beside two thieves",
  ts: "[-Atomics.store(words, BOTTOM, bottom); -]const top = " +
    "Atomics.load(words, TOP);{+ Atomics.store(words, BOTTOM, bottom);+}",
  c: "[-weft__store(&d->bottom, bottom); -]int32_t top = " +
    "weft__load(&d->top);{+ weft__store(&d->bottom, bottom);+}",
}, {
  what: "(B): does not take the item away",
  by: "push and pop beside two thieves",
  ts: [
    "[-Atomics.store(words, BOTTOM, bottom); -]const top",
    "if (left > 0){+ { Atomics.store(words, BOTTOM, bottom);+} return " +
    "words[ITEMS + (bottom & this.#mask)]!;{+ }+}",
  ],
  c: [
    "[-weft__store(&d->bottom, bottom); -]int32_t top",
    "{+{ if (left > 0) weft__store(&d->bottom, bottom); +}*item = " +
    "weft__hint(weft__deque_item(d, bottom)); [-/* our own */-]{+}+}",
  ],
}, {
  what: "takes the last item without a thief's exchange",
  by: "two items, popped and stolen",
  ts: "const seen = {+top; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "TOP[-, top-], top + 1 | 0); if (seen === top) item =",
  c: "[-weft__compare_exchange( &d->top, -]{+(weft__store(&d->+}top, " +
    "weft__plus(top, 1))[- != top))-]{+, 0)))+}",
}, {
  what: "takes the last item although a thief took it",
  by: "two items, popped and stolen",
  ts: "[-if (seen === top) -]item = words",
  c: "{+(+}weft__compare_exchange([- -]&d->top, top, weft__plus(top, 1))[- " +
    "!= top))-]{+, 0)))+}",
}, {
  what: "takes the last item but one only by an exchange",
  by: "push and pop beside two thieves",
  ts: "if (left > [-0-]{+1+}) return words[ITEMS + (bottom & this.#mask)]!;",
  c: "if (left < 0 || (left [-== 0-]{+<= 1+} &&",
}, {
  what: "takes the last item as if it were not the last",
  by: "the last item, wanted by both sides",
  ts: "if (left >{+=+} 0) return words[ITEMS + (bottom & this.#mask)]!;",
  c: "left < 0[- || (left == 0 && weft__compare_exchange( &d->top, top, " +
    "weft__plus(top, 1)) != top)-]",
}, {
  what: "leaves an empty deque below top",
  by: "a place used again under a late thief",
  ts: "[-Atomics.store(words, BOTTOM, bottom + 1 | 0); // empty: as `top` is " +
    "by now-]",
  c: "[-if (left <= 0) weft__store(&d->bottom, weft__plus(bottom, 1));-]",
}, {
  what: "compares positions that wrap",
  by: "push and pop beside two thieves",
  ts: "const left = bottom - top[- | 0-];",
  c: "[-int32_t left = weft__minus(bottom, top);-]{+int64_t left = " +
    "(int64_t)bottom - top;+}",
}, {
  what: "(T): looks at bottom before top",
  by: "push and pop beside two thieves",
  ts: [
    "{+const early = Atomics.load(words, BOTTOM); +}for (let top = " +
    "Atomics.load(words, TOP);;) {",
    "const left = [-Atomics.load(words, BOTTOM)-]{+early+} - top | 0; if " +
    "(left <= 0)",
  ],
  c: [
    "{+int32_t early = weft__load(&d->bottom); +}for (int32_t top = " +
    "weft__load(&d->top);;) {",
    "int32_t left = weft__minus([-weft__load(&d->bottom)-]{+early+}, top); " +
    "if (left <= 0)",
  ],
}, {
  what: "steals from an empty deque",
  by: "the last item, wanted by both sides",
  ts: "if (left <[-=-] 0) return undefined;",
  c: "if (left <[-=-] 0) return EBUSY;",
}, {
  what: "a thief compares positions that wrap",
  by: "push and pop beside two thieves",
  ts: "const left = Atomics.load(words, BOTTOM) - top[- | 0-]; if (left <= 0)",
  c: "[-int32_t left = weft__minus(-]{+int64_t left = " +
    "(int64_t)+}weft__load(&d->bottom)[-, top)-]{+ - top+}; if (left <= 0)",
}, {
  what: "steals before it reads",
  by: "full where a position wraps",
  ts: "[-const item = Atomics.load(words, ITEMS + (top & this.#mask)); " +
    "-]const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0); " +
    "if (seen === top) return [-item-]{+Atomics.load(words, ITEMS + (top & " +
    "this.#mask))+};",
  c: "[-int32_t found = weft__load(weft__deque_item(d, top)); -]int32_t seen " +
    "= weft__compare_exchange(&d->top, top, weft__plus(top, 1));{+ int32_t " +
    "found = weft__load(weft__deque_item(d, top));+}",
}, {
  what: "steals by a store",
  by: "the last item, wanted by both sides",
  ts: "const seen = {+top; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "TOP[-, top-], top + 1 | 0); if (seen === top) return item;",
  c: "int32_t seen = [-weft__compare_exchange(&d->top, -]{+top; " +
    "weft__store(&d->+}top, weft__plus(top, 1));",
}, {
  what: "steals an item that another thief stole",
  by: "the last item, wanted by both sides",
  ts: "[-if (seen === top) -]return item;[- top = seen;-]",
  c: "[-if (seen == top) -]{ *item",
}, {
  what: "a thief gives up when its exchange fails",
  by: "push and pop beside two thieves",
  ts: "[-if (seen === top) return item; top = seen;-]{+return seen === top ? " +
    "item : undefined;+}",
  c: "[-top = seen-]{+return EBUSY+}; } }",
}, {
  what: "adopts with bottom below top",
  by: "the owner of an empty deque terminated, adopted",
  ts: "{+if (left === 0) +}Atomics.store(words, BOTTOM, [-left === 0 ? top + " +
    "1 | 0 : top-]{+top + 1 | 0+});",
  c: "{+if (items == 0) +}weft__store(&d->bottom, top);",
}, {
  what: "adopts, and drops the items that are there",
  ts: "[-if (left > 0) return;-]",
  c: "[-if (items > 0) return 0;-]",
  by: "the owner terminated with the last item, adopted",
}, {
  what: "adopts, and leaves the last item's place to a thief",
  ts: "if (left [-=== 0) Atomics.compareExchange(words, TOP, top, top + 1 | " +
    "0);-]{+< 0)+} Atomics.store(words, BOTTOM, [-left === 0 ? top + 1 | 0 : " +
    "-]top);",
  c: "if (items [-== 0) { int32_t next = weft__plus(top, 1); " +
    "weft__compare_exchange(&d->top, top, next); top = next; }-]{+< 0)+} " +
    "weft__store(&d->bottom, top);",
  by: "the owner terminated with the last item, adopted",
}, {
  what: "adopts, and moves bottom alone",
  ts: "[-if (left === 0) Atomics.compareExchange(words, TOP, top, top + 1 | " +
    "0);-]",
  c: "[-weft__compare_exchange(&d->top, top, next); -]top = next;",
  by: "the owner terminated with the last item, adopted",
}, {
  what: "any agent owns it",
  by: "two agents push, of which one may",
  ts: '[-if (other !== 0 && other !== this.#id) throw taken("owner", other);-]',
  c: "[-if (weft__take_role(&d->owner) != 0) return EPERM; -]return " +
    "weft__work_deque_push(d, item);",
}, {
  what: "any agent adopts it",
  by: "two agents adopt, of which one may",
  ts: "else this.#[-own()-]{+owns = true+};",
  c: "[-if (seen != left && weft__take_role(&d->owner) != 0) return " +
    "EPERM;-]{+(void)seen;+}",
}, {
  what: "an owner need not adopt what the last one left",
  by: "nobody pushes to a deque whose owner left",
  ts: 'if (other === LEFT_BIT) { [-throw new TypeError("The owner of this ' +
    'deque left: call adopt() first")-]{+this.#owns = true; return+}; }',
  c: "if ({+weft__load(&d->owner) != WEFT_WORK_DEQUE_LEFT_BIT && " +
    "+}weft__take_role(&d->owner) != 0) return EPERM; return " +
    "weft__work_deque_push(d, item);",
}, {
  what: "adopts by a store",
  by: "two agents adopt a deque whose owner left",
  ts: "const seen = Atomics.[-compareExchange-]{+load+}(words, OWNER[-, " +
    "LEFT_BIT-]{+); if (seen === LEFT_BIT) Atomics.store(words, OWNER+}, " +
    "this.#id);",
  c: "int32_t seen = [-weft__compare_exchange(&d->owner, left, " +
    "-]{+weft__load(&d->owner); if (seen == left) weft__store(&d->owner, " +
    "+}weft_agent_id());",
}, {
  what: "an owner that leaves does not say so",
  by: "nobody pushes to a deque whose owner left",
  ts: "return leaveRole(this.#words, OWNER, id[-, LEFT_BIT-]);",
  c: "[-return id != 0 && weft__compare_exchange(&d->owner, id, left) == id " +
    "? 1 : 0;-]{+(void)left; return weft__leave_role(&d->owner, id);+}",
});
