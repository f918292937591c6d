// The worker of talker.ts.
import {
  servePool,
  type ServePoolOptions,
  type TaskContext,
} from "../../primitives/pool.ts";
import { hello } from "../_run/workers.ts";
import { talk } from "./talk.ts";

const { data } = await hello<ServePoolOptions>();
const functions = {
  talk: (text: string, context: TaskContext) => {
    if (text !== "never") {
      console.log(text);
      return null;
    }
    context.report(context.signal.aborted);
    return new Promise<null>(() => {});
  },
};
await servePool({ talk }, functions, data);
console.log("the end");
