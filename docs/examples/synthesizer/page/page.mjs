// Sends keys to an AudioWorklet: a number for a key that goes down, and its
// complement when it goes up. A full queue drops a key, and never waits.
import { SpscQueue, StripedCounter } from "@weft/sync";

const KEYS = "asdfghjk";
const NOTES = [60, 62, 64, 65, 67, 69, 71, 72];
const at = (id) => document.getElementById(id);
const keys = SpscQueue.create({ capacity: 64 });
const blocks = StripedCounter.create(); // that were not silent

at("start").onclick = async () => {
  at("start").disabled = true;
  const context = new AudioContext();
  await context.audioWorklet.addModule(
    new URL("./processor.js", import.meta.url),
  );
  const node = new AudioWorkletNode(context, "synthesizer", {
    outputChannelCount: [1],
    processorOptions: { keys: keys.handle, blocks: blocks.handle },
  });
  node.connect(context.destination);
};

const held = new Set();

function down(note) {
  if (!held.has(note)) keys.tryPushInt(note);
  held.add(note);
}

function up(note) {
  if (held.delete(note)) keys.tryPushInt(~note);
}

NOTES.forEach((note, i) => {
  const button = document.createElement("button");
  button.textContent = KEYS[i].toUpperCase();
  button.onpointerdown = () => down(note);
  button.onpointerup = button.onpointerleave = () => up(note);
  at("keys").append(button);
});
addEventListener("keydown", ({ key }) => {
  const note = NOTES[KEYS.indexOf(key)];
  if (note !== undefined) down(note);
});
addEventListener("keyup", ({ key }) => {
  const note = NOTES[KEYS.indexOf(key)];
  if (note !== undefined) up(note);
});
setInterval(() => {
  const played = Number(blocks.sum());
  at("said").textContent = played === 0 ? "silent" : `${played} blocks played`;
}, 100);
