import { serve } from "./contest.ts";

await serve();
