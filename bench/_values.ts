/**
 * What people send, for the benches of channels.
 *
 * @module
 */

/** A small object. */
export const SMALL = {
  id: 12345,
  name: "somebody of some name",
  tags: ["one", "two", "three"],
  at: { x: 0.5, y: -1.25 },
};

/** An object of about 2 KB: 40 names, and objects in it. */
export const LARGE: Record<string, unknown> = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => {
    const part = [i * 1000, `text number ${i} of an object`, {
      x: i / 3,
      on: true,
    }];
    return [`name${i}`, i % 4 === 3 ? part : part[i % 3]];
  }),
);

/** Rows of a table: 100 objects of one shape, which differ. */
export const ROWS = Array.from({ length: 100 }, (_, i) => ({
  id: 1000 * i,
  name: `somebody of number ${i}`,
  tags: [`tag ${i}`, "two", "three"],
  at: { x: i / 3, y: -i },
}));
