import { Snapshot } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";
import { made } from "../_run/made.ts";
import { Twin } from "../_run/mixed/twin.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "snapshot",
  ...made(Snapshot, [{ size: 4 }]),
  use: (view) => (view as Snapshot).write(Int32Array.of(7)),
  used: (view) => (view as Snapshot).version === 1,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Snapshot", most: 4527 };

class SnapshotInC extends Twin {
  write(source: Int32Array): void {
    const { at, words } = this.scratch;
    words.set(source);
    this.does("write", at);
  }

  read(to: Int32Array): number {
    const { at, words } = this.scratch;
    const version = this.invoke("read", at);
    if (version < 0) this.succeeded(-version);
    to.set(words.subarray(0, to.length));
    return version;
  }
}

/** The classes of C, by the names of those that they stand for. */
export const twins = { Snapshot: SnapshotInC };
