import { mutants } from "../_run/mutant.ts";

/** Mutants of `WorkDeque`. */
export const work_deque = mutants(
  "work_deque.ts",
  [
    "(P): publishes before it writes",
    "Atomics.store(words, ITEMS + (bottom & this.#mask), item); " +
    "Atomics.store(words, BOTTOM, bottom + 1 | 0); // (P)",
    "Atomics.store(words, BOTTOM, bottom + 1 | 0);\n" +
    "Atomics.store(words, ITEMS + (bottom & this.#mask), item);",
  ],
  [
    "full one item too late",
    "if ((bottom - this.#top | 0) >= this.capacity) { this.#top",
    "if ((bottom - this.#top | 0) > this.capacity) { this.#top",
  ],
  [
    "full one item too late, at the second look",
    "if ((bottom - this.#top | 0) >= this.capacity) return false;",
    "if ((bottom - this.#top | 0) > this.capacity) return false;",
  ],
  [
    "believes an old top that it is full",
    "this.#top = Atomics.load(words, TOP); if",
    "if",
  ],
  [
    "compares positions that wrap, to see if it is full",
    "if ((bottom - this.#top | 0) >= this.capacity) { this.#top",
    "if (bottom - this.#top >= this.capacity) { this.#top",
  ],
  [
    "pushes plainly",
    "Atomics.store(words, ITEMS + (bottom & this.#mask), item);",
    "words[ITEMS + (bottom & this.#mask)] = item;",
    { by: "work_deque: a place used again under a late thief" },
  ],
  [
    "(B): looks at top before it takes the item away",
    "Atomics.store(words, BOTTOM, bottom); const top = Atomics.load(words, TOP);",
    "const top = Atomics.load(words, TOP); Atomics.store(words, BOTTOM, bottom);",
  ],
  [
    "(B): does not take the item away",
    "Atomics.store(words, BOTTOM, bottom); const top",
    "const top",
    {
      also: [
        "if (left > 0) return words[ITEMS + (bottom & this.#mask)]!; // our own",
        "if (left > 0) { Atomics.store(words, BOTTOM, bottom);\n" +
        "return words[ITEMS + (bottom & this.#mask)]!; }",
      ],
    },
  ],
  [
    "takes the last item without a thief's exchange",
    "const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0); " +
    "if (seen === top) item =",
    "const seen = top; Atomics.store(words, TOP, top + 1 | 0);\n" +
    "if (seen === top) item =",
  ],
  [
    "takes the last item though a thief did",
    "if (seen === top) item = words",
    "item = words",
  ],
  [
    "takes the last item but one by an exchange only",
    "if (left > 0) return words[ITEMS + (bottom & this.#mask)]!; // our own",
    "if (left > 1) return words[ITEMS + (bottom & this.#mask)]!;",
  ],
  [
    "takes the last item as its own",
    "if (left > 0) return words[ITEMS + (bottom & this.#mask)]!; // our own",
    "if (left >= 0) return words[ITEMS + (bottom & this.#mask)]!;",
  ],
  [
    "leaves an empty deque below top",
    "Atomics.store(words, BOTTOM, bottom + 1 | 0); // empty: as `top` is by now",
    "",
  ],
  [
    "compares positions that wrap",
    "const left = bottom - top | 0;",
    "const left = bottom - top;",
  ],
  [
    "(T): looks at bottom before top",
    "for (let top = Atomics.load(words, TOP);;) {",
    "const early = Atomics.load(words, BOTTOM);\n" +
    "for (let top = Atomics.load(words, TOP);;) {",
    {
      also: [
        "const left = Atomics.load(words, BOTTOM) - top | 0; if (left <= 0)",
        "const left = early - top | 0; if (left <= 0)",
      ],
    },
  ],
  [
    "steals what is not there",
    "if (left <= 0) return undefined;",
    "if (left < 0) return undefined;",
  ],
  [
    "a thief compares positions that wrap",
    "const left = Atomics.load(words, BOTTOM) - top | 0; if (left <= 0)",
    "const left = Atomics.load(words, BOTTOM) - top; if (left <= 0)",
  ],
  [
    "steals before it reads",
    "const item = Atomics.load(words, ITEMS + (top & this.#mask)); " +
    "const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0); " +
    "if (seen === top) return item;",
    "const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0);\n" +
    "if (seen === top) return Atomics.load(words, ITEMS + (top & this.#mask));",
  ],
  [
    "steals by a store",
    "const seen = Atomics.compareExchange(words, TOP, top, top + 1 | 0); " +
    "if (seen === top) return item;",
    "const seen = top; Atomics.store(words, TOP, top + 1 | 0);\n" +
    "if (seen === top) return item;",
  ],
  [
    "steals what another stole",
    "if (seen === top) return item; top = seen;",
    "return item;",
  ],
  [
    "a thief gives up when its exchange fails",
    "if (seen === top) return item; top = seen;",
    "return seen === top ? item : undefined;",
  ],
  [
    "adopts with bottom below top",
    "Atomics.store(words, BOTTOM, left === 0 ? top + 1 | 0 : top);",
    "if (left === 0) Atomics.store(words, BOTTOM, top + 1 | 0);",
  ],
  [
    "adopts, and drops what is there",
    "if (left > 0) return;",
    "",
  ],
  [
    "adopts, and leaves the last item's place to a thief",
    "if (left === 0) Atomics.compareExchange(words, TOP, top, top + 1 | 0); " +
    "Atomics.store(words, BOTTOM, left === 0 ? top + 1 | 0 : top);",
    "if (left < 0) Atomics.store(words, BOTTOM, top);",
  ],
  [
    "adopts, and moves bottom alone",
    "if (left === 0) Atomics.compareExchange(words, TOP, top, top + 1 | 0);",
    "",
  ],
);
