/**
 * Rewrites a compiled module. Every access to memory that other agents may see
 * becomes a call of an import. Everything else stays as the compiler made it.
 *
 * @module
 */
import {
  BadModule,
  type Instruction,
  readCode,
  Reader,
  readOffset,
  skipImmediates,
  Writer,
} from "./binary.ts";
import {
  type Access,
  accessOf,
  asksSize,
  isPlain,
  nameOf,
  typeOf,
  TYPES,
} from "./access.ts";
import {
  CODE,
  DATA,
  ELEMENT,
  EXPORT,
  FUNCTION,
  GLOBAL,
  IMPORT,
  type Imports,
  MEMORY,
  type MemoryImport,
  ORDER,
  partsOf,
  readImports,
  severalMemories,
  stackPointer,
  START,
  TYPE,
  type Variable,
  variablesOf,
} from "./sections.ts";

/** A rewritten module. */
export interface Rewritten {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The imports it calls, by name, of the module `race`. */
  readonly accesses: ReadonlyMap<string, Access>;
  /** The memory it imports. */
  readonly memory: MemoryImport;
  /** How many instructions were replaced. */
  readonly replaced: number;
}

/** The name under which the stack pointer is exported. */
export const STACK = "race stack";
/** How the names begin under which other globals are exported that change. */
export const VARIABLE = "race variable ";
/** The name of an added global: the address of the stack's last byte. */
export const BOTTOM = "race bottom";
/** The size of an agent's stack. */
export const STACK_BYTES = 16384;
/** The module name of the imports. */
export const RACE = "race";

/**
 * Rewrites a module. All atomic accesses become calls, and so do plain accesses
 * to addresses from `from` up to `to`.
 */
export function rewrite(
  bytes: Uint8Array,
  from: number,
  to: number,
): Rewritten {
  return new Rewriter(bytes, from, to).rewritten();
}

/** The parts of the section of names. */
const NAMES_OF_FUNCTIONS = 1, NAMES_OF_GLOBALS = 7;

/** Whether JavaScript can read and set a variable of this type. */
const isShown = ({ type }: Variable): boolean =>
  Object.values<number>(TYPES).includes(type) || type === 0x70 || type === 0x6f;

class Rewriter {
  readonly #sections: Map<number, Reader>;
  readonly #names: Reader | undefined;
  readonly #imports: Imports;
  /**
   * Accesses by name. Their numbers follow those of the module's own imports.
   */
  readonly #accesses = new Map<string, Access>();
  /** Names of added functions, which check the address of a plain access. */
  readonly #added: string[] = [];
  readonly #opcodes = new Map<string, number>();
  readonly #callees = new Map<string, number>();
  /** The globals that may change. */
  readonly #variables: readonly Variable[];
  /** The one that points at the stack. */
  readonly #stack: Variable | undefined;
  #defined = 0;
  #replaced = 0;

  constructor(
    bytes: Uint8Array,
    readonly from: number,
    readonly to: number,
  ) {
    const { sections, names } = partsOf(bytes);
    this.#sections = sections;
    this.#names = names;
    const read = (id: number) => this.#section(id);
    this.#imports = readImports(read(IMPORT));
    if ((read(MEMORY)?.number() ?? 0) > 0) throw severalMemories();
    const { globals, memory } = this.#imports;
    const named = new Map(this.#namesGiven(NAMES_OF_GLOBALS));
    this.#variables = variablesOf(read(GLOBAL), globals);
    this.#stack = stackPointer(this.#variables, named, memory);
    this.#defined = read(FUNCTION)?.number() ?? 0;
    this.#gather();
  }

  #section(id: number): Reader | undefined {
    const part = this.#sections.get(id);
    return part && new Reader(part.bytes, part.at, part.end);
  }

