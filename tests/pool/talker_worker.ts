// The worker of talker.ts.
import { servePool } from "../../primitives/pool.ts";
import { hello } from "../_run/workers.ts";
import { talk } from "./talk.ts";

const { data } = await hello<{ blocking: boolean }>();
const functions = {
  talk: (text: string) => {
    console.log(text);
    return null;
  },
};
await servePool({ talk }, functions, data);
console.log("the end");
