// The only agent that touches the file.
import { CallRing, serve } from "@weft/sync";

globalThis.onmessage = async ({ data }) => {
  const folder = await navigator.storage.getDirectory();
  const entry = await folder.getFileHandle("store.json", { create: true });
  const file = await open(entry);
  const bytes = new Uint8Array(file.getSize());
  file.read(bytes, { at: 0 });
  const text = new TextDecoder().decode(bytes);
  const values = new Map(text === "" ? [] : JSON.parse(text));
  serve(CallRing.from(data), {
    get: (key) => values.get(key) ?? null,
    set: (key, value) => {
      values.set(key, value);
      file.truncate(0);
      file.write(new TextEncoder().encode(JSON.stringify([...values])), {
        at: 0,
      });
      file.flush();
    },
    count: () => values.size,
  });
};

/** Opens the file, as soon as the worker of an earlier page has ended. */
async function open(entry) {
  for (;;) {
    try {
      return await entry.createSyncAccessHandle(); // in workers only
    } catch (error) {
      if (error.name !== "NoModificationAllowedError") throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
