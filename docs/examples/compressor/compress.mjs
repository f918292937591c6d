// Runs the program of C, as emcc made it, on bytes: see main.c.

/** Returns the compressed bytes, and what the program printed. */
export async function compress(bytes) {
  // Its threads load this module again, so it stays a file of its own.
  const { href } = new URL("./compressor.mjs", import.meta.url);
  const { default: load } = await import(href);
  let said = "";
  const module = await load({
    noInitialRun: true,
    noExitRuntime: true,
    print: (line) => said += line,
    printErr: (line) => said += line,
  });
  module.FS.writeFile("file", bytes); // in memory
  if (module.callMain(["file", "file.lz4"]) !== 0) throw new Error(said);
  return { said, compressed: module.FS.readFile("file.lz4") };
}
