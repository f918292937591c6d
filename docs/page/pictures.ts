/**
 * Takes the pictures of the page that the documents show.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { drive, type Driven } from "../../tests/_run/browser/driver.ts";
import { film } from "./film.ts";
import { ISOLATED, serve } from "./serve.ts";

const file = (name: string) => new URL(name, import.meta.url);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** How long each picture of the film is shown, in ms. */
const FRAME = 700;

/** The owner of the lock dies, the line falls, `recover`, and it goes on. */
async function takeFilm(page: Driven): Promise<Uint8Array> {
  const pictures: Uint8Array[] = [];
  const take = async (count: number) => {
    for (let i = 0; i < count; i++) {
      pictures.push(await page.picture("#crowd", 0.5));
      await pause(FRAME);
    }
  };
  const label = 'document.getElementById("kill").innerText';
  const style = 'document.getElementById("crowd").style';
  // All pictures have one size, also when more is told below.
  await page.value(`void (${style}.height = "860px")`);
  await page.value(`void (${style}.overflow = "hidden")`);
  await take(3);
  await page.click("#kill");
  await page.until(`${label} === "Recover"`);
  await take(5);
  await page.click("#kill");
  await page.until(`${label} !== "Recover"`);
  await take(6);
  await page.value(`void (${style}.height = ${style}.overflow = "")`);
  return film(pictures, FRAME);
}

/** Takes pictures of the page that lies in `folder`. */
export async function takePictures(folder: string): Promise<void> {
  const { server, url } = await serve(folder, ISOLATED);
  const page = await drive("chromium", url);
  try {
    await page.until('document.getElementById("rate")?.innerText > "0"');
    await pause(14_000);
    writeFileSync(file("crowd_film.png"), await takeFilm(page));
    await page.click("#kill");
    const label = 'document.getElementById("kill").innerText';
    await page.until(`${label} === "Recover"`);
    await pause(1500);
    await page.click("#kill");
    await pause(6000);
    await page.click("#kill");
    await page.until(`${label} === "Recover"`);
    await pause(1000);
    writeFileSync(file("crowd.png"), await page.picture("#crowd"));
    await page.click("#run");
    const shown = 'document.getElementById("steps").style.height !== ""';
    await page.until(shown);
    await page.scheme("dark");
    for (const key of ["Home", "ArrowDown", "ArrowDown"]) await page.press(key);
    await pause(1000);
    writeFileSync(file("tester.png"), await page.picture("#tester"));
  } finally {
    page.close();
    server.close();
    server.closeAllConnections();
  }
}
