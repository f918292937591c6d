import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import {
  EVENT_COUNT,
  KIND,
  LAYOUT,
  VERSION,
} from "../../primitives/_memory/layout.ts";
import * as mod from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { current } from "./api.ts";
import {
  fieldsOf,
  functionsOf,
  headerText,
  type Table,
  tableOf,
} from "../_run/header.ts";
import { bitsOf } from "./_bits.ts";
import { stale, withRows } from "./layout.ts";
import { families, filesBelow } from "./_rows.ts";
import { tsRules } from "./_rules_text.ts";

const test = suite("Layout");

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const OURS: Table = { version: VERSION, kinds: { ...KIND }, layout: LAYOUT };

/** The tables of `docs/layouts.md`. */
function documented(text: string): Table {
  const version = Number(text.match(/^Version (\d+)\.$/m)?.[1]);
  const table: Table = { version, kinds: {}, layout: {} };
  for (const section of text.split(/^## /m).slice(1)) {
    const stem = section.match(/^\w+/)![0];
    const [, length] = section.match(/, (\d+) words?\.$/m)!;
    const kind = section.match(/Kind (\d+),/)?.[1];
    if (kind !== undefined) table.kinds[stem] = Number(kind);
    const words: Record<string, number> = table.layout[stem] = {};
    const rows = section.matchAll(/^\| (\d+) +\| `(\w+)` +\| \S/gm);
    for (const [, word, field] of rows) words[field!] = Number(word);
    words.length = Number(length);
  }
  return table;
}

/** What `theirs` has differently, each with the name of the word. */
function differences(theirs: Table): string[] {
  const complaints: string[] = [];
  const compare = (
    what: string,
    ours: Record<string, number>,
    theirs: Record<string, number> = {},
  ) => {
    for (
      const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])
    ) {
      if (ours[name] === theirs[name]) continue;
      const found = theirs[name] ?? "missing";
      const wanted = ours[name] ?? "missing";
      complaints.push(`${what}.${name}: ${found}, in layout.ts ${wanted}`);
    }
  };
  compare("table", { version: OURS.version }, { version: theirs.version });
  compare("KIND", OURS.kinds, theirs.kinds);
  const stems = [...Object.keys(OURS.layout), ...Object.keys(theirs.layout)];
  for (const stem of new Set(stems)) {
    compare(stem, OURS.layout[stem] ?? {}, theirs.layout[stem]);
  }
  if (complaints.length === 0) { // then the order, which is one order, too
    const [ours, found] = [OURS, theirs].map(({ kinds, layout }) =>
      JSON.stringify([kinds, layout])
    );
    if (ours !== found) complaints.push(`another order: ${found}`);
  }
  return complaints;
}

test("the C headers assert the words of layout.ts", () => {
  assert.equal(differences(tableOf(headerText())), []);
});

test("docs/layouts.md shows the words of layout.ts", () => {
  const text = readFileSync(path("../../docs/layouts.md"), "utf8");
  assert.equal(differences(documented(text)), []);
});

test("a rule is refused that names what there is not", () => {
  const wrong = (word: string, rule: string, values = {}) => () =>
    tsRules({ latch: { values, rules: [[word, rule, "It is wrong."]] } });
  assert.match(wrong("state", "state == WAITING")(), "tell(state === 1, 2, ");
  assert.throws(wrong("stat", "state < 0"), "latch has no word stat");
  assert.throws(wrong("state", "state == WAITIN"), "no LATCH_BITS.WAITIN");
  assert.throws(wrong("state", "left(state, COUNT) > 1"), "no function left");
  assert.throws(wrong("state", "state < 0", { seal: "1" }), "seal is a word");
});

test("a row of a family that layout.ts does not list is added to it", () => {
  const index = textOf("primitives/_memory/layout.ts");
  const without = index.replace(/^ {2}hash_map: .*\n/gm, "");
  assert.is(index.split("\n").length - without.split("\n").length, 2);
  assert.is(withRows(without), index);
});

