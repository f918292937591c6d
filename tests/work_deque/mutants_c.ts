import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_work_deque`. */
export const work_deque = mutants(
  "work_deque",
  "work_deque",
  [
    "(P): publishes before it writes",
    "weft__store(weft__deque_item(d, bottom), item); weft__store(&d->bottom, " +
    "weft__plus(bottom, 1)); /* (P) */",
    "weft__store(&d->bottom, weft__plus(bottom, 1)); " +
    "weft__store(weft__deque_item(d, bottom), item);",
  ],
  [
    "full one item too late",
    "weft__load(&d->top)) >= d->capacity) return EBUSY;",
    "weft__load(&d->top)) > d->capacity) return EBUSY;",
  ],
  [
    "compares positions that wrap, to see if it is full",
    "if (weft__minus(bottom, weft__load(&d->top)) >= d->capacity) return " +
    "EBUSY;",
    "if ((int64_t)bottom - weft__load(&d->top) >= d->capacity) return EBUSY;",
  ],
  [
    "pushes plainly",
    "weft__store(weft__deque_item(d, bottom), item);",
    "*weft__deque_item(d, bottom) = item;",
  ],
  [
    "(B): looks at top before it takes the item away",
    "weft__store(&d->bottom, bottom); int32_t top = weft__load(&d->top);",
    "int32_t top = weft__load(&d->top); weft__store(&d->bottom, bottom);",
  ],
  [
    "(B): does not take the item away",
    "weft__store(&d->bottom, bottom); int32_t top",
    "int32_t top",
    [
      "*item = weft__hint(weft__deque_item(d, bottom)); /* our own */",
      "{ if (left > 0) weft__store(&d->bottom, bottom); *item = " +
      "weft__hint(weft__deque_item(d, bottom)); }",
    ],
  ],
  [
    "takes the last item without a thief's exchange",
    "weft__compare_exchange( &d->top, top, weft__plus(top, 1)) != top))",
    "(weft__store(&d->top, weft__plus(top, 1)), 0)))",
  ],
  [
    "takes the last item though a thief did",
    "weft__compare_exchange( &d->top, top, weft__plus(top, 1)) != top))",
    "(weft__compare_exchange(&d->top, top, weft__plus(top, 1)), 0)))",
  ],
  [
    "takes the last item but one by an exchange only",
    "if (left < 0 || (left == 0 &&",
    "if (left < 0 || (left <= 1 &&",
  ],
  [
    "takes the last item as its own",
    "left < 0 || (left == 0 && weft__compare_exchange( &d->top, top, " +
    "weft__plus(top, 1)) != top)",
    "left < 0",
  ],
  [
    "leaves an empty deque below top",
    "if (left <= 0) weft__store(&d->bottom, weft__plus(bottom, 1));",
    "",
  ],
  [
    "compares positions that wrap",
    "int32_t left = weft__minus(bottom, top);",
    "int64_t left = (int64_t)bottom - top;",
  ],
  [
    "(T): looks at bottom before top",
    "for (int32_t top = weft__load(&d->top);;) {",
    "int32_t early = weft__load(&d->bottom); for (int32_t top = " +
    "weft__load(&d->top);;) {",
    [
      "int32_t left = weft__minus(weft__load(&d->bottom), top); if (left <= 0)",
      "int32_t left = weft__minus(early, top); if (left <= 0)",
    ],
  ],
  [
    "steals what is not there",
    "if (left <= 0) return EBUSY;",
    "if (left < 0) return EBUSY;",
  ],
  [
    "a thief compares positions that wrap",
    "int32_t left = weft__minus(weft__load(&d->bottom), top); if (left <= 0)",
    "int64_t left = (int64_t)weft__load(&d->bottom) - top; if (left <= 0)",
  ],
  [
    "steals before it reads",
    "int32_t found = weft__load(weft__deque_item(d, top)); int32_t seen = " +
    "weft__compare_exchange(&d->top, top, weft__plus(top, 1));",
    "int32_t seen = weft__compare_exchange(&d->top, top, weft__plus(top, " +
    "1)); int32_t found = weft__load(weft__deque_item(d, top));",
  ],
  [
    "steals by a store",
    "int32_t seen = weft__compare_exchange(&d->top, top, weft__plus(top, 1));",
    "int32_t seen = top; weft__store(&d->top, weft__plus(top, 1));",
  ],
  [
    "steals what another stole",
    "if (seen == top) { *item",
    "{ *item",
  ],
  [
    "a thief gives up when its exchange fails",
    "top = seen; } }",
    "return EBUSY; } }",
  ],
  [
    "adopts with bottom below top",
    "weft__store(&d->bottom, top);",
    "if (left == 0) weft__store(&d->bottom, top);",
  ],
  [
    "adopts, and drops what is there",
    "if (left > 0) return;",
    "",
    "the owner terminated with the last item, adopted",
  ],
  [
    "adopts, and leaves the last item's place to a thief",
    "if (left == 0) { int32_t next = weft__plus(top, 1); " +
    "weft__compare_exchange(&d->top, top, next); top = next; } " +
    "weft__store(&d->bottom, top);",
    "if (left < 0) weft__store(&d->bottom, top);",
    "the owner terminated with the last item, adopted",
  ],
  [
    "adopts, and moves bottom alone",
    "weft__compare_exchange(&d->top, top, next); top = next;",
    "top = next;",
    "the owner terminated with the last item, adopted",
  ],
);
