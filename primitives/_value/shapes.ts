/**
 * The shapes of objects: the names of their properties, in their order.
 *
 * @module
 */

import type { SharedShapes } from "../_message/message.ts";
import { Output } from "./output.ts";
import { type Places, placesOf } from "./places.ts";
import { MOST_KEYS, MOST_TEXT } from "./tags.ts";

/** The names of an object's properties, and what this agent knows of them. */
export class Shape {
  readonly keys: readonly string[];
  /** The names as bytes: how many there are, and then each. */
  readonly text: Uint8Array<ArrayBuffer>;
  /** A number that depends on the text. */
  readonly hash: number;
  /**
   * Whether an object is made as a copy of the template. Of many names, V8
   * would make a hash table; others would not be made by an assignment.
   */
  readonly copied: boolean;
  /** Whether all objects have some property of such a name. */
  readonly inherits: boolean;
  /** An object with these names, if it was needed. */
  template: object | undefined;
  places: Places | undefined;
  /** How often an object was met before it had places in the code. */
  #met = 0;
  /** Its number in the table; -1 if it has none yet, -2 if it gets none. */
  id = -1;
  /** How often this agent has sent it without a number. */
  uses = 0;
  /** The message that defined it last, and its number there. */
  message = 0;
  own = 0;
  /**
   * The shapes that the values of each name had last, and those before them.
   */
  readonly hints: (Shape | undefined)[];

  constructor(keys: readonly string[], text: Uint8Array<ArrayBuffer>) {
    this.keys = keys.map(nameOf);
    this.text = text;
    this.hash = hashOf(text, 0, text.length);
    this.inherits = keys.some((key) => key in Object.prototype);
    this.copied = keys.length > 12 || this.inherits;
    this.hints = [...keys, ...keys].map(() => undefined);
  }

  /** Gives it places, unless others have taken all. */
  place(): Places | undefined {
    // Names that come once may never come again.
    if (this.#met < 2 && ++this.#met === 2) this.places = placesOf(this.keys);
    return this.places;
  }
}

/** The same text as V8 keeps it for names of properties, which is faster. */
const nameOf = (key: string): string => Object.keys({ [key]: 0 })[0]!;

/** By names, one after the other. */
interface Node {
  readonly next: Map<string, Node>;
  shape: Shape | undefined;
}

/**
 * An agent that knows more shapes, or eight times as many names, forgets all
 * before the next message. It does so within one only if that has many more:
 * a shape that is forgotten is defined again, but the bytes of a map's key
 * should be the same whatever else an agent has sent.
 */
const MOST_SHAPES = 1024;

const EMPTY = /* @__PURE__ */ new Uint8Array(1);

/** The shapes that an agent knows. */
export class Shapes {
  readonly table: SharedShapes | undefined;
  /** Those that it has read from the table, by their numbers. */
  readonly shared: (Shape | undefined)[] = [];
  /** The hints of values that are in no object. */
  top: Shape = new Shape([""], EMPTY);
  #root: Node = { next: new Map(), shape: undefined };
  #byHash = new Map<number, Shape>();
  #nodes = 0;

  constructor(table?: SharedShapes) {
    this.table = table;
  }

  /** The shape of these names; undefined if they are too many or too long. */
  of(keys: readonly string[]): Shape | undefined {
    if (keys.length > MOST_KEYS) return undefined;
    let node = this.#root;
    for (const key of keys) {
      let next = node.next.get(key);
      if (next === undefined) {
        if (++this.#nodes > MOST_SHAPES * 16) return this.#again(keys);
        next = { next: new Map(), shape: undefined };
        node.next.set(key, next);
      }
      node = next;
    }
    if (node.shape === undefined) {
      const text = textOf(keys);
      if (text.length > MOST_TEXT) return undefined;
      node.shape = new Shape(keys, text);
      if (this.#byHash.size >= MOST_SHAPES * 2) return this.#again(keys);
      this.#byHash.set(node.shape.hash, node.shape);
    }
    return node.shape;
  }

  #again(keys: readonly string[]): Shape | undefined {
    this.#forget();
    return this.of(keys);
  }

  /** Begins a message. */
  begin(): void {
    if (this.#byHash.size > MOST_SHAPES || this.#nodes > MOST_SHAPES * 8) {
      this.#forget();
    }
  }

  #forget(): void {
    this.top = new Shape([""], EMPTY); // its hints are shapes, too
    this.shared.length = 0;
    this.#root = { next: new Map(), shape: undefined };
    this.#byHash.clear();
    this.#nodes = 0;
  }

  /** The shape with this text, if this agent knows it. */
  withText(memory: Uint8Array, at: number, length: number): Shape | undefined {
    const shape = this.#byHash.get(hashOf(memory, at, length));
    if (shape === undefined || shape.text.length !== length) return undefined;
    for (let i = 0; i < length; i++) {
      if (shape.text[i] !== memory[at + i]) return undefined;
    }
    return shape;
  }
}

/** A number that depends on the bytes (FNV-1a). */
function hashOf(memory: Uint8Array, at: number, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < length; i++) {
    hash = Math.imul(hash ^ memory[at + i]!, 0x01000193);
  }
  return hash;
}

function textOf(keys: readonly string[]): Uint8Array<ArrayBuffer> {
  const output = new Output();
  const text = new Uint8Array(256);
  output.begin(text, 0, text.length);
  output.byte(keys.length);
  for (const key of keys) output.text(key);
  return output.bytes.slice(output.base, output.at) as Uint8Array<ArrayBuffer>;
}
