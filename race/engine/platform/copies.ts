/**
 * Copies of data, as `structuredClone` and `postMessage` make them. Shared
 * memory and ports are the same in a copy.
 *
 * @module
 */
import { isShared, U8 } from "./native.ts";
import { type Packed, Port, refusePort } from "./ports.ts";
import { getHost, unwrap } from "./views.ts";
import { show } from "../values.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const globals = globalThis as Any;
const realClone = globals.structuredClone;

/** Copies plain data; `change` returns `undefined` for what it leaves alone. */
function mapped(value: Any, change: (value: Any) => Any): Any {
  const seen = new Map<Any, Any>();
  const deep = (value: Any): Any => {
    const changed = change(value);
    if (changed !== undefined) return changed;
    if (typeof value !== "object" || value === null) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    const proto = Object.getPrototypeOf(value);
    if (proto === Map.prototype) {
      const out = new Map();
      seen.set(value, out);
      for (const [key, item] of value) out.set(deep(key), deep(item));
      return out;
    }
    if (proto === Set.prototype) {
      const out = new Set();
      seen.set(value, out);
      for (const item of value) out.add(deep(item));
      return out;
    }
    // The copy of an object of a class has its fields, and no class.
    const plain = Object.prototype.toString.call(value) === "[object Object]";
    if (!plain && !Array.isArray(value)) return value;
    const out: Any = plain ? {} : new Array(value.length);
    seen.set(value, out);
    for (const key of Object.keys(value)) out[key] = deep(value[key]);
    return out;
  };
  return deep(value);
}

/** A copy, in which shared memory and ports are the same. */
export function clone(value: Any, options?: Any): Any {
  const kept: Any[] = [];
  const mark = `shared memory \u0000`;
  const marked = mapped(value, (item) => {
    const real = unwrap(item);
    if (isShared(real) || isShared(real?.buffer) || real instanceof Port) {
      return mark + (kept.push(real) - 1);
    }
  });
  return mapped(realClone(marked, options), (item) => {
    if (typeof item !== "string" || !item.startsWith(mark)) return undefined;
    const old = kept[Number(item.slice(mark.length))];
    if (isShared(old) || old instanceof Port) return old;
    const { buffer, byteOffset, byteLength, length } = old;
    // The global constructors make views whose accesses can be seen.
    return new globals[old[Symbol.toStringTag]](
      buffer,
      byteOffset,
      length ?? byteLength,
    );
  });
}

/** Copies data to be posted; what is in `transfer` belongs to the copy. */
export function pack(value: Any, transfer: Any[]): Packed {
  const ports = transfer.filter((item) => item instanceof Port);
  const gone = ports.some(({ number }) => getHost()!.portState(number).gone);
  if (gone || new Set(ports).size < ports.length) refusePort(realClone);
  mapped(value, (item) => {
    if (item instanceof Port && !ports.includes(item)) refusePort(realClone);
    return undefined;
  });
  const others = transfer.filter((item) => !(item instanceof Port));
  const data = clone(value, { transfer: others.map(unwrap) });
  return { data, key: keyOf(data), ports };
}

/** A text that is the same for equal data only. */
function keyOf(data: Any): string {
  const seen = new Map<Any, number>();
  const list = (items: Iterable<Any>): string => [...items].map(key).join();
  const named = (value: Any): string =>
    list(Object.keys(value).flatMap((name) => [name, value[name]]));
  const key = (value: Any): string => {
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value !== "object" || value === null) return show(value);
    const before = seen.get(value);
    if (before !== undefined) return `#${before}`;
    seen.set(value, seen.size);
    if (value instanceof Port) return `port ${value.number}`;
    const real = unwrap(value);
    if (isShared(real)) return `memory ${getHost()!.region(real).base}`;
    const tag = Object.prototype.toString.call(real).slice(8, -1);
    if (ArrayBuffer.isView(real)) {
      const { byteOffset, byteLength } = real;
      return `${tag} ${byteOffset} ${byteLength} ${key(real.buffer)}`;
    }
    if (tag === "ArrayBuffer") return `${tag} ${new U8(real)}`;
    if (tag === "Map") return `Map(${list([...real].flat())})`;
    if (tag === "Set") return `Set(${list(real)})`;
    if (tag === "Array") return `[${real.length} ${named(real)}]`;
    if (tag === "Object") return `{${named(real)}}`;
    if (tag === "Date") return `Date ${real.getTime()}`;
    if (tag === "Error") return `${real.name} ${key(real.message)}`;
    if (tag === "RegExp") return `${real} ${real.lastIndex}`;
    if (/^(Boolean|Number|String|BigInt)$/.test(tag)) {
      return `${tag} ${key(real.valueOf())}`;
    }
    return getHost()!.refuse(
      `Cannot explore a message that holds a ${tag}: the tester cannot tell ` +
        `two of them apart`,
    );
  };
  return key(data);
}
