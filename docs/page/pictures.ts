/**
 * Takes the pictures of the page that the documents show.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { drive } from "../../tests/_run/browser/driver.ts";
import { ISOLATED, serve } from "./serve.ts";

const file = (name: string) => new URL(name, import.meta.url);

/** Takes pictures of the page that lies in `folder`. */
export async function takePictures(folder: string): Promise<void> {
  const { server, url } = await serve(folder, ISOLATED);
  const page = await drive("chromium", url);
  try {
    await page.until('document.getElementById("rate")?.innerText > "0"');
    await new Promise((resolve) => setTimeout(resolve, 14_000));
    await page.click("#kill");
    const label = 'document.getElementById("kill").innerText';
    await page.until(`${label} === "Recover"`);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await page.click("#kill");
    await new Promise((resolve) => setTimeout(resolve, 6000));
    await page.click("#kill");
    await page.until(`${label} === "Recover"`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    writeFileSync(file("crowd.png"), await page.picture("#crowd"));
    await page.click("#run");
    const shown = 'document.getElementById("steps").style.height !== ""';
    await page.until(shown);
    await page.scheme("dark");
    for (const key of ["Home", "ArrowDown", "ArrowDown"]) await page.press(key);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    writeFileSync(file("tester.png"), await page.picture("#tester"));
  } finally {
    page.close();
    server.close();
    server.closeAllConnections();
  }
}
