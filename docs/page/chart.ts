/// <reference lib="dom" />
/**
 * The rate of the last 30 seconds, as a line.
 *
 * @module
 */
import { at } from "./dom.ts";

/** How many values the line has. */
const LENGTH = 120;

/** The values, and a mark at those that follow a death. */
const values: { rate: number; death: boolean }[] = [];

/** Marks the next value. */
let marked = false;

/** Marks this moment as a death. */
export const mark = (): void => void (marked = true);

/** Adds a value, and draws the line. */
export function draw(rate: number): void {
  values.push({ rate, death: marked });
  marked = false;
  if (values.length > LENGTH) values.shift();
  const most = Math.max(1, ...values.map(({ rate }) => rate)) * 1.1;
  const first = LENGTH - values.length;
  const points = values.map(({ rate }, i) =>
    `${first + i + 1},${(30 - 30 * rate / most).toFixed(2)}`
  );
  const deaths = values.flatMap(({ death }, i) =>
    death ? [`M${first + i + 1},0V30`] : []
  );
  at("chart").innerHTML =
    `<path class="area" d="M${first + 1},30L${points.join("L")}V30z"/>` +
    `<path d="M${points.join("L")}"/>` +
    `<path class="death" d="${deaths.join("")}"/>`;
}