test("what repeats the words of layout.ts is up to date", () => {
  const files = stale();
  assert.is(files.join(), "", `run \`deno task layout\`: stale: ${files}`);
});

test("a header that differs in one number is told by its name", () => {
  const text = headerText();
  const rows = [...text.matchAll(
    /^(?:WEFT_(KIND|WORD|LENGTH)\((\w+), (?:(\w+), )??|#define WEFT_VERSION )(\d+)/gm,
  )];
  const words = Object.values(LAYOUT).flatMap((row) => Object.keys(row)).length;
  assert.is(rows.length, words + Object.keys(KIND).length + 1);
  for (
    const { 0: row, 1: macro, 2: stem, 3: field, 4: number, index } of rows
  ) {
    const changed = row.replace(/\d+$/, `${Number(number) + 1}`);
    const wrong = text.slice(0, index) + changed +
      text.slice(index + row.length);
    const name = macro === undefined
      ? "table.version"
      : macro === "KIND"
      ? `KIND.${stem}`
      : `${stem}.${field ?? "length"}`;
    assert.equal(differences(tableOf(wrong)), [
      `${name}: ${Number(number) + 1}, in layout.ts ${number}`,
    ]);
  }
});

test("a row that is missing or too many is told by its name", () => {
  const text = headerText();
  const row = "WEFT_WORD(semaphore, bulk, 6);\n";
  assert.ok(text.includes(row));
  assert.equal(differences(tableOf(text.replace(row, ""))), [
    "semaphore.bulk: missing, in layout.ts 6",
  ]);
  const more = `${row}WEFT_WORD(semaphore, lap, 9);\n`;
  assert.equal(differences(tableOf(text.replace(row, more))), [
    "semaphore.lap: 9, in layout.ts missing",
  ]);
});

/** Words that are declared and not asserted, or in another order. */
function unasserted(text: string): string[] {
  const fields = fieldsOf(text);
  return Object.entries(tableOf(text).layout).flatMap(([stem, row]) => {
    const asserted = Object.keys(row).filter((name) => name !== "length");
    const declared = fields[stem] ?? [];
    return declared.filter((name, i) => name !== asserted[i])
      .concat(asserted.slice(declared.length))
      .map((name) => `${stem}.${name}`);
  });
}

test("weft.h asserts each word that it declares", () => {
  assert.equal(unasserted(headerText()), []);
});

test("a word that took the place of padding is told by its name", () => {
  const text = headerText();
  const padding = "  int32_t _pad0[28];\n  int32_t tail;";
  assert.ok(text.includes(padding));
  const more = "  int32_t lap;\n  int32_t _pad0[27];\n  int32_t tail;";
  const [name] = unasserted(text.replace(padding, more));
  assert.match(name!, /\.lap$/);
});

test("each epoch has the count of its waiters behind it", () => {
  let count = 0;
  for (const [stem, row] of Object.entries(OURS.layout)) {
    for (const [name, word] of Object.entries(row)) {
      if (!name.endsWith("_epoch")) continue;
      const waiters = row[name.replace("_epoch", "_waiters")];
      assert.is(waiters, word + EVENT_COUNT.waiters, `${stem}.${name}`);
      count++;
    }
  }
  assert.is(count, 14);
});

test("words that different agents write lie 32 words apart", () => {
  // Neighbours in one group are written by the same side, or one after the
  // other; a head is written once. Mutex and semaphore are small on purpose.
  const groups: Record<string, string[][]> = {
    spsc_queue: [["magic"], ["tail", "head_cache"], ["head", "tail_cache"]],
    mpmc_queue: [["magic"], ["tail"], ["head"], ["pop_epoch", "pop_waiters"], [
      "push_epoch",
      "push_waiters",
    ]],
    lock_free_queue: [
      ["magic"],
      ["tail"],
      ["head"],
      ["free_tail"],
      ["free_head"],
      ["pop_epoch", "pop_waiters"],
      ["push_epoch", "push_waiters"],
    ],
    record_ring: [
      ["magic"],
      ["tail", "claimant", "head_cache", "least"],
      ["head", "tail_cache"],
      ["pop_epoch", "pop_waiters"],
      ["push_epoch", "push_waiters"],
    ],
    snapshot: [["magic"], ["state"]],
    broadcast: [
      ["magic"],
      ["tail", "slowest"],
      ["pop_epoch", "pop_waiters"],
      ["push_epoch", "push_waiters"],
    ],
    call_ring: [
      ["magic", "closed"],
      ["serve_epoch", "serve_waiters", "look"],
      ["slot_epoch", "slot_waiters"],
    ],
    work_deque: [["magic"], ["bottom"], ["top"]],
    work_counter: [["magic"], ["next"], ["done", "target", "finished"]],
  };
  for (const [stem, sides] of Object.entries(groups)) {
    const words = (LAYOUT as Table["layout"])[stem]!;
    for (let i = 1; i < sides.length; i++) {
      const before = words[sides[i - 1]!.at(-1)!]!;
      const from = words[sides[i]![0]!]!;
      const first = words[sides[i - 1]![0]!]!;
      assert.ok(from - first >= 32, `${stem}: ${sides[i]![0]} at ${from}`);
      assert.ok(from - before >= 28, `${stem}: ${sides[i]![0]} at ${from}`);
    }
  }
});

// ---- names ------------------------------------------------------------------

/** The classes whose operations have twins, by their stems: all with words. */
const STEMS = Object.fromEntries(
  Object.keys(LAYOUT).map((stem) => [classOf(stem), stem]),
);

/** `RwLock` of `rw_lock`. */
function classOf(stem: string): string {
  return stem.replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());
}

/** What only TypeScript has, and why. */
const ONLY_TS: Record<string, string> = {
  blockAt: "a typed view of an element; C has the struct",
  asyncAt: "a typed view of an element; C has the struct",
  tryAsyncAt: "a typed view of an element; C has the struct",
  values: "what awaits element by element is the event loop's",
  tryCallInto: "call replies into memory of its caller",
  reading: "C has no function that unlocks however it is left",
  writing: "C has no function that unlocks however it is left",
  permit: "C has no scope that ends with a release",
  tryPermit: "C has no scope that ends with a release",
  create: "C allocates nothing",
  from: "a C program shares addresses, not messages",
  handle: "a C program shares addresses, not messages",
  kind: "the type says it",
  buffer: "a pointer is the whole place",
  byteOffset: "a pointer is the whole place",
  bytes: "reserve and peek answer pointers",
  peekedLength: "peek answers it, too",
  peekRecord: "what is refused within the function of read; C has no such one",
  consumeRecord: "what is refused within the function of read, as above",
  tryPopInto: "try_pop moves into memory of its caller",
  popInto: "pop moves into memory of its caller",
  popIntoAsync: "pop moves into memory of its caller",
  receiveInto: "receive moves into memory of its caller",
  tryReceiveInto: "receive moves into memory of its caller",
  receiveIntoAsync: "receive moves into memory of its caller",
  tryReceiveIntoAsync: "receive moves into memory of its caller",
  callInto: "call replies into memory of its caller",
  callIntoAsync: "call replies into memory of its caller",
  readiness: "what waitAny waits for, and that is the event loop's",
  waitAt: "where select waits, and that is the event loop's",
  gongAt: "where select.blocking sleeps, which C reaches by the struct",
  tryTake: "what select takes of a channel",
  pack: "what select sends to a channel",
  awaiting: "what awaits is the event loop's",
  cancel: "it ends what awaits, and that is the event loop's",
  waitForUnlockAsync: "what awaits is the event loop's",
  abandonRanges: "C gets the ranges by next_range",
  abandonEnds: "recover.h calls weft__channel_abandon_ends",
  abandonRoles: "recover.h looks behind the head of the channel",
  getInto: "get moves into memory of its caller",
  entries: "next moves into memory of its caller",
  keys: "next answers them, too",
  useCache: "a C thread says so in its weft_slab_cache",
};

/** Names that the contract has differently in C. */
const RENAMED: Record<string, string> = {
  constructor: "attach",
  byteLength: "bytes",
};

/** Twins that C needs not, as zeroed memory of a fixed size is a mutex. */
const NOT_IN_C = [
  "weft_channel_size",
  "weft_record_ring_many_consumers", // bits of `roles`, which C reads itself
  "weft_record_ring_single_producer",
  "weft_mutex_attach",
  "weft_rw_lock_attach",
  "weft_condition_attach",
  "weft_event_attach",
  "weft_wait_group_attach",
  "weft_once_attach",
];

/** What only C has, and why. */
const ONLY_C: Record<string, string> = {
  weft_agent_id: "agentId, a function of its own",
  weft_agent_set_id: "setAgentId, a function of its own",
  weft_agent_set_blocking: "JavaScript asks its engine",
  weft_agent_name: "AgentTable.join, in a module of its own",
  weft_agent_unname: "AgentTable.leave, in a module of its own",
  weft_agent_table_bytes: "AgentTable.byteLength, in a module of its own",
  weft_agent_table_init: "AgentTable.init, in a module of its own",
  weft_agent_table_attach: "new AgentTable, in a module of its own",
  weft_agent_table_abandon: "AgentTable.abandon, in a module of its own",
  weft_attach_error: "JavaScript throws it",
  weft_inspect: "inspect, a function of its own",
  weft_recover: "recover, a function of its own",
  weft_select: "select.blocking, a function of its own",
  weft_select_first: "select.blocking, with an order",
  weft_wait_any: "waitAny.blocking, a function of its own",
  weft_spsc_queue_popping: "an arm; select takes the queue itself",
  weft_spsc_queue_pushing: "sending, a function of its own",
  weft_mpmc_queue_popping: "an arm; select takes the queue itself",
  weft_mpmc_queue_pushing: "sending, a function of its own",
  weft_channel_receiving: "an arm; select takes the channel itself",
  weft_channel_sending: "sending, a function of its own",
  weft_recursive_mutex_bytes: "JavaScript locks its mutex, once",
  weft_recursive_mutex_init: "JavaScript locks its mutex, once",
  weft_recursive_mutex_owner: "JavaScript locks its mutex, once",
  weft_recursive_mutex_try_lock: "JavaScript locks its mutex, once",
  weft_recursive_mutex_lock: "JavaScript locks its mutex, once",
  weft_recursive_mutex_unlock: "JavaScript locks its mutex, once",
  weft_recursive_mutex_abandon: "JavaScript locks its mutex, once",
  weft_condition_wait_write: "JavaScript waits with a Mutex",
  weft_condition_wait_read: "JavaScript waits with a Mutex",
  weft_condition_wait_recursive: "JavaScript waits with a Mutex",
  weft_calls_call: "connect.blocking, a function of its own",
  weft_calls_field: "a property of an error",
  weft_calls_reason: "a property of the signal",
  weft_calls_release_args: "serve does it, which has decoded them",
  weft_calls_serve: "serve.blocking, a function of its own",
  weft_calls_throw: "throw",
  weft_calls_try_serve_one: "serve, for threads that poll",
  weft_pool_serve: "servePool, a function of its own",
  weft_pool_in_place: "inPlace, a codec",
  weft_inspect_as: "inspect, with the name of a kind",
  weft_striped_counter_claim: "a view claims a stripe by itself",
  weft_striped_counter_add_to: "adds to what weft_striped_counter_claim gave",
  weft_spsc_queue_shape: "from and new with an element compare it",
  weft_mpmc_queue_shape: "from and new with an element compare it",
  weft_lock_free_queue_shape: "from and new with an element compare it",
  weft_channel_shapes: "the codec asks the channel for it",
  weft_channel_commit: "a method of a ReservedMessage",
  weft_channel_cancel: "a method of a ReservedMessage",
  weft_channel_consume: "release, a method of a PeekedMessage",
  weft_call_ring_ready: "a method of a PendingCall",
  weft_call_ring_try_receive: "a method of a PendingCall",
  weft_call_ring_receive: "a method of a PendingCall",
  weft_call_ring_cancel: "a method of a PendingCall",
  weft_call_ring_request: "a member of a TakenCall",
  weft_call_ring_space: "a member of a TakenCall",
  weft_call_ring_wanted: "a method of a TakenCall",
  weft_call_ring_reply: "a method of a TakenCall",
  weft_call_ring_fail: "a method of a TakenCall",
  weft_broadcast_dropped: "a method of a Subscription",
  weft_broadcast_size: "a method of a Subscription",
  weft_broadcast_try_pop: "a method of a Subscription",
  weft_broadcast_try_pop_int: "a method of a Subscription",
  weft_broadcast_pop: "a method of a Subscription",
  weft_broadcast_pop_int: "a method of a Subscription",
  weft_broadcast_leave: "a method of a Subscription",
};

interface Declaration {
  kind: string;
  def?: {
    extends?: string | unknown[];
    constructors?: unknown[];
    methods?: Member[];
    properties?: Member[];
  };
}
interface Member {
  name: string;
  accessibility?: string;
}

/** The public members of every class that mod.ts exports. */
function publicMembers(): Map<string, { names: string[]; base?: string }> {
  const words = ["doc", "--json", path("../../mod.ts")];
  const text = execFileSync(Deno.execPath(), words, {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const nodes: { symbols: { name: string; declarations: Declaration[] }[] }[] =
    Object.values(JSON.parse(text).nodes);
  const classes = new Map();
  for (const { name, declarations } of nodes.flatMap((node) => node.symbols)) {
    const def = declarations.find(({ kind }) => kind === "class")?.def ??
      declarations.find(({ kind }) => kind === "interface")?.def;
    if (def === undefined) continue;
    const members = [...def.methods ?? [], ...def.properties ?? []];
    const names = members
      .filter((m) => !["protected", "private"].includes(m.accessibility ?? ""))
      .map((m) => m.name);
    // Those of an interface say nothing of primitives.
    const base = typeof def.extends === "string" ? def.extends : undefined;
    classes.set(name, { names, base });
  }
  return classes;
}

/** The names of what a class inherits, those of its helpers included. */
function inherited(name: string): Set<string> {
  const names = new Set<string>();
  let at = (mod as unknown as Record<string, { prototype: object }>)[name]!;
  while (at !== Function.prototype as unknown) {
    for (const own of Object.getOwnPropertyNames(at)) names.add(own);
    for (const own of Object.getOwnPropertyNames(at.prototype ?? {})) {
      names.add(own);
    }
    at = Object.getPrototypeOf(at);
  }
  return names;
}

/** The members of a class in docs/api.txt, those of its bases included. */
function reported(name: string): string[] {
  const [, members] = RegExp(`\\nclass ${name}\\b.*\\n((?: .*\\n)*)`)
    .exec(current())!;
  const member = /^ +(?:static |readonly |get |set )*(\w+)[?:(<]/;
  return members!.split("\n").flatMap((line) => member.exec(line)?.[1] ?? [])
    .filter((member) => member !== "new");
}

const snake = (name: string) =>
  name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);

test("every operation has its twin in weft.h, and no other has one", () => {
  const classes = publicMembers();
  const functions = functionsOf(headerText());
  assert.is(new Set(functions).size, functions.length, "a name is there twice");
  const wanted = new Set(Object.keys(ONLY_C));
  // Classes with fields and methods that the documentation leaves out.
  const hidden = new Set<string>();
  for (const [name, stem] of Object.entries(STEMS)) {
    const names = new Set(["constructor"]);
    for (let at: string | undefined = name; at; at = classes.get(at)?.base) {
      // A base that is made by a function: what it has, the interface says.
      if (/^Waiting/.test(at)) {
        at = "Queue";
        hidden.add(stem);
      }
      if (!classes.has(at)) {
        hidden.add(stem);
        // The documentation leaves it out: what has a twin is an operation, and
        // what the report of the declarations says that the class has.
        for (const member of inherited(name)) {
          const twin = `weft_${stem}_${RENAMED[member] ?? snake(member)}`;
          if (functions.includes(twin)) names.add(member);
        }
        for (const member of reported(name)) names.add(member);
        break;
      }
      for (const member of classes.get(at)!.names) names.add(member);
    }
    for (const member of names) {
      if (member.startsWith("[") || Object.hasOwn(ONLY_TS, member)) continue;
      if (member.endsWith("Async")) {
        const plain = member.slice(0, -"Async".length);
        assert.ok(names.has(plain), `${name}.${member} without ${plain}`);
        continue;
      }
      // Only that of a Once has a twin; the others unlock in any case.
      if (member === "run" && stem !== "once") continue;
      const twin = RENAMED[member] ?? snake(member);
      // One function of C with a timeout is both: `wait` and `tryWait`.
      const plain = twin.replace(/^try_/, "");
      if (
        plain !== twin && !functions.includes(`weft_${stem}_${twin}`) &&
        functions.includes(`weft_${stem}_${plain}`)
      ) continue;
      wanted.add(`weft_${stem}_${twin}`);
    }
  }
  for (const name of NOT_IN_C) {
    assert.ok(wanted.delete(name), `${name} is listed for nothing`);
  }
  assert.equal([...wanted].filter((name) => !functions.includes(name)), []);
  const isHidden = (name: string) =>
    [...hidden].some((stem) => name.startsWith(`weft_${stem}_`));
  // C reads and writes values part by part, and JavaScript as a whole.
  const more = functions.filter((name) =>
    !wanted.has(name) && !isHidden(name) && !name.startsWith("weft_value_")
  );
  assert.equal(more, []);
});

const textOf = (name: string) => readFileSync(path(`../../${name}`), "utf8");

test("each mask and bit names the field that it is of", () => {
  const constant = /^(?:export )?const \w*(?:_MASK|_BIT)\b.*$/gm;
  const macro = /^#define WEFT\w*(?:_MASK|_BIT) .*$/gm;
  const unnamed = [
    ...filesBelow("primitives", ".ts").map((name) => [name, constant] as const),
    ...filesBelow("wasm/weft", ".h").map((name) => [name, macro] as const),
  ].flatMap(([name, pattern]) =>
    [...textOf(name).matchAll(pattern)]
      .filter(([line]) => !/ [A-Z_]+_BITS\.[A-Z_]+/.test(line))
      .map(([line]) => `${name}: ${line}`)
  );
  // The rounds of a call's spinning are in a register, and the number of a task
  // is in the pool's own messages: both are in no word.
  assert.equal(unnamed, [
    "wasm/weft/_spin.h: #define WEFT__SPIN_ROUND_MASK 0xfff",
    "wasm/weft/pool.h: #define WEFT__POOL_TASK_MASK 0xffff",
  ]);
});

test("a constant of both languages is made of each row of bits", () => {
  const texts = [["primitives", ".ts"], ["wasm/weft", ".h"]].map((
    [folder, end],
  ) => filesBelow(folder!, end!).map(textOf).join("\n"));
  const unread = Object.keys(bitsOf).flatMap((row) =>
    texts.filter((text) => !text.match(`(//|/\\*) ${row}_BITS\\.`))
      .map((text) => `${row}: ${text === texts[0] ? "TypeScript" : "C"}`)
  );
  assert.equal(unread, []);
});

test("the comment of a word has the bits that its table has", () => {
  const row = /^export const (\w+) = \{([^]*?)^\} as const;/gm;
  const named = /\* bits? (\d+)(?:-(\d+))?: ([A-Z]{2,})\b/g;
  const seen = new Set<string>();
  for (const [, stem, body] of families().matchAll(row)) {
    for (const [, first, last = first, name] of body!.matchAll(named)) {
      const bits = bitsOf[stem!]?.[name!];
      const ends = typeof bits === "number" ? [bits, bits] : [...bits ?? []];
      assert.equal(ends, [Number(first), Number(last)], `${stem}.${name}`);
      seen.add(stem!);
    }
  }
  assert.ok(seen.size >= 9, `${seen.size} rows name bits`);
});
