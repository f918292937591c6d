// What the pool can do: the page and the workers import it.
import { codec, task } from "@weft/sync/pool";

export const tasks = {
  hash: task({ request: codec.binary, reply: codec.binary, idempotent: true }),
};
