// What a sync worker serves in these tests.
export const add = (a: number, b: number): number => a + b;

export const later = async (text: string): Promise<string> => {
  await new Promise((resolve) => setTimeout(resolve, 2));
  return text;
};

export const echo = (value: unknown): unknown => value;

export async function fail(message: string): Promise<never> {
  await undefined;
  const cause = Object.assign(new Error("no such file"), { code: "ENOENT" });
  throw Object.assign(new RangeError(message, { cause }), { code: "EFAIL" });
}

/** Writes to the console, and to the streams of its process. */
export function say(text: string): void {
  console.log(text);
  console.error(`${text}!`);
}

export const never = (): Promise<void> => new Promise(() => {});

/** Is not called, and fails outside of it. */
export function breakLater(message: string): Promise<void> {
  setTimeout(() => {
    throw new Error(message);
  });
  return new Promise(() => {});
}

export function exit(code: number): void {
  const { process } = globalThis as unknown as {
    process: { exit(code: number): never };
  };
  process.exit(code);
}

export default function twice(text: string): string {
  return text + text;
}

/** Calls `tell` with the numbers below `n`; returns the sum of its results. */
export async function each(
  n: number,
  tell: (i: number) => number | Promise<number>,
): Promise<number> {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += await tell(i);
  return sum;
}

export async function sum(numbers: AsyncIterable<number>): Promise<number> {
  let sum = 0;
  for await (const n of numbers) sum += n;
  return sum;
}
