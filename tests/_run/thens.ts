/**
 * Counts how often promises are told who waits for them: each time leaves
 * something at a promise until it settles.
 *
 * @module
 */

/**
 * Begins to count calls of `then`. The function that it returns ends that, and
 * returns the most calls at one promise.
 */
export function countThens(): () => number {
  const counts = new WeakMap<object, number>();
  const { then } = Promise.prototype;
  let most = 0;
  const counting = function (
    this: Promise<unknown>,
    ...functions: Parameters<typeof then>
  ) {
    const count = (counts.get(this) ?? 0) + 1;
    counts.set(this, count);
    most = Math.max(most, count);
    return Reflect.apply(then, this, functions);
  };
  Object.defineProperty(Promise.prototype, "then", { value: counting });
  return () => {
    Object.defineProperty(Promise.prototype, "then", { value: then });
    return most;
  };
}
