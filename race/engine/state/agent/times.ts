/**
 * Finds answers in long lists by their time. An agent that waits in slices asks
 * for the time again and again, so a state may have thousands of answers.
 *
 * @module
 */

/** Shorter lists are looked through. */
const LONG = 16;

const NONE: readonly number[] = [];

interface Table {
  /** How much of the list is in it. */
  count: number;
  readonly places: Map<number, number[]>;
}

/** Tables of lists that only change at their ends. */
export class Times<T> {
  readonly #timeOf: (item: T) => number;
  readonly #tables = new WeakMap<readonly T[], Table>();

  constructor(timeOf: (item: T) => number) {
    this.#timeOf = timeOf;
  }

  /** Where a long list has items of this time; `null` if it is short. */
  placesOf(list: readonly T[], time: number): readonly number[] | null {
    if (list.length < LONG) return null;
    let table = this.#tables.get(list);
    if (table === undefined) {
      this.#tables.set(list, table = { count: 0, places: new Map() });
    }
    const { places } = table;
    for (; table.count < list.length; table.count++) {
      const its = this.#timeOf(list[table.count]!);
      const known = places.get(its);
      if (known === undefined) places.set(its, [table.count]);
      else known.push(table.count);
    }
    return places.get(time) ?? NONE;
  }

  /** The item of this time that fits. */
  find(
    list: readonly T[],
    time: number,
    fits: (item: T) => boolean,
  ): T | undefined {
    const places = this.placesOf(list, time);
    if (places === null) return list.find(fits);
    for (const place of places) {
      const item = list[place];
      if (item !== undefined && fits(item)) return item;
    }
    return undefined;
  }

  /** Takes note that items were taken from the end of a list. */
  shorten(list: readonly T[]): void {
    const table = this.#tables.get(list);
    if (table !== undefined && table.count > list.length) {
      table.count = list.length;
    }
  }
}
