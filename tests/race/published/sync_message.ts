/**
 * `sync-message`: a worker waits for a message.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, Mail, type Open, outcome, type Published } from "./_kit.ts";

const DATA = 8;
const SIZE = 8;
const MAIL = DATA + SIZE;

/** The agents; `asks` if the reader asks for each of two messages. */
async function explore(open: Open, asks: boolean) {
  const { readMessage, writeMessageAtomics } = await open("dist/index.js", {
    globals: { self: undefined },
  });
  const channel = (memory: SharedArrayBuffer): Any => ({
    type: "atomics",
    meta: new Int32Array(memory, 0, 2),
    data: new Uint8Array(memory, DATA, SIZE),
  });
  return outcome(() =>
    race.agents(
      {
        memory: () => new SharedArrayBuffer(MAIL + Mail.bytes(2)),
        words: { length: 0, full: 4, data: DATA },
      },
      (memory) => {
        const mail = new Mail(memory, MAIL);
        const messages: unknown[] = [];
        for (let i = 0; i < (asks ? 2 : 1); i++) {
          if (asks) mail.send(1);
          messages.push(readMessage(channel(memory), "", { timeout: 9000 }));
        }
        return messages;
      },
      (memory) => {
        const mail = new Mail(memory, MAIL);
        for (let i = 1; i <= 2; i++) {
          if (asks) mail.take();
          writeMessageAtomics(channel(memory), i);
        }
      },
      {
        timeouts: false,
        after: (_, [messages]) =>
          `${messages}` === (asks ? "1,2" : "1")
            ? undefined
            : `received ${messages}`,
      },
    )
  );
}

export const published: Published = {
  name: "sync-message",
  version: "0.0.12",
  checks: [
    {
      title: "a message for each request",
      verdict: "exception",
      program: "agent 0 asks and reads, twice; agent 1 writes when it is asked",
      explore: (open) => explore(open, true),
      finding: {
        where: "dist/index.js, readMessage()",
        what: "readMessage() takes every end of Atomics.wait() but a timeout " +
          "for a message. If it arrives when the flag is already set, it does " +
          "not sleep, and the writer's notify() is still to come. That late " +
          "notify() wakes the reader in its next call, before the next " +
          'message: it reads a length of 0, and JSON.parse("") throws a ' +
          "SyntaxError.",
        mend: "Call Atomics.wait() in a loop, until Atomics.load() of the " +
          "flag says that there is a message.",
        standing: {
          severity: "medium: an exception, if a notification comes late",
          contract: 'the README says that readMessage() "will block until it ' +
            'receives and returns a message"',
          reach: "readMessage() and writeMessage(), as the README shows them",
        },
      },
      threads: {
        path: "dist/index.js",
        opening: { replace: [["!function(e,t)", "var self; !function(e,t)"]] },
        rounds: 60,
        memory: () => new SharedArrayBuffer(64),
        wrong: (memory) => {
          const [, , , bad] = new Int32Array(memory);
          return bad ? `message ${bad} ended in a SyntaxError` : undefined;
        },
        roles: [
          (code, memory) => {
            const words = new Int32Array(memory);
            const channel = {
              type: "atomics",
              meta: new Int32Array(memory, 0, 2),
              data: new Uint8Array(memory, 32),
            };
            for (let i = 1; i <= 3000; i++) {
              Atomics.store(words, 2, i);
              try {
                code.readMessage(channel, "");
              } catch {
                Atomics.store(words, 3, i);
                return;
              }
            }
          },
          (code, memory) => {
            const words = new Int32Array(memory);
            const channel = {
              type: "atomics",
              meta: new Int32Array(memory, 0, 2),
              data: new Uint8Array(memory, 32),
            };
            for (let i = 1; i <= 3000; i++) {
              while (Atomics.load(words, 2) < i) {
                if (Atomics.load(words, 3) !== 0) return;
              }
              code.writeMessageAtomics(channel, i);
            }
          },
        ],
      },
    },
    {
      title: "two messages in a row",
      verdict: "invariant",
      program: "agent 0 reads once, agent 1 writes two messages",
      explore: (open) => explore(open, false),
      finding: {
        where: "dist/index.js, writeMessageAtomics() and readMessage()",
        what: "writeMessageAtomics() does not look whether the last message " +
          "was read. A second message replaces the first one, or overwrites " +
          "its bytes while they are read.",
        mend: "Let the writer wait (asynchronously, on a main thread) until " +
          "the flag is 0, or document that each message must be asked for.",
        standing: {
          none:
            "The README shows one message for each request of the worker. " +
            "Two in a row are not its use",
        },
      },
    },
  ],
};
