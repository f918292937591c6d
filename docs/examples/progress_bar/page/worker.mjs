// Works in pieces, and looks after each whether it shall stop.
import { Event, Snapshot } from "@weft/sync";

const STEPS = 3e9;
const PIECE = 100_000;
let shared;

globalThis.onmessage = ({ data }) => {
  if (data !== "start") shared = data;
  else compute(shared);
};

function compute(handles) {
  const progress = Snapshot.from(handles.progress);
  const stop = Event.from(handles.stop);
  let sum = 0;
  for (let done = 0; done < STEPS && !stop.isSet; done += PIECE) {
    for (let i = 0; i < PIECE; i++) sum += Math.sqrt(done + i);
    progress.write(Float64Array.of((done + PIECE) / STEPS));
  }
  Event.from(handles.ended).set();
}
