import type { Size } from "../_run/kinds.ts";

/** What a bundle of it may weigh. */
export const size: Size = { name: "select", most: 6011 };
