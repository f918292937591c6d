/**
 * Makes objects and short arrays, and reads the values of objects.
 *
 * V8 notes at each place of the code which names and objects it has met there.
 * A place that has met few of them is several times as fast as one that has met
 * many. So the first shapes that an agent meets have places of their own: the
 * rows of the three lists below are the same code again and again.
 *
 * @module
 */

/** Reads the next value. */
interface Source {
  get(depth: number): unknown;
}

/** An object that is filled by names. */
export type Fields = Record<string, unknown>;

/** Reads values for up to four of the names, from name `i` on. */
type Fill = (
  object: Fields,
  keys: readonly string[],
  i: number,
  source: Source,
  depth: number,
) => void;

/**
 * What is so far of an object that is being written: whether the message knows
 * it already, or a reference took its place; or its prototype is another one.
 */
export const UNKNOWN = 0, KNOWN = 1, REPLACED = 2, OTHER = 3;

/** Writes the values of objects of a shape. */
interface Target<Shape> {
  readonly out: { text(value: string): void; number(value: number): void };
  /**
   * Writes a value of name `i`, neither string nor number; is given, and
   * returns, what is so far.
   */
  field(
    value: unknown,
    object: Fields,
    i: number,
    shape: Shape,
    depth: number,
    sofar: number,
  ): number;
}

/**
 * Writes the values of up to four of the names, from name `i` on. It stops if a
 * reference takes the object's place, and if the prototype is another one.
 */
type Put = <Shape>(
  object: Fields,
  keys: readonly string[],
  i: number,
  target: Target<Shape>,
  shape: Shape,
  depth: number,
  sofar: number,
) => number;

/** How objects of one shape are made, and how their values are read. */
export interface Places {
  /** An object with all the names; it is copied. */
  readonly template: object;
  /** Makes a copy of the template. */
  readonly make: (template: object) => Fields;
  /** For each four names, the place that fills them. */
  readonly fills: readonly Fill[];
  /** For each four names, the place that writes their values. */
  readonly puts: readonly Put[];
}

// deno-fmt-ignore
const MAKES: Places["make"][] = [
  (t) => ({ ...t }), (t) => ({ ...t }), (t) => ({ ...t }), (t) => ({ ...t }),
  (t) => ({ ...t }), (t) => ({ ...t }), (t) => ({ ...t }), (t) => ({ ...t }),
  (t) => ({ ...t }), (t) => ({ ...t }), (t) => ({ ...t }), (t) => ({ ...t }),
  (t) => ({ ...t }), (t) => ({ ...t }), (t) => ({ ...t }), (t) => ({ ...t }),
];

// deno-fmt-ignore
const FILLS: Fill[] = [
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
  (o, k, i, s, d) => { o[k[i]!] = s.get(d); if (++i < k.length) o[k[i]!] =
    s.get(d); if (++i < k.length) o[k[i]!] = s.get(d); if (++i < k.length)
    o[k[i]!] = s.get(d); },
];

// `o.constructor` lets V8 check the object's hidden class. Behind it, V8 knows
// the prototype, and where the values are. deno-fmt-ignore
const PUTS: Put[] = [
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
  (o, k, i, w, s, d, c) => { if (i === 0) { o.constructor; if
    (Object.getPrototypeOf(o) !== Object.prototype) return OTHER; }
    const u = w.out; let v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    if (++i === k.length) return c; v = o[k[i]!];
    if (typeof v === "string") u.text(v); else if (typeof v === "number")
    u.number(v); else if ((c = w.field(v, o, i, s, d, c)) > KNOWN) return c;
    return c; },
];

/** The places that are taken, by the names. */
const taken = /* @__PURE__ */ new Map<string, Places>();
let rows = 0;

/**
 * An object with these names. Unlike one that is filled name by name, V8 never
 * turns it into a hash table, and it never sets a prototype.
 */
export function templateOf(keys: readonly string[]): object {
  const nulls = Object.fromEntries(keys.map((key) => [key, null]));
  const text = JSON.stringify(nulls);
  // V8 15 may take such a name for another one that it has met.
  return text.includes("\\") ? nulls : JSON.parse(text);
}

/** The places of these names; undefined if others have taken all. */
export function placesOf(keys: readonly string[]): Places | undefined {
  const id = JSON.stringify(keys);
  const found = taken.get(id);
  if (found !== undefined) return found;
  const end = rows + Math.ceil(keys.length / 4);
  const make = MAKES[taken.size];
  if (make === undefined || end > FILLS.length) return undefined;
  const places: Places = {
    template: templateOf(keys),
    make,
    fills: FILLS.slice(rows, end),
    puts: PUTS.slice(rows, end),
  };
  rows = end;
  taken.set(id, places);
  return places;
}

/**
 * An array for `length` items. One that grows has room for 17 at first, and one
 * that was made with a length counts as one with holes for ever.
 */
export function arrayFor(length: number): unknown[] {
  const none = undefined;
  switch (length) {
    case 1:
      return [none];
    case 2:
      return [none, none];
    case 3:
      return [none, none, none];
    case 4:
      return [none, none, none, none];
  }
  return [];
}
