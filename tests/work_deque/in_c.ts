import { Twin } from "../_run/mixed/twin.ts";

class WorkDeque extends Twin {
  push(item: number): boolean {
    return this.succeeded(this.c.weft_work_deque_push!(this.at, item));
  }

  pop(): number | undefined {
    return this.out(this.c.weft_work_deque_pop!(this.at, this.scratch.at));
  }

  adopt(): void {
    this.c.weft_work_deque_adopt!(this.at);
  }

  steal(): number | undefined {
    return this.out(this.c.weft_work_deque_steal!(this.at, this.scratch.at));
  }
}

/** By the names of the classes they stand for. */
export const twins = { WorkDeque };
