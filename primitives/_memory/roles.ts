/**
 * Roles that one agent has at a time, such as the producer of a queue that has
 * one. A word names the agent from the first time that it acts.
 *
 * @module
 */

/**
 * Makes agent `id` the only one with a role, if it is not that already.
 *
 * @throws {TypeError} If another agent has the role; nothing was changed.
 */
export function takeRole(
  words: Int32Array<SharedArrayBuffer>,
  index: number,
  id: number,
  role: string,
): true {
  const other = Atomics.compareExchange(words, index, 0, id);
  if (other === 0 || other === id) return true;
  throw taken(role, other);
}

/** The error for an agent whose role agent `other` has. */
export function taken(role: string, other: number): TypeError {
  return new TypeError(
    `This has one ${role}, which is agent ${other}: another agent can take ` +
      `its place after abandon(${other})`,
  );
}

/**
 * Ends the role of agent `id`, if it has it; returns how many roles that was.
 * `left` is what the word says then.
 */
export function leaveRole(
  words: Int32Array<SharedArrayBuffer>,
  index: number,
  id: number,
  left = 0,
): 0 | 1 {
  if (id === 0) return 0;
  return Atomics.compareExchange(words, index, id, left) === id ? 1 : 0;
}
