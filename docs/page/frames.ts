/// <reference lib="dom" />
/**
 * How long this page's frames take.
 *
 * @module
 */
import { at, write } from "./dom.ts";

/** Shows the longest frame of the last five seconds. */
export function watchFrames(): void {
  const frames: [at: number, took: number][] = [];
  let last = 0;
  const frame = (now: number) => {
    if (last > 0) frames.push([now, now - last]);
    last = now;
    while (frames.length > 0 && frames[0]![0] < now - 5000) frames.shift();
    const longest = Math.max(0, ...frames.map(([, took]) => took));
    write(at("frame"), `${longest.toFixed(0)} ms`);
    requestAnimationFrame(frame);
  };
  document.addEventListener("visibilitychange", () => last = 0);
  requestAnimationFrame(frame);
}
