/**
 * Accesses by `DataView`. Each is a plain access to the bytes of its type.
 *
 * @module
 */
import { READ, WRITE } from "../kinds.ts";
import { isShared } from "./native.ts";
import { converted, type Host, Target } from "./views.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** The real methods, by name. */
const real: Record<string, Any> = {};

/** Stand-ins for the methods, by name. */
export const dataViewMethods: Record<string, Any> = {};

/** The places at which a `DataView` was used, in one exploration. */
interface Places {
  readonly host: Host;
  readonly targets: Map<number, Target>;
}
const placesOf = new WeakMap<DataView, Places>();

/** The types of elements, each with a number. */
const types: string[] = [];

/** The target that stands for the bytes at one place. */
function targetAt(
  host: Host,
  view: DataView,
  type: string,
  at: number,
  little: boolean,
): Target {
  let places = placesOf.get(view);
  if (places?.host !== host) {
    placesOf.set(view, places = { host, targets: new Map() });
  }
  const key = (at * 32 + types.indexOf(type)) * 2 + Number(little);
  let target = places.targets.get(key);
  if (target === undefined) {
    const cell = {
      [Symbol.toStringTag]: type.startsWith("Big") ? "BigDataView" : "DataView",
      buffer: view.buffer,
      byteOffset: view.byteOffset + at,
      BYTES_PER_ELEMENT: Number(/\d+/.exec(type)![0]) / 8,
      length: 1,
      get 0(): Any {
        return real[`get${type}`].call(view, at, little);
      },
      set 0(value: Any) {
        real[`set${type}`].call(view, at, value, little);
      },
    };
    const region = host.region(view.buffer as Any);
    places.targets.set(key, target = new Target(host, cell, region));
  }
  return target;
}

for (const name of Object.getOwnPropertyNames(DataView.prototype)) {
  if (!/^[gs]et[A-Z]/.test(name)) continue;
  real[name] = (DataView.prototype as Any)[name];
}

/** Makes the stand-ins. They ask `running` for the host. */
export function watchDataViews(running: () => Host | null): void {
  for (const [name, method] of Object.entries(real)) {
    const type = name.slice(3);
    const size = Number(/\d+/.exec(type)![0]) / 8;
    const reads = name.startsWith("get");
    if (!types.includes(type)) types.push(type);
    dataViewMethods[name] = function (this: Any, at: Any, ...args: Any[]) {
      const host = running();
      const offset = Math.trunc(+at) || 0;
      const outside = offset < 0 || offset + size > this?.byteLength;
      if (host === null || outside || !isShared(this?.buffer)) {
        return method.call(this, at, ...args);
      }
      if (reads) {
        const target = targetAt(host, this, type, offset, Boolean(args[0]));
        return host.operate(READ, target, 0, 0, 0, 0);
      }
      const value = converted({ big: type.startsWith("Big") }, args[0]);
      const target = targetAt(host, this, type, offset, Boolean(args[1]));
      host.operate(WRITE, target, 0, value, 0, 0);
    };
  }
}
