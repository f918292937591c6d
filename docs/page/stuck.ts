/// <reference lib="dom" />
/**
 * A worker dies inside a push: an MpmcQueue beside a LockFreeQueue.
 *
 * @module
 */
import {
  inspect,
  LockFreeQueue,
  MpmcQueue,
  onAgentExit,
  recover,
} from "@weft/sync";
import { at, gauge, make, told, write } from "./dom.ts";
import { type Push, WORD } from "./stuck_words.ts";

/** How often the rates are shown. */
const PERIOD = 250;

/** One queue, with two workers that push and one that pops. */
class Rig {
  readonly #kind: Push["kind"];
  readonly #rate = gauge("popped per second");
  readonly #fill = gauge("in the queue");
  readonly #said = make("p");
  readonly #error = make("p", "bad");
  readonly #card: HTMLElement;
  #queue!: MpmcQueue | LockFreeQueue;
  #words!: Int32Array<SharedArrayBuffer>;
  /** All workers, and those that have said their ids. */
  readonly #begun = new Set<Worker>();
  readonly #workers = new Map<number, Worker>();
  #shown = 0;
  #most = 1;

  constructor(kind: Push["kind"]) {
    this.#kind = kind;
    this.#card = at(`rig-${kind}`);
    this.#card.append(
      this.#rate.element,
      this.#fill.element,
      this.#said,
      this.#error,
    );
  }

  /** Makes a new queue, and its workers. */
  start() {
    this.#begun.forEach((worker) => worker.terminate());
    this.#begun.clear();
    this.#workers.clear();
    this.#queue = this.#kind === "mpmc"
      ? MpmcQueue.create({ capacity: 32 })
      : LockFreeQueue.create({ capacity: 32 });
    this.#words = new Int32Array(new SharedArrayBuffer(128));
    this.#shown = 0;
    this.#begin(false);
    this.#begin(false);
    this.#begin(true);
    this.#card.classList.remove("dead");
    write(this.#error, "");
    this.#tell("Two workers push, one pops.");
  }

  #begin(pops: boolean) {
    const worker = new Worker("pusher.js", { type: "module" });
    const message: Push = {
      kind: this.#kind,
      queue: this.#queue.handle,
      words: this.#words.buffer,
      pops,
    };
    worker.onmessage = ({ data }: MessageEvent<number | string>) => {
      if (typeof data === "number") return void this.#workers.set(data, worker);
      if (!pops) return;
      this.#card.classList.add("dead");
      write(this.#error, `The worker that pops was told: ${data}`);
    };
    worker.postMessage(message);
    this.#begun.add(worker);
  }

  /** Lets the next worker that pushes stop in its push. */
  kill() {
    Atomics.store(this.#words, WORD.hold, 1);
  }

  /** Shows the rate; terminates a worker that stopped in its push. */
  show() {
    if (this.#words === undefined) return;
    const popped = Atomics.load(this.#words, WORD.popped);
    const rate = (popped - this.#shown) * 1000 / PERIOD;
    this.#shown = popped;
    this.#most = Math.max(this.#most, rate);
    this.#rate.set(rate, this.#most, told(rate));
    const { size, capacity } = this.#queue;
    this.#fill.set(size, capacity, `${size} of ${capacity}`);
    const id = Atomics.exchange(this.#words, WORD.held, 0);
    if (id !== 0) this.#strike(id);
  }

  /** Terminates the worker `id`; another one takes its place. */
  #strike(id: number) {
    const queue = this.#queue;
    onAgentExit(id, () => {
      const found = recover(id, [queue]).map(({ what }) => what).join(", ");
      const [problem] = inspect(queue).problems;
      this.#tell(
        found === ""
          ? "One died in its push. recover found nothing to do."
          : `One died in its push. recover found: ${found}. ` +
            `inspect says of ${problem?.word}: ${problem?.text}`,
        found !== "",
      );
      this.#begin(false);
    });
    this.#workers.get(id)!.terminate();
  }

  #tell(text: string, bad = false) {
    write(this.#said, text);
    this.#said.classList.toggle("bad", bad);
  }
}

/** Lets the buttons start the queues, and kill. */
export function showStuck(): void {
  const rigs = [new Rig("mpmc"), new Rig("free")];
  const start = at<HTMLButtonElement>("stuck-start");
  const kill = at<HTMLButtonElement>("stuck-kill");
  start.addEventListener("click", () => {
    rigs.forEach((rig) => rig.start());
    write(start, "Start again, with new queues");
    kill.disabled = false;
  });
  kill.addEventListener("click", () => rigs.forEach((rig) => rig.kill()));
  setInterval(() => rigs.forEach((rig) => rig.show()), PERIOD);
}
