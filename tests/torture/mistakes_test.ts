// Each mistake of the storms changes a text that occurs once in its source.
// The storms themselves take minutes; this tells at once that a text moved.
import { editedSource } from "../_run/edits.ts";
import { suite } from "../_run/harness.ts";
import { MISTAKES } from "./_mistakes.ts";

const test = suite("mistakes of storms");

for (const { storm, what, edits } of MISTAKES) {
  test(`${storm}: ${what}`, () => {
    for (const [source, changes] of Object.entries(edits)) {
      editedSource(source, changes);
    }
  });
}