  /** Collects the accesses; they must be known before functions get numbers. */
  #gather(): void {
    this.#bodies((from) => {
      while (!from.done) {
        const instruction = readCode(from);
        const access = this.#access(instruction);
        if (access !== undefined) {
          const name = nameOf(access);
          this.#accesses.set(name, access);
          if (isPlain(access) && !this.#opcodes.has(name)) {
            this.#opcodes.set(name, instruction.code);
            this.#added.push(name);
          }
        }
        skipImmediates(from, instruction);
      }
    });
  }

  #access(instruction: Instruction): Access | undefined {
    const access = accessOf(instruction);
    return access && isPlain(access) && this.from >= this.to
      ? undefined
      : access;
  }

  #bodies(each: (body: Reader, locals: Uint8Array) => void): void {
    const from = this.#section(CODE);
    const count = from?.number() ?? 0;
    for (let i = 0; i < count; i++) {
      const body = from!.part();
      const start = body.at;
      for (let n = body.number(); n > 0; n--) {
        body.skipNumber();
        body.skipNumber();
      }
      each(body, body.bytes.subarray(start, body.at));
    }
  }

  /** The number a function has now. */
  #moved(index: number): number {
    return index < this.#imports.functions
      ? index
      : index + this.#accesses.size;
  }

  /** The number of the function to call for an access. */
  #callee(name: string): number {
    let callee = this.#callees.get(name);
    if (callee === undefined) {
      const added = this.#added.indexOf(name);
      const before = this.#imports.functions + this.#accesses.size;
      callee = added >= 0
        ? before + this.#defined + added
        : this.#imported(name);
      this.#callees.set(name, callee);
    }
    return callee;
  }

  #imported(name: string): number {
    return this.#imports.functions + [...this.#accesses.keys()].indexOf(name);
  }

  rewritten(): Rewritten {
    const sections = this.#parts();
    const out = new Writer();
    out.bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    for (const id of ORDER) {
      const section = sections.get(id);
      if (section === undefined) continue;
      out.byte(id);
      out.part(section);
    }
    out.byte(0);
    out.part(this.#renamed());
    return {
      bytes: out.written,
      accesses: this.#accesses,
      memory: this.#imports.memory,
      replaced: this.#replaced,
    };
  }

  #parts(): Map<number, Uint8Array> {
    const sections = new Map<number, Uint8Array>();
    for (const id of this.#sections.keys()) {
      sections.set(id, this.#section(id)!.rest());
    }
    const { types, signatures } = this.#types();
    const changed = [
      [TYPE, types],
      [IMPORT, this.#importSection(signatures)],
      [FUNCTION, this.#functions(signatures)],
      [GLOBAL, this.#globals()],
      [EXPORT, this.#exports()],
      [START, this.#start()],
      [ELEMENT, this.#items(ELEMENT, (...it) => this.#element(...it))],
      [CODE, this.#code()],
      [DATA, this.#items(DATA, (...it) => this.#segment(...it))],
    ] as const;
    for (const [id, part] of changed) {
      if (part !== undefined) sections.set(id, part);
    }
    return sections;
  }

  /** The types, followed by those of accesses. */
  #types() {
    const from = this.#section(TYPE);
    const count = from?.number() ?? 0;
    const out = new Writer();
    out.number(count + this.#accesses.size + this.#added.length);
    if (from !== undefined) out.bytes(from.rest());
    const signatures = new Map<string, readonly [number, number]>();
    let next = count;
    const add = (takes: number[], gives: number[]): number => {
      out.byte(0x60);
      out.part(Uint8Array.from(takes));
      out.part(Uint8Array.from(gives));
      return next++;
    };
    for (const [name, access] of this.#accesses) {
      const [takes, gives] = typeOf(access);
      // Plain accesses get the address itself from the function that checked
      // it.
      const offset = isPlain(access) ? [] : [TYPES.i32];
      const imported = add([TYPES.i32, ...takes, ...offset], gives);
      const own = this.#added.includes(name)
        ? add([TYPES.i32, ...takes, TYPES.i32], gives)
        : -1;
      signatures.set(name, [imported, own]);
    }
    return { types: out.written, signatures };
  }

  #importSection(
    signatures: ReadonlyMap<string, readonly [number, number]>,
  ): Uint8Array {
    const { entries, count } = this.#imports;
    const out = new Writer();
    out.number(count + this.#accesses.size);
    out.bytes(entries);
    for (const name of this.#accesses.keys()) {
      out.name(RACE);
      out.name(name);
      out.byte(0);
      out.number(signatures.get(name)![0]);
    }
    return out.written;
  }

  #functions(
    signatures: ReadonlyMap<string, readonly [number, number]>,
  ): Uint8Array {
    const from = this.#section(FUNCTION);
    const count = from?.number() ?? 0;
    const out = new Writer();
    out.number(count + this.#added.length);
    if (from !== undefined) out.bytes(from.rest());
    for (const name of this.#added) out.number(signatures.get(name)![1]);
    return out.written;
  }

  #exports(): Uint8Array {
    const from = this.#section(EXPORT);
    const count = from?.number() ?? 0;
    const stack = this.#stack;
    const shown = this.#variables.filter(isShown);
    const out = new Writer();
    out.number(count + shown.length + (stack === undefined ? 0 : 1));
    for (let i = 0; i < count; i++) {
      out.name(from!.name());
      const kind = from!.byte();
      const index = from!.number();
      out.byte(kind);
      out.number(kind === 0 ? this.#moved(index) : index);
    }
    for (const variable of shown) {
      const { index } = variable;
      out.name(variable === stack ? STACK : `${VARIABLE}${index}`);
      out.byte(3);
      out.number(index);
    }
    if (stack !== undefined) {
      out.name(BOTTOM);
      out.byte(3);
      out.number(this.#bottom);
    }
    return out.written;
  }

  /** The number of the added global. */
  get #bottom(): number {
    const defined = this.#section(GLOBAL)?.number() ?? 0;
    return this.#imports.globals + defined;
  }

  #start(): Uint8Array | undefined {
    const from = this.#section(START);
    if (from === undefined) return undefined;
    const out = new Writer();
    out.number(this.#moved(from.number()));
    return out.written;
  }

  /**
   * A section of items that `copy` copies, and of one that is added if it has
   * any bytes; `undefined` if there is no such section.
   */
  #items(
    id: number,
    copy: (from: Reader, out: Writer) => void,
    added: readonly number[] = [],
  ): Uint8Array | undefined {
    const from = this.#section(id);
    if (from === undefined) return undefined;
    const out = new Writer();
    const count = from.number();
    out.number(count + (added.length > 0 ? 1 : 0));
    for (let i = 0; i < count; i++) copy(from, out);
    out.byte(...added);
    return out.written;
  }

  /** The globals, and one more if there is a stack. */
  #globals(): Uint8Array | undefined {
    const added = this.#stack === undefined
      ? []
      : [TYPES.i32, 1, 0x41, 0, 0x0b];
    return this.#items(GLOBAL, (...it) => this.#global(...it), added);
  }

  #global(from: Reader, out: Writer): void {
    out.byte(from.byte(), from.byte());
    this.#expression(from, out);
  }

  #segment(from: Reader, out: Writer): void {
    const flags = from.number();
    out.number(flags);
    if (flags === 2) out.number(from.number());
    if (flags !== 1) this.#expression(from, out);
    out.part(from.part().rest());
  }

  #element(from: Reader, out: Writer): void {
    const flags = from.number();
    out.number(flags);
    if ((flags & 1) === 0) {
      if (flags & 2) out.number(from.number());
      this.#expression(from, out);
    }
    if (flags & 3) out.byte(from.byte()); // its kind, or its type
    const length = from.number();
    out.number(length);
    for (let n = 0; n < length; n++) {
      if (flags & 4) this.#expression(from, out);
      else out.number(this.#moved(from.number()));
    }
  }

  /** An expression that is a constant. */
  #expression(from: Reader, out: Writer): void {
    for (;;) {
      const start = from.at;
      const instruction = readCode(from);
      this.#copy(from, out, start, instruction);
      if (instruction.code === 0x0b) return;
    }
  }

  /** Copies an instruction that stays as it is. */
  #copy(
    from: Reader,
    out: Writer,
    start: number,
    instruction: Instruction,
  ): void {
    const { code } = instruction;
    // call, return_call, ref.func
    if (code === 0x10 || code === 0x12 || code === 0xd2) {
      out.byte(code);
      return out.number(this.#moved(from.number()));
    }
    skipImmediates(from, instruction);
    out.bytes(from.bytes.subarray(start, from.at));
  }

  #code(): Uint8Array {
    const out = new Writer();
    out.number(this.#defined + this.#added.length);
    this.#bodies((from, locals) => {
      const body = new Writer();
      body.bytes(locals);
      while (!from.done) {
        const start = from.at;
        const instruction = readCode(from);
        const access = this.#access(instruction);
        if (access === undefined) {
          this.#copy(from, body, start, instruction);
          continue;
        }
        const { code } = instruction;
        const isGrow = access.what === "grow";
        if (!isGrow) this.#replaced++;
        const offset = code === 0xfc || isGrow ? 0 : readOffset(from);
        if (code === 0xfc || isGrow) skipImmediates(from, instruction);
        // To ask for the size is to grow by nothing.
        if (asksSize(instruction)) body.byte(0x41, 0);
        body.byte(0x41);
        body.signed(offset);
        body.byte(0x10);
        body.number(this.#callee(nameOf(access)));
      }
      out.part(body.written);
    });
    for (const name of this.#added) out.part(this.#plain(name));
    return out.written;
  }

  /** A function that makes a plain access, or calls the import for it. */
  #plain(name: string): Uint8Array {
    const access = this.#accesses.get(name)!;
    const [takes, [gives]] = typeOf(access);
    const offset = takes.length + 1;
    const values = () => takes.forEach((_, i) => body.byte(0x20, i + 1));
    const body = new Writer();
    body.byte(0); // no locals
    body.byte(0x20, 0, 0x20, offset, 0x6a, 0x22, 0); // the address
    body.byte(0x20, offset, 0x49, 0x04, 0x40); // traps beyond 32 bits; whether
    body.byte(0x41, 0x7f, 0x2d, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x1a, 0x0b);
    body.byte(0x20, 0, 0x41); // it
    body.signed(this.from);
    body.byte(0x4f, 0x20, 0, 0x41); // is from the first one on, and
    body.signed(this.to - 1);
    body.byte(0x4d, 0x71); // up to the last
    if (this.#stack !== undefined && this.to < 2 ** 32) {
      body.byte(0x20, 0, 0x41); // or behind it, where the stacks are,
      body.signed(this.to);
      body.byte(0x4f, 0x20, 0, 0x23); // but not in the agent's own one
      body.number(this.#bottom);
      body.byte(0x6b, 0x41);
      body.signed(STACK_BYTES);
      body.byte(0x4f, 0x71, 0x72);
    }
    body.byte(0x04, gives ?? 0x40, 0x20, 0);
    values();
    body.byte(0x10);
    body.number(this.#imported(name));
    body.byte(0x05, 0x20, 0);
    values();
    body.byte(this.#opcodes.get(name)!, 0, 0);
    body.byte(0x0b, 0x0b);
    return body.written;
  }

  /** The functions' names, for stack traces. */
  #renamed(): Uint8Array {
    const out = new Writer();
    out.name("name");
    out.byte(1);
    const names = new Writer();
    const known = this.#namesGiven(NAMES_OF_FUNCTIONS) ?? this.#namesExported();
    names.number(known.length);
    for (const [index, name] of known) {
      names.number(this.#moved(index));
      names.name(name);
    }
    out.part(names.written);
    return out.written;
  }

  /** The names in a part of the section of names, as far as it is whole. */
  #namesGiven(
    wanted: number,
  ): (readonly [index: number, name: string])[] | undefined {
    const all = this.#names;
    if (all === undefined) return undefined;
    const from = new Reader(all.bytes, all.at, all.end);
    try {
      while (!from.done) {
        const id = from.byte();
        const part = from.part();
        if (id !== wanted) continue;
        return Array.from(
          { length: part.number() },
          () => [part.number(), part.name()] as const,
        );
      }
    } catch (error) {
      if (!(error instanceof BadModule)) throw error;
    }
    return undefined;
  }

  #namesExported(): (readonly [index: number, name: string])[] {
    const from = this.#section(EXPORT);
    const names = new Map<number, string>();
    for (let n = from?.number() ?? 0; n > 0; n--) {
      const name = from!.name();
      const kind = from!.byte();
      const index = from!.number();
      if (kind === 0) names.set(index, name);
    }
    return [...names].sort(([a], [b]) => a - b);
  }
}
