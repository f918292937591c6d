// Calls the methods of a worker that owns a file. The page only awaits.
import { CallRing, connect } from "@weft/sync";

const at = (id) => document.getElementById(id);
const ring = CallRing.create({ slots: 16, request: 256, reply: 256 });
const worker = new Worker(new URL("./worker.js", import.meta.url), {
  type: "module",
});
worker.postMessage(ring.handle);
const store = connect(ring);

at("set").onclick = async () => {
  await store.set(at("key").value, at("value").value);
  at("said").textContent = `${await store.count()} in the file`;
};

at("get").onclick = async () => {
  const value = await store.get(at("key").value);
  at("said").textContent = value === null ? "not set" : `it is ${value}`;
};
