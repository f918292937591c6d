import type { Size } from "../_run/kinds.ts";

/** What a bundle of it may weigh. */
export const size: Size = { name: "serve, connect", most: 37832 };
