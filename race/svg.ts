/**
 * An interleaving as a picture.
 *
 * @module
 */
import type { Picture } from "./print.ts";

/** The picture as SVG. */
export function svgOf(picture: Picture): string {
  return picture.title;
}

/** The picture as a page. */
export function pageOf(picture: Picture): string {
  return picture.title;
}
