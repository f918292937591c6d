// The main thread of the program of C: it may block here.
import { compress } from "../compress.mjs";

globalThis.onmessage = async ({ data }) => {
  const { said, compressed } = await compress(data);
  postMessage({ said, compressed });
};
