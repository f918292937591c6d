/**
 * Messages on their way from one agent to another. A port is a number. Each
 * port has a queue. The agent that has opened the port takes the messages from
 * it, one after the other.
 *
 * @module
 */
import type { View } from "./hints.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** A message to a port. Equal messages are the same object. */
export interface Message {
  readonly id: number;
  readonly port: number;
  /** A copy of the data, from which each arrival makes a copy of its own. */
  readonly data: Any;
  /** The ports that the message transfers. */
  readonly ports: readonly number[];
}

/** A message that was posted and has not arrived. */
export interface Letter {
  readonly message: Message;
  /** What its sender knew when it was posted, for data races. */
  readonly clock: Int32Array | null;
  /** What its sender knew of hints when it was posted. */
  readonly view: View | null;
}

/** All messages, and the names of all ports, of an exploration. */
export class Mail {
  readonly #messages: Message[] = [];
  readonly #known = new Map<string, Message>();
  readonly #channels = new Map<string, number>();
  readonly #names: string[] = [];

  /** The number of the channel that `name` stands for. */
  channel(name: string): number {
    let number = this.#channels.get(name);
    if (number === undefined) {
      this.#channels.set(name, number = this.#channels.size);
    }
    return number;
  }

  /** Gives a port a name of its own. */
  rename(port: number, name: string): void {
    this.#names[port] = name;
  }

  /** What a port is called in reports. */
  nameOf(port: number): string {
    return this.#names[port] ?? `port${1 + port % 2} of channel ${port >> 1}`;
  }

  /** The message with this content; `key` stands for its data. */
  message(port: number, key: string, data: Any, ports: number[]): Message {
    const name = `${port} ${key} ${ports}`;
    let message = this.#known.get(name);
    if (message === undefined) {
      message = { id: this.#messages.length, port, data, ports };
      this.#messages.push(message);
      this.#known.set(name, message);
    }
    return message;
  }

  /** The message with this number. */
  at(id: number): Message {
    return this.#messages[id]!;
  }
}

/**
 * Adds a letter, behind all letters to the same port. Letters are sorted by
 * port, because the order of letters to different ports makes no difference.
 */
export function posted(
  letters: readonly Letter[],
  letter: Letter,
): readonly Letter[] {
  let at = letters.length;
  const { port } = letter.message;
  while (at > 0 && letters[at - 1]!.message.port > port) at--;
  return [...letters.slice(0, at), letter, ...letters.slice(at)];
}

/** The letter to a port that arrives next; undefined if there is none. */
export function nextTo(
  letters: readonly Letter[],
  port: number,
): Letter | undefined {
  return letters.find(({ message }) => message.port === port);
}

/** Whether a message can arrive at an agent. */
export function hasMail(
  letters: readonly Letter[],
  open: readonly number[],
): boolean {
  return open.length > 0 && letters.length > 0 &&
    open.some((port) => nextTo(letters, port) !== undefined);
}
