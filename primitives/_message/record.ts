/**
 * Records: several fields, placed one behind the other as C does.
 *
 * @module
 */

import { brief, describe } from "../_memory/describe.ts";
import { type Cursor, F64, type Field, I32, U32 } from "./record_fields.ts";

/** Several fields, placed one behind the other as C does. */
export interface StructField extends Field {
  /** Returns the value that `check` returned, so that it can be used again. */
  release(checked: never): void;
  /** The name of a field that is not given in what `check` returned. */
  missing(checked: never): string | undefined;
  /** Where each field begins, in bytes. */
  readonly offsets: Readonly<Record<string, number>>;
  /**
   * An object with an accessor for each field, over this cursor, and one named
   * `$at` if it is given.
   */
  view(
    cursor: Cursor,
    offset: number,
    name: string,
    position?: PropertyDescriptor,
  ): object;
}

/** The most common number types. A struct copies them itself. */
const KINDS: readonly Field[] = [F64, I32, U32];

/** Whether `value` is valid for the type at `kind` of {@linkcode KINDS}. */
function isValid(kind: number, value: number): boolean {
  switch (kind) {
    case 0:
      return true;
    case 1:
      return value === (value | 0);
    case 2:
      return value === value >>> 0;
  }
  return false;
}

/** The next multiple of `alignment`. */
export const alignUp = (offset: number, alignment: number): number =>
  Math.ceil(offset / alignment) * alignment;

/**
 * Makes the prototype of all views. It says how a console shows them, and is
 * hidden from `for in`.
 */
function viewBase(): object {
  const toJSON = function (this: Record<string, unknown>) {
    const record: Record<string, unknown> = {};
    for (const name in this) record[name] = this[name];
    return record;
  };
  const inDeno = function (
    this: Record<string, unknown>,
    show: (value: unknown, options?: unknown) => string,
    options?: unknown,
  ) {
    return show(toJSON.call(this), options); // a field may have that name
  };
  return Object.create(Object.prototype, {
    toJSON: { value: toJSON },
    [Symbol.for("nodejs.util.inspect.custom")]: { value: toJSON },
    [Symbol.for("Deno.customInspect")]: { value: inDeno },
  });
}

let base: object | undefined;

/** A field that is a struct of `fields`. */
export function structField(
  fields: readonly (readonly [name: string, field: Field])[],
): StructField {
  const offsets: Record<string, number> = {};
  let end = 0;
  let alignment = 1;
  for (const [name, field] of fields) {
    offsets[name] = alignUp(end, field.alignment);
    end = offsets[name] + field.size;
    alignment = Math.max(alignment, field.alignment);
  }
  const count = fields.length;
  const names = fields.map(([name]) => name);
  const types = fields.map(([, field]) => field);
  const places = names.map((name) => offsets[name]!);

  /** For each field, its index in KINDS, or -1. */
  const numbers = types.map((type) => KINDS.indexOf(type));
  const plain = count < 32 && numbers.every((kind) => kind >= 0);

  const check = (value: unknown, prefix: string): unknown[] => {
    if (typeof value !== "object" || value === null) {
      throw noRecord(value, prefix);
    }
    const record = value as Record<string, unknown>;
    const checked = new Array(count).fill(undefined);
    let next = 0;
    // In a loop of this form, engines find a value without looking up its name.
    for (const name in record) {
      const given = record[name];
      const i = name === names[next] ? next : names.indexOf(name);
      if (i < 0) throw noField(name, prefix);
      next = i + 1;
      if (given === undefined) continue;
      if (typeof given === "number" && isValid(numbers[i]!, given)) {
        checked[i] = given;
      } else checked[i] = types[i]!.check(given, within(prefix, name));
    }
    return checked;
  };
  const view: StructField["view"] = (cursor, offset, prefix, position) => {
    const accessors = Object.create(base ??= viewBase());
    if (position) Object.defineProperty(accessors, "$at", position);
    for (let i = 0; i < count; i++) {
      const name = names[i]!;
      const path = within(prefix, name);
      const accessor = types[i]!.access(cursor, offset + places[i]!, path);
      Object.defineProperty(accessors, name, { ...accessor, enumerable: true });
    }
    // Engines find accessors fastest in a prototype.
    return Object.create(accessors) as object;
  };
  return {
    size: alignUp(end, alignment),
    alignment,
    offsets,
    declare(name) {
      const inner = fields.map(([name, field]) => `${field.declare(name)}; `);
      return `struct { ${inner.join("")}} ${name}`;
    },
    check,
    borrows: types.some(({ borrows }) => borrows),
    get(data, at) {
      const record: Record<string, unknown> = {};
      const get = (i: number) => types[i]!.get(data, at + places[i]!);
      // Engines find a place in an object fastest where the code that asks for
      // it always asks for the same name: most records have few fields.
      if (count > 0) record[names[0]!] = get(0);
      if (count > 1) record[names[1]!] = get(1);
      if (count > 2) record[names[2]!] = get(2);
      if (count > 3) record[names[3]!] = get(3);
      for (let i = 4; i < count; i++) record[names[i]!] = get(i);
      return record;
    },
    set(data, at, checked: never[]) {
      for (let i = 0; i < count; i++) {
        const value = checked[i];
        if (value !== undefined) types[i]!.set(data, at + places[i]!, value);
      }
    },
    release() {},
    missing: (checked: unknown[]) =>
      names.find((_, i) => checked[i] === undefined),
    ...plain ? plainRecord(names, types, places) : {},
    access(cursor, offset, name) {
      const inner = view(cursor, offset, name);
      return { get: () => inner };
    },
    view,
  };
}

