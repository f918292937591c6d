// Measures one group in a worker of a page.

/** The message: the address of the group's module, and Node's `process.env`. */
export interface Order {
  readonly module: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

addEventListener("message", async ({ data }: MessageEvent<Order>) => {
  try {
    Object.assign(globalThis, { env: data.env });
    const { rows } = await import(data.module);
    postMessage({ rows: await rows() });
  } catch (error) {
    postMessage({ failed: String((error as Error).stack ?? error) });
  }
});
