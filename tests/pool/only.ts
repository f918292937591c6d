// A module whose default export is the one task of a pool.
export default ({ a, b }: { a: number; b: number }): number => a + b;
