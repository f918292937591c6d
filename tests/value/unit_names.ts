// also: node, browsers
// Names that all objects have, and getters that change the objects around them.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  CallRing,
  Channel,
  codec,
  connect,
  HashMap,
  serve,
  valueCodec,
  valueCodecWith,
} from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { assertEqual, owned, sent } from "./values.ts";

const test = suite("value, names and getters", 60_000);

/** Names of properties that objects inherit, and others. */
const NAMES = [
  "toString",
  "constructor",
  "valueOf",
  "hasOwnProperty",
  "__proto__",
  "__defineGetter__",
  "isPrototypeOf",
  "a",
  "b",
  "0",
];

/** How a value is made; each time anew, because its getters change it. */
type Plan =
  | { readonly leaf: unknown }
  | { readonly items: readonly Plan[] }
  | { readonly fields: readonly [string, Plan][]; readonly meddles?: Meddling };

/** What a getter does to the object that is so many levels above. */
interface Meddling {
  /** Which of the object's fields is the getter. */
  readonly at: number;
  readonly above: number;
  readonly name: string;
  readonly how: "delete" | "change";
}

function planned(meddling: boolean): fc.Arbitrary<Plan> {
  const name = fc.constantFrom(...NAMES);
  const meddles: fc.Arbitrary<Meddling> = fc.record({
    at: fc.nat(7),
    above: fc.nat(2),
    name,
    how: fc.constantFrom("delete", "change"),
  });
  return fc.letrec<{ any: Plan }>((tie) => ({
    any: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom<unknown>(undefined, null, 1, 2.5, "text", 9n)
        .map((leaf) => ({ leaf })),
      fc.array(tie("any"), { maxLength: 4 }).map((items) => ({ items })),
      fc.record({
        fields: fc.uniqueArray(fc.tuple(name, tie("any")), {
          maxLength: 8,
          selector: ([name]) => name,
        }),
        ...meddling ? { meddles } : {},
      }),
    ),
  })).any;
}

function made(plan: Plan, above: readonly object[] = []): unknown {
  if ("leaf" in plan) return plan.leaf;
  if ("items" in plan) return plan.items.map((item) => made(item, above));
  const object = {};
  const { fields, meddles } = plan;
  fields.forEach(([name, inner], i) => {
    const value = made(inner, [object, ...above]);
    const target = meddles && [object, ...above][meddles.above];
    Object.defineProperty(object, name, {
      configurable: true,
      enumerable: true,
      ...meddles === undefined || meddles.at !== i || target === undefined
        ? { value, writable: true }
        : { get: () => meddle(target, meddles, value) },
    });
  });
  return object;
}

function meddle(target: object, { name, how }: Meddling, value: unknown) {
  if (how === "delete") Reflect.deleteProperty(target, name);
  else {
    Object.defineProperty(target, name, {
      configurable: true,
      enumerable: true,
      writable: true,
      value: ["changed"],
    });
  }
  return value ?? null; // a getter without a value may not delete itself
}

test("objects may have the names of what all objects inherit", () => {
  fc.assert(
    fc.property(planned(false), (plan) => {
      assertEqual(sent(made(plan)), structuredClone(made(plan)));
    }),
    { numRuns: 1000 },
  );
});

test("a getter may change and delete what is around it", () => {
  fc.assert(
    fc.property(planned(true), (plan) => {
      assertEqual(sent(made(plan)), structuredClone(made(plan)));
    }),
    { numRuns: 3000 },
  );
});

/** An object whose getter, in another object, deletes one of its properties. */
function deleting(name: string, wrap: (inner: object) => unknown): object {
  const object = owned([["first", 1], ["wrapped", undefined], [name, "gone"], [
    "last",
    [2],
  ]]) as Record<string, unknown>;
  object.wrapped = wrap({
    get deletes() {
      Reflect.deleteProperty(object, name);
      return name;
    },
  });
  return object;
}

