import { MpmcQueue } from "@weft/sync";

self.onmessage = ({ data }: MessageEvent) => {
  const numbers = MpmcQueue.from(data);
  for (let n = 1; n <= 100; n++) numbers.pushInt(n);
  numbers.close();
};
