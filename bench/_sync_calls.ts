/** What the workers of the bench serve. */
export const api = {
  add: (a: number, b: number): number => a + b,
  addLater: async (a: number, b: number): Promise<number> => {
    await undefined;
    return a + b;
  },
  echo: async (value: unknown): Promise<unknown> => {
    await undefined;
    return value;
  },
};

/** Its type. */
export type Api = typeof api;
