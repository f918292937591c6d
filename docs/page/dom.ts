/// <reference lib="dom" />
/**
 * Small parts of the page: gauges, numbers, lines of a log.
 *
 * @module
 */

/** The element with this id. */
export const at = <T extends HTMLElement = HTMLElement>(id: string): T =>
  document.getElementById(id) as T;

/** A new element with a class, a text and children. */
export function make(
  tag: string,
  name = "",
  ...children: (string | Element)[]
): HTMLElement {
  const element = document.createElement(tag);
  if (name !== "") element.className = name;
  element.append(...children);
  return element;
}

const FORM = new Intl.NumberFormat("en");

/** A number with commas. */
export const told = (n: number): string => FORM.format(Math.round(n));

/** Writes a text, if it is another one. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A bar that shows a value. */
export interface Gauge {
  readonly element: HTMLElement;
  /** Shows `value` of `most`, and a text. */
  set(value: number, most: number, text: string): void;
}

/** Makes a gauge with a label. */
export function gauge(label: string, size = ""): Gauge {
  const fill = make("div", "fill");
  const bar = make("div", "bar", fill);
  const value = make("span", "value");
  const text = make("div", "text", make("span", "", label), value);
  bar.setAttribute("role", "meter");
  bar.setAttribute("aria-label", label);
  bar.setAttribute("aria-valuemin", "0");
  const set = (now: number, most: number, said: string) => {
    fill.style.transform = `scaleX(${most > 0 ? Math.min(now / most, 1) : 0})`;
    bar.setAttribute("aria-valuenow", `${Math.round(now)}`);
    bar.setAttribute("aria-valuemax", `${Math.round(most)}`);
    bar.setAttribute("aria-valuetext", said);
    write(value, said);
  };
  set(0, 1, "0");
  return { element: make("div", `gauge ${size}`, bar, text), set };
}

/** Adds a line to a log, which keeps a few. */
export function say(log: HTMLElement, text: string): void {
  log.append(make("li", "", text));
  while (log.children.length > 4) log.firstElementChild!.remove();
}

/** Calls `changed` with a slider's value, now and when it moves. */
export function slider(id: string, changed: (value: number) => void): void {
  const input = at<HTMLInputElement>(id);
  const output = document.querySelector(`output[for="${id}"]`)!;
  const take = () => {
    write(output, input.value);
    changed(input.valueAsNumber);
  };
  input.addEventListener("input", take);
  take();
}

/** Sets whether a button that stays pressed is. */
export function press(button: HTMLElement, pressed: boolean): void {
  button.setAttribute("aria-pressed", `${pressed}`);
}
