import { Twin } from "../_run/mixed/twin.ts";

class Snapshot extends Twin {
  write(source: Int32Array): void {
    const { at, words } = this.scratch;
    words.set(source);
    this.c.weft_snapshot_write!(this.at, at);
  }

  read(to: Int32Array): number {
    const { at, words } = this.scratch;
    const version = this.c.weft_snapshot_read!(this.at, at);
    to.set(words.subarray(0, to.length));
    return version;
  }
}

/** By the names of the classes they stand for. */
export const twins = { Snapshot };
