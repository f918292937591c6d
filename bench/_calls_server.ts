import { CallRing, type Handle, serve } from "../mod.ts";

self.onmessage = ({ data }: MessageEvent<Handle<"call_ring">>) => {
  serve.blocking(CallRing.from(data), { add: (a: number, b: number) => a + b });
};
