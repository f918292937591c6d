import { WorkDeque } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Twin } from "../_run/mixed/twin.ts";

const deque = { capacity: 3 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "work_deque",
  ...made(WorkDeque, [deque]),
  use: (view) => (view as WorkDeque).push(-7),
  used: (view) => (view as WorkDeque).steal() === -7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "WorkDeque", most: 3432 };

class WorkDequeInC extends Twin {
  get size(): number {
    return this.invoke("size");
  }

  push(item: number): boolean {
    return this.does("push", item);
  }

  pop(): number | undefined {
    return this.out(this.invoke("pop", this.scratch.at));
  }

  adopt(): void {
    this.does("adopt");
  }

  steal(): number | undefined {
    return this.out(this.invoke("steal", this.scratch.at));
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { WorkDeque: WorkDequeInC };
