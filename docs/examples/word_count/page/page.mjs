// Shares out the lines, and draws the words that came most often so far.
import { codec, HashMap, WorkCounter } from "@weft/sync";

const WORKERS = 3;
const SHOWN = 8;
const CODECS = { key: codec.text, value: codec.i32, keySize: 40 };
const at = (id) => document.getElementById(id);

at("count").onclick = async () => {
  at("count").disabled = true;
  const lines = at("text").value.split("\n");
  const words = new Set(at("text").value.toLowerCase().split(/\P{L}+/u));
  const counts = HashMap.create({ ...CODECS, capacity: words.size + 1 });
  const work = WorkCounter.create(lines.length);
  const workers = Array.from({ length: WORKERS }, () => {
    const worker = new Worker(new URL("./worker.js", import.meta.url), {
      type: "module",
    });
    worker.postMessage({ lines, counts: counts.handle, work: work.handle });
    return worker;
  });
  const timer = setInterval(draw, 50, counts);
  await work.waitAsync();
  clearInterval(timer);
  draw(counts);
  for (const worker of workers) worker.terminate();
  at("said").textContent = `${counts.size} different words`;
  at("count").disabled = false;
};

function draw(counts) {
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  at("words").replaceChildren(...most.map((cells) => {
    const row = document.createElement("tr");
    for (const cell of cells) row.insertCell().textContent = cell;
    return row;
  }));
}
