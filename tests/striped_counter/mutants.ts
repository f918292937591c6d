import { mutants } from "../_run/mutant.ts";

/** Mutants of the operations. */
const OPERATIONS = mutants("striped_counter", {
  what: "adds a large number in one step",
  by: "a sum beside a large addition",
  ts: "[-for (; n > SECTOR; n -= SECTOR) addTo(this.#words, at, SECTOR);-]",
  c: "while ([-n > WEFT__STRIPE_SECTOR-]{+0+}) {",
}, {
  what: "adds a large negative number in one step",
  by: "a large subtraction beside a carry",
  ts: "[-for (; n < -SECTOR; n += SECTOR) addTo(this.#words, at, -SECTOR);-]",
  c: "while ([-n < -WEFT__STRIPE_SECTOR-]{+0+}) {",
}, {
  what: "claims are signed",
  by: "the claims wrap",
  ts: "const claims = Atomics.add(words, CLAIMS, 1)[- >>> 0-];",
  c: [
    "[-uint32_t claims = (uint32_t)-]{+int32_t claims = " +
    "+}weft__add(&c->claims, 1);",
    "claims % [-(uint32_t)-]c->stripes;",
  ],
});

/** Mutants of the sum of a stripe. */
const SUMS = mutants({
  source: "_lock/stripes",
  header: "_stripes",
  scenarios: ["striped_counter"],
}, {
  what: "adds by a load and a store",
  by: "two agents, one stripe",
  ts: "const low = Atomics.[-add-]{+load(words, at + LOW) + n | 0; " +
    "Atomics.store+}(words, at + LOW, [-n) + n | 0-]{+low)+};",
  c: "int32_t low = weft__plus([-weft__add(&s->low, n), " +
    "n-]{+weft__load(&s->low), n); weft__store(&s->low, low+});",
}, {
  what: "never carries",
  by: "a sum beside a large addition",
  ts: "[-if (lag(words[at + HIGH]!, low) !== 0) carry(words, at);-]",
  c: "[-if (weft__stripe_lag(weft__hint(&s->high), low) != 0) " +
    "weft__stripe_carry(s);-]{+(void)low;+}",
}, {
  what: "carries by a store",
  ts: "Atomics.[-compareExchange-]{+store+}(words, at + HIGH[-, high-], high " +
    "+ late | 0);",
  c: "[-weft__compare_exchange(&s->high, -]{+weft__store(&s->+}high, " +
    "weft__plus(high, late));",
  by: "a large addition beside a carry",
}, {
  what: "carries only one, however late the carry is",
  by: "a large subtraction beside a carry",
  ts: "Atomics.compareExchange(words, at + HIGH, high, high + [-late-]{+1+} " +
    "| 0);",
  c: "{+(void)late; +}weft__compare_exchange(&s->high, high, " +
    "weft__plus(high, [-late-]{+1+}));",
}, {
  what: "a carry is never early",
  by: "carries that meet",
  ts: "return ((low >>> SECTOR_BITS) - high) << SECTOR_BITS >>{+>+} " +
    "SECTOR_BITS;",
  c: "return [-(weft__plus(late, 8) & 15) - 8-]{+late & 15+};",
}, {
  what: "the low word is signed",
  by: "the low word wraps",
  ts: "return ([-(low >-]{+low +}>> SECTOR_BITS) - high[-) << SECTOR_BITS >> " +
    "SECTOR_BITS-];",
  c: "[-return (weft__plus(late, 8) & 15) - 8;-]{+(void)late; return (low >> " +
    "WEFT__STRIPE_SECTOR_BITS) - high;+}",
}, {
  what: "a sum ignores late carries",
  by: "carries that meet",
  ts: "return [-(high + lag(high, low))-]{+high+} * SECTOR + (low & SECTOR - " +
    "1);",
  c: "int64_t sectors = (int64_t)high[- + weft__stripe_lag(high, low)-];",
}, {
  what: "a sum takes words that changed meanwhile",
  by: "a sum beside a large addition",
  ts: "if (seen [-=== high-]{+!== undefined+}) {",
  c: "[-if (seen == high) -]break;",
});

/** Mutants of `StripedCounter`. */
export const MUTANTS = [...OPERATIONS, ...SUMS];
