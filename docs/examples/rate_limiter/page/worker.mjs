// Sends a request whenever there is a permit.
import { Semaphore } from "@weft/sync";

globalThis.onmessage = ({ data: { permits, sent, number } }) => {
  const semaphore = Semaphore.from(permits);
  for (;;) {
    semaphore.acquire(); // sleeps until there is a permit
    Atomics.add(sent, number, 1); // here the request would be sent
  }
};