/** How a struct of numbers alone checks and copies its records. */
type PlainRecord = Pick<StructField, "check" | "set" | "release" | "missing">;

/**
 * The same for numbers of {@linkcode KINDS} alone, fewer than 32. What was
 * checked lies in a Float64Array: engines make an object for each number that
 * they put into a list. Its last item has a bit for each field that is given.
 */
function plainRecord(
  names: readonly string[],
  types: readonly Field[],
  places: readonly number[],
): PlainRecord {
  const count = names.length;
  const numbers = types.map((type) => KINDS.indexOf(type));
  const everything = 2 ** count - 1;
  let spare: Float64Array | undefined;
  return {
    check(value, prefix) {
      if (typeof value !== "object" || value === null) {
        throw noRecord(value, prefix);
      }
      const record = value as Record<string, unknown>;
      const checked = spare ?? new Float64Array(count + 1);
      spare = undefined; // a getter of the record may call `check` again
      let [next, all] = [0, 0];
      // In a loop of this form, engines find a value without looking up its
      // name.
      for (const name in record) {
        const given = record[name];
        const i = name === names[next] ? next : names.indexOf(name);
        if (i < 0) throw noField(name, prefix);
        next = i + 1;
        if (given === undefined) continue;
        if (typeof given !== "number" || !isValid(numbers[i]!, given)) {
          types[i]!.check(given, within(prefix, name)); // throws
        }
        checked[i] = given as number;
        all |= 1 << i;
      }
      checked[count] = all;
      return checked;
    },
    set(data, at, checked: Float64Array) {
      const given = checked[count]!;
      for (let i = 0; i < count; i++) {
        if ((given & 1 << i) === 0) continue;
        const place = at + places[i]!;
        const value = checked[i]!;
        switch (numbers[i]) {
          case 0:
            data.setFloat64(place, value, true);
            break;
          case 1:
            data.setInt32(place, value, true);
            break;
          case 2:
            data.setUint32(place, value, true);
        }
      }
    },
    release(checked: Float64Array) {
      spare = checked;
    },
    missing(checked: Float64Array) {
      const given = checked[count]!;
      return given === everything
        ? undefined
        : names.find((_, i) => (given & 1 << i) === 0);
    },
  };
}

/** The path of the field `name` of the struct at `prefix`. */
function within(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

function noRecord(value: unknown, prefix: string): TypeError {
  return new TypeError(
    `${prefix === "" ? "A record" : `Field "${brief(prefix)}"`} must be an ` +
      `object: received ${describe(value)}`,
  );
}

function noField(name: string, prefix: string): TypeError {
  const where = prefix === "" ? "" : ` in "${brief(prefix)}"`;
  return new TypeError(`There is no field "${brief(name)}"${where}`);
}

/**
 * The field of a struct whose fields must all be given. Its size is a multiple
 * of 4, as a queue's elements need.
 */
export function wholeRecord(field: StructField): Field {
  const { check, set, missing, release } = field;
  const [first] = Object.keys(field.offsets);
  return {
    ...field,
    size: alignUp(field.size, 4),
    check(value) {
      const isRecord = typeof value === "object" && value !== null;
      const checked = isRecord ? check(value, "") as never : undefined!;
      const name = isRecord ? missing(checked) : first;
      if (name === undefined) return checked;
      throw new TypeError(
        `Cannot encode this as a record: field "${
          brief(name)
        }" is missing: received ` +
          describe(value),
      );
    },
    set(data, at, checked) {
      set(data, at, checked);
      release(checked);
    },
  };
}
