import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_striped_counter`. */
export const striped_counter = mutants(
  "striped_counter",
  "striped_counter",
  [
    "adds by a load and a store",
    "int32_t low = weft__plus(weft__add(&s->low, n), n);",
    "int32_t low = weft__plus(weft__load(&s->low), n); weft__store(&s->low, " +
    "low);",
  ],
  [
    "never carries",
    "if (weft__striped_counter_lag(weft__hint(&s->high), low) != 0) " +
    "weft__striped_counter_carry(s);",
    "(void)low;",
  ],
  [
    "carries by a store",
    "weft__compare_exchange(&s->high, high, weft__plus(high, late));",
    "weft__store(&s->high, weft__plus(high, late));",
    "a large addition beside a carry",
  ],
  [
    "carries one, however late it is",
    "weft__compare_exchange(&s->high, high, weft__plus(high, late));",
    "(void)late; weft__compare_exchange(&s->high, high, weft__plus(high, 1));",
  ],
  [
    "adds much at a time",
    "while (n > WEFT_STRIPED_COUNTER_SECTOR) {",
    "while (0) {",
  ],
  [
    "adds much at a time, below 0",
    "while (n < -WEFT_STRIPED_COUNTER_SECTOR) {",
    "while (0) {",
  ],
  [
    "a carry is never early",
    "return (int32_t)((late + 8) & 15) - 8;",
    "return (int32_t)(late & 15);",
  ],
  [
    "the low word is signed",
    "return (int32_t)((late + 8) & 15) - 8;",
    "(void)late; return (low >> WEFT_STRIPED_COUNTER_SECTOR_BITS) - high;",
  ],
  [
    "knows of no late carries",
    "int64_t sectors = (int64_t)high + weft__striped_counter_lag(high, low);",
    "int64_t sectors = (int64_t)high;",
  ],
  [
    "a sum takes what moved meanwhile",
    "if (seen == high) break;",
    "break;",
  ],
  [
    "claims are signed",
    "uint32_t claims = (uint32_t)weft__add(&c->claims, 1);",
    "int32_t claims = weft__add(&c->claims, 1);",
    ["claims % (uint32_t)c->stripes;", "claims % c->stripes;"],
  ],
);