test("a getter in any container deletes a later property outside", () => {
  const wraps: ((inner: object) => unknown)[] = [
    (inner) => inner,
    (inner) => [inner],
    (inner) => new Map([[inner, 1]]),
    (inner) => new Set([[inner]]),
    (inner) => ({ toString: { inner } }),
  ];
  const bytes = new Uint8Array([1, 2, 3, 4]);
  const around: ((value: object) => unknown)[] = [
    (value) => value,
    (value) => [value, value, { value }],
    (value) => {
      const all: unknown[] = [value];
      all.push(all, new Map([[value, new Date(5)]]), /x/g, Object(5n));
      return all;
    },
    // Here buffers are sent whole, at the second try.
    (value) => [bytes.subarray(0, 2), bytes.subarray(1), value, bytes.buffer],
  ];
  // "0" would come first: an object that changes before its first part is
  // another one when it occurs again.
  for (const name of ["later", ...NAMES.filter((name) => name !== "0")]) {
    for (const wrap of wraps) {
      for (const about of around) {
        const make = () => about(deleting(name, wrap));
        const copy = structuredClone(make());
        assertEqual(sent(make()), copy);
        assertEqual(sent(make()), copy);
      }
    }
  }
});

test("a getter is called once, though it deletes another property", () => {
  let calls = 0;
  const object: Record<string, unknown> = {
    inner: {
      get deletes() {
        delete object.later;
        return ++calls;
      },
    },
    later: 1,
  };
  assert.equal(sent(object), { inner: { deletes: 1 } });
  assert.is(calls, 1);
});

test("channels, maps and calls carry such objects, too", async () => {
  const channel = Channel.create<unknown>({ capacity: 8 });
  const map = HashMap.create({
    key: codec.text,
    value: valueCodec,
    capacity: 4,
    keySize: 8,
    valueSize: 200,
  });
  const ring = CallRing.create({ request: 256, reply: 256 });
  const echo = (value: unknown) => value;
  const serving = serve(ring, { echo });
  const remote = connect<{ echo: typeof echo }>(ring);
  const makes: (() => unknown)[] = [
    () => owned(NAMES.map((name, i) => [name, i])),
    ...NAMES.map((name) => () => owned([[name, [{ [name]: 1 }]], ["b", 2]])),
    ...NAMES.map((name) => () => owned([["__proto__", 3], [name, null]])),
    ...NAMES.map((name) => () => deleting(name, (inner) => [inner])),
    () => deleting("later", (inner) => inner),
  ];
  try {
    // The third time, the names lie in the channel's table.
    for (const make of makes) {
      for (let i = 0; i < 3; i++) {
        const copy = structuredClone(make());
        channel.send(make());
        assertEqual(channel.receive(), copy);
        map.set("key", make());
        assertEqual(map.get("key"), copy);
        assertEqual(await remote.echo(make()), copy);
      }
    }
  } finally {
    ring.close();
    await serving;
  }
});

test("what a getter in a Map throws is thrown unchanged", () => {
  const own = new TypeError("own");
  const throws = {
    get a() {
      throw own;
    },
  };
  for (const value of [new Map([[1, throws]]), new Set([throws]), throws]) {
    assert.throws(() => sent(value), (error: unknown) => error === own);
  }
});

test("a boxed value arrives, whatever its own valueOf() says", () => {
  for (const value of [7, "text", true, 7n]) {
    const box = Object.assign(Object(value), { valueOf: () => ({}) });
    assert.equal(sent(box), Object(value));
  }
});

test("the bytes of a value do not depend on what was sent before", () => {
  const codec = valueCodecWith({ errors: [] });
  const into = new Uint8Array(1000);
  // An agent forgets shapes when it knows too many; each value has a new one.
  for (let i = 1000; i < 6000; i++) {
    const length = codec.encode(
      [{ a: 1 }, { [`${i}x`]: 2 }, { b: { a: 3 } }],
      into,
    );
    assert.is(length, 31, `${i}`);
  }
});

test("a Map or a Set arrives as it was before a getter in it changed it", () => {
  for (const change of ["clear", "add"] as const) {
    const make = () => {
      const map = new Map<unknown, unknown>();
      const set = new Set<unknown>();
      const meddles = {
        get a() {
          for (const each of [map, set]) {
            if (change === "clear") each.clear();
            else if (each === map) map.set(map.size, 0);
            else set.add(set.size);
          }
          return 1;
        },
      };
      map.set(0, meddles).set(1, 2);
      set.add(meddles).add(map);
      return [set, map];
    };
    // `structuredClone` does so, too, except in Bun.
    const one = { a: 1 };
    const early = new Map<unknown, unknown>([[0, one], [1, 2]]);
    const late = new Map(change === "clear" ? [] : [...early, [2, 0]]);
    assertEqual(sent(make()), [new Set([one, late]), late]);
    const all = new Set(change === "clear" ? [] : [one, early, 2]);
    assertEqual(sent(make().reverse()), [early, all]);
  }
});
